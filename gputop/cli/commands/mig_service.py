"""gputop mig service: a systemd unit, since instances do not outlive a reboot."""

import argparse
import os
import sys
from typing import Final

from gputop.cli.args.exits import BAD_INPUT, OK, fail
from gputop.core.text.text import clean

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


def service(options: argparse.Namespace) -> int:
    """Print the unit; the way to install it is in its comments."""
    file = os.path.abspath(options.file)
    for path in (file, _program().split(" -m ")[0]):
        if not all(sign.isalnum() or sign in _PLAIN for sign in path):
            fail(BAD_INPUT, f"{clean(path)}: a systemd unit wants a path without blanks and signs that a shell knows")
    words = {"file": file, "program": _program(), "directory": os.path.dirname(file)}
    print(_HOW.format_map(words) + _UNIT.format_map(words), end="")
    if os.path.exists(_MANAGER):
        told = "! nvidia-mig-manager.service is enabled and does the same at boot: disable one of the two"
        print(told, file=sys.stderr)
    return OK


def _program() -> str:
    """Return what starts this gputop, wherever from."""
    called = os.path.abspath(sys.argv[0])
    return called if os.path.basename(called) == "gputop" else f"{sys.executable} -m gputop"
