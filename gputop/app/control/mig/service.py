"""MIG service: a systemd unit, because MIG instances do not survive a reboot."""

import os
from typing import Final

from gputop.app.control.mig.requested import MigRequest
from gputop.app.errors import OK, BadRequestError
from gputop.app.own_command import own_command
from gputop.app.terminal import Person
from gputop.core.text.text import excerpt

_MANAGER: Final = "/etc/systemd/system/multi-user.target.wants/nvidia-mig-manager.service"
_PLAIN: Final = "/._-+@=:,"
_UNIT: Final = """\
[Unit]
Description=Restore the MIG layout of the GPUs
ConditionPathExists={file}
After=nvidia-persistenced.service nvidia-fabricmanager.service
Before=nvidia-dcgm.service dcgm-exporter.service docker.service containerd.service kubelet.service slurmd.service

[Service]
Type=oneshot
RemainAfterExit=yes
# Again where the driver or the fabric is not ready yet; older systemd knows no Restart= for oneshot.
ExecStart=/bin/sh -c 'for n in 1 2 3 4 5 6; do {program} mig restore {file} --yes && exit 0; sleep 10; done; exit 1'

[Install]
WantedBy=multi-user.target
"""
_HOW: Final = """\
# Save this as /etc/systemd/system/gputop-mig.service, keep the layout as it is now, and enable it:
#   sudo mkdir -p {directory} && sudo {program} mig checkpoint -o {file}
#   {program} mig service {file} | sudo tee /etc/systemd/system/gputop-mig.service
#   sudo systemctl daemon-reload && sudo systemctl enable gputop-mig.service
"""


def service(request: MigRequest, person: Person) -> int:
    """Print a unit that restores the checkpoint; its comments say how to install it."""
    file = os.path.abspath(request.checkpoint or "")
    for each in (file, own_command().split(" -m ")[0]):
        if not all(sign.isalnum() or sign in _PLAIN for sign in each):
            raise BadRequestError(f"{excerpt(each)}: a systemd unit needs a path without spaces and shell characters")
    words = {"file": file, "program": own_command(), "directory": os.path.dirname(file)}
    person.show((_HOW.format_map(words) + _UNIT.format_map(words)).splitlines())
    if os.path.exists(_MANAGER):
        person.warn("! nvidia-mig-manager.service is enabled and does the same at boot: disable one of the two")
    return OK
