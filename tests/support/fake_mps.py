"""A fake nvidia-cuda-mps-control, a server and its clients: real processes, and the documented words on a real pipe."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from children import Child, settle, start_ticks

from gputop.core.insight.member import Member
from gputop.machine.mps.daemon import PROGRAM, MpsDaemon, daemon_of
from gputop.machine.proc.procfs import RealProc

FAULT: Final = "FAULT"
_HEADING: Final = "PID       ID    SERVER   DEVICE             NAMESPACE      COMMAND"
_CONTROL: Final = """#!/bin/sh
read -r command first second || exit 1
cd "$CUDA_MPS_PIPE_DIRECTORY" || exit 1
kill -0 "$second" 2> /dev/null && alive=alive
echo "$(id -u) $command $first $second $alive" >> asked
[ -e "$command.script" ] && { . "./$command.script"; exit; }
case "$command" in
    get_server_list) cat servers ;;
    get_server_status) cat state ;;
    get_client_list) cat clients ;;
    ps) cat ps ;;
    terminate_client) grep -vx "$second" clients > left; cat left > clients ;;
    *) echo "Unknown command $command"; exit 1 ;;
esac
"""
_PROCESS: Final = """
import signal, sys
name, *handled = sys.argv[1:]
open("/proc/self/comm", "w").write(name)
for one in handled:
    signal.signal(getattr(signal, one), lambda *_: None)
print("ready", flush=True)
while sys.stdin.readline():
    pass
"""


class FakeMps:
    """A daemon with one server. ``place``: the directory of its pipes."""

    def __init__(self, place: Path, server: Child, clients: list[Child]) -> None:
        self.place = place
        self.server = server
        self.clients = clients
        self.environment = {"PATH": f"{place}/bin:{os.environ['PATH']}"}

    @property
    def members(self) -> list[Member]:
        """The clients to explain."""
        return [Member(pid=each.pid, start_ticks=start_ticks(each.pid)) for each in self.clients]

    def opened(self, pid: int, until_s: float = float("inf")) -> MpsDaemon | None:
        """Return the daemon that a process uses, as gputop finds it."""
        return daemon_of(RealProc(), pid, until_s, self.environment)

    def answers(self, command: str, script: str) -> None:
        """Run a script in the place of the answer to a command."""
        (self.place / f"{command}.script").write_text(script)

    def asked(self) -> list[str]:
        """Return the commands so far: uid, words, and ``alive`` if the second pid ran at that time."""
        path = self.place / "asked"
        return path.read_text().splitlines() if path.exists() else []


@contextmanager
def fake_mps(place: Path, *handled: str, clients: int = 2, name: str = "nvidia-cuda-mps") -> Iterator[FakeMps]:
    """Start a server and its clients. ``handled``: signals that a client handles; ``name``: of the server."""
    (place / "bin").mkdir()
    program = place / "bin" / PROGRAM
    program.write_text(_CONTROL)
    program.chmod(0o755)
    (place / "control").touch()
    with ExitStack() as stack:
        server = stack.enter_context(_process(place, name))
        children = [stack.enter_context(_process(place, "python", *handled)) for _ in range(clients)]
        settle(server.pid, *(each.pid for each in children))
        (place / "servers").write_text(f"{server.pid}\n")
        (place / "state").write_text("ACTIVE\n")
        (place / "clients").write_text("".join(f"{each.pid}\n" for each in children))
        rows = [f"{each.pid} 0 {server.pid} GPU-cb1213a3-d6a4 4026531836 ./nbody" for each in children]
        (place / "ps").write_text(
            "\n".join(["PID       ID    SERVER   DEVICE             NAMESPACE      COMMAND", *rows])
        )
        yield FakeMps(place, server, children)


@contextmanager
def _process(place: Path, name: str, *handled: str) -> Iterator[Child]:
    command = [sys.executable, "-c", _PROCESS, name, *handled]
    environment = dict(os.environ) | {"CUDA_MPS_PIPE_DIRECTORY": str(place)}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            held = Child(process)
            assert held.line() == "ready"
            yield held
        finally:
            process.kill()
