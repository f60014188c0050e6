"""A host that a real sshd serves on loopback: keys, configuration, home and gputop of its own, for the present user."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from gputop.wire.ssh.command import Remote

PATIENCE_S: Final = 30.0  # only ever waited for when a test fails
NAME: Final = "box"
SSHD: Final = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
SSH: Final = shutil.which("ssh")
_SERVER: Final = """
Port {port}
ListenAddress 127.0.0.1
HostKey {place}/host
PidFile {place}/sshd.pid
AuthorizedKeysFile {place}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 100
SetEnv PATH={place}/bin:/usr/bin:/bin HOME={place}/home XDG_STATE_HOME={place}/state {variables}
"""
_CLIENT: Final = """
Host dead
  HostName 127.0.0.1
  Port 1
Host {name}*
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {place}/user
  IdentitiesOnly yes
  UserKnownHostsFile {place}/known
  GlobalKnownHostsFile /dev/null
"""


class SshHost:
    """A host called ``box``, ``box1`` and so on; nothing answers at ``dead``.

    ``place``: its folder; ``remote``: the way to it.
    """

    def __init__(self, place: Path, port: int) -> None:
        self.place = place
        self.remote = Remote(ssh=str(place / "client" / "ssh"), host=NAME)
        self.port = port

    @property
    def environment(self) -> dict[str, str]:
        """Return variables with which a gputop here uses the ssh that knows the host, and files of its own."""
        own = {f"XDG_{name}_HOME": f"{self.place}/client/{name.lower()}" for name in ("STATE", "CONFIG")}
        return os.environ | own | {"PATH": f"{self.place}/client:{os.environ['PATH']}"}

    @property
    def audit(self) -> str:
        """Return the audit log of the host."""
        return (self.place / "state" / "gputop" / "audit.jsonl").read_text()

    def install(self, *script: str) -> None:
        """Install a program as the gputop of the host: lines of Python, or by default gputop itself."""
        program = self.place / "bin" / "gputop"
        text = f'#!/bin/sh\necho $$ >>{self.place}/pids\nexec {sys.executable} -m gputop "$@"\n'
        program.write_text("\n".join((f"#!{sys.executable}", *script, "")) if script else text)
        program.chmod(0o700)

    def offer_python(self) -> None:
        """Put the Python of the tests on the PATH of the host."""
        name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        (self.place / "bin" / name).symlink_to(os.path.realpath(sys.executable))

    def pretend_python(self, kind: str, *, status: int = 0) -> None:
        """Let all Pythons of the host be the one of the tests, but call themselves ``3.10 aarch64``."""
        real = os.path.realpath(sys.executable)
        answer = f'case "$3" in *Py_GIL_DISABLED*) echo "{kind}"; exit {status};; esac'
        for name in ("python3", *(f"python3.{minor}" for minor in range(8, 20))):
            program = self.place / "bin" / name
            program.write_text(f'#!/bin/sh\n{answer}\nexec {real} "$@"\n')
            program.chmod(0o700)

    @property
    def pids(self) -> list[int]:
        """Return the pid of each gputop that was started on the host."""
        path = self.place / "pids"
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []

    def until_ended(self, pid: int) -> None:
        """Wait until a process of the host has ended."""
        until = time.monotonic() + PATIENCE_S
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < until, f"{pid} still runs"
            time.sleep(0.02)

    def protect_key(self, passphrase: str) -> None:
        """Encrypt the key of the user."""
        words = ["ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase, "-f", str(self.place / "user")]
        subprocess.run(words, check=True)

    def uninstall(self) -> None:
        """Remove gputop from the host."""
        (self.place / "bin" / "gputop").unlink()

    def greet_logins_with(self, text: str) -> None:
        """Print a text, of printf, from the start file of every shell."""
        (self.place / "home" / ".bashrc").write_text(f"printf '{text}'\n")

    def lead_through(self, port: int) -> None:
        """Let ssh connect to another port, which leads to the host."""
        for name, form in (("config", "Port {}\n"), ("known", "[127.0.0.1]:{} ")):
            path = self.place / name
            path.write_text(path.read_text().replace(form.format(self.port), form.format(port)))

    def change_host_key(self) -> None:
        """Let the known host key be another one."""
        _key(self.place / "other")
        other = (self.place / "other.pub").read_text().split()[1]
        (self.place / "known").write_text(f"[127.0.0.1]:{self.port} ssh-ed25519 {other}\n")

    def forget_host_key(self) -> None:
        """Let the host key be unknown."""
        (self.place / "known").write_text("")

    def refuse_key(self) -> None:
        """Accept the key of the user no more."""
        (self.place / "authorized").write_text("")


@contextmanager
def ssh_host(place: Path, variables: Mapping[str, str] = {}) -> Iterator[SshHost]:
    """Run a host; skip the test where there is no sshd, or it does not let the present user in."""
    if SSHD is None or SSH is None:
        pytest.skip("no sshd here: apt-get install openssh-server")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # as at boot
    host = _laid_out(place, variables)
    with subprocess.Popen([SSHD, "-D", "-e", "-f", str(place / "sshd_config")], stderr=subprocess.PIPE) as server:
        try:
            _wait_for(host, server)
            yield host
        finally:
            server.terminate()


def _laid_out(place: Path, variables: Mapping[str, str]) -> SshHost:
    for folder in ("bin", "client", "home", "state"):
        (place / folder).mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("host", "user"):
        _key(place / name)
    (place / "authorized").write_text((place / "user.pub").read_text())
    key = (place / "host.pub").read_text().split()[1]
    (place / "known").write_text(f"[127.0.0.1]:{port} ssh-ed25519 {key}\n")
    said = " ".join(f"{name}={value}" for name, value in variables.items())
    (place / "sshd_config").write_text(_SERVER.format(port=port, place=place, variables=said))
    user = pwd.getpwuid(os.geteuid()).pw_name
    (place / "config").write_text(_CLIENT.format(name=NAME, port=port, place=place, user=user))
    ssh = place / "client" / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {SSH} -F {place}/config "$@"\n')
    ssh.chmod(0o700)
    host = SshHost(place, port)
    host.install()
    return host


def _wait_for(host: SshHost, server: "subprocess.Popen[bytes]") -> None:
    """Wait until the host answers; skip the test if it never does."""
    until = time.monotonic() + PATIENCE_S
    while True:
        tried = subprocess.run(
            [host.remote.ssh, "-o", "BatchMode=yes", NAME, "true"], capture_output=True, text=True, check=False
        )
        if tried.returncode == 0:
            return
        if server.poll() is not None or time.monotonic() > until or "Connection refused" not in tried.stderr:
            pytest.skip(f"the sshd of this test lets nobody in: {tried.stderr.strip()[-300:]}")
        time.sleep(0.05)


def _key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
