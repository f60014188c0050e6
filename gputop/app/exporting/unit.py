"""The systemd unit of the exporter: as few rights as reading all GPUs and processes needs."""

import os
import shlex
from collections.abc import Sequence
from typing import Final

from gputop.app.own_command import own_command

_UNIT: Final = """\
# gputop export --service > /etc/systemd/system/gputop-export.service
# systemctl daemon-reload && systemctl enable --now gputop-export
[Unit]
Description=gputop exporter: GPUs, jobs and findings for Prometheus
Documentation=man:gputop(1)
After=network.target nvidia-persistenced.service

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=15
# 2: the options or files are wrong
RestartPreventExitStatus=2
# Root sees the processes of all users. These rights remain: to read their /proc, and no other.
User=root
CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH CAP_SYS_ADMIN
StateDirectory=gputop-export
StateDirectoryMode=0700
Environment=XDG_STATE_HOME=/var/lib/gputop-export
NoNewPrivileges=yes
ProtectSystem=strict
{places}ProtectHome=read-only
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
SystemCallArchitectures=native
SystemCallFilter=@system-service
UMask={umask}
MemoryMax=512M
TasksMax=256
OOMScoreAdjust=-500

[Install]
WantedBy=multi-user.target
"""


def unit(arguments: Sequence[str], writes: str | None) -> str:
    """Return the unit that runs this gputop with the same arguments. ``writes``: a folder to which it must write."""
    words = [*own_command().split(), *(word for word in arguments if word != "--service")]
    places = f"ReadWritePaths={_quoted(os.path.abspath(writes))}\n" if writes else ""
    umask = "0022" if writes else "0077"  # node_exporter reads the file, as another user
    return _UNIT.format(command=" ".join(map(_quoted, words)), places=places, umask=umask)


def _quoted(word: str) -> str:
    """Return a word as systemd reads it: percent and dollar signs have a meaning there."""
    plain = word.replace("%", "%%").replace("$", "$$")
    return plain if plain == shlex.quote(plain) else '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
