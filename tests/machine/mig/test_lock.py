"""The lock of a GPU, among users that want to keep root from changing it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from other_users import OTHER, directory_of_other, needs_root

from gputop.machine.mig.lock import LockedError, named_lock

SQUAT = """
import os, socket, sys
os.setgid({uid}); os.setuid({uid})
for name in ("mig-GPU-1", "probe-GPU-1"):
    held = socket.socket(socket.AF_UNIX); held.bind("\\0gputop-" + name); held.listen()
    globals()[name] = held
print(flush=True)
sys.stdin.read()
"""
HOLD = """
import sys
from gputop.machine.mig.lock import named_lock
with named_lock("mig-GPU-1", sys.argv[1]):
    print(flush=True)
    sys.stdin.read()
"""
AS_OTHER = """
import fcntl, os, pwd, sys
from gputop.machine.mig.lock import LockedError, named_lock
os.setgid({uid}); os.setuid({uid})
os.environ["XDG_STATE_HOME"] = sys.argv[2]
try:
    with named_lock("mig-GPU-1", sys.argv[1]):
        print("taken")
except LockedError as locked:
    print(locked.pid)
"""


@contextmanager
def running(code: str, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=pipe, stdout=pipe) as child:
        try:
            assert child.stdout
            assert child.stdout.readline() == b"\n"
            yield child
        finally:
            child.kill()


@needs_root
@pytest.mark.parametrize("name", ["mig-GPU-1", "probe-GPU-1"])
def test_another_user_cannot_keep_root_from_a_gpu(tmp_path: Path, name: str) -> None:
    """A user without rights bound the name of the lock, and `mig apply --force` of root was refused."""
    with running(SQUAT.format(uid=OTHER)), named_lock(name, f"{tmp_path}/run"):
        pass


def test_a_second_gputop_is_refused_with_the_pid_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", f"{tmp_path}/state")
    roots = f"{tmp_path}/run"
    with running(HOLD, roots) as first:
        with pytest.raises(LockedError) as refused, named_lock("mig-GPU-1", roots):
            pass
        with named_lock("mig-GPU-2", roots):
            pass
    with named_lock("mig-GPU-1", roots):
        pass

    assert refused.value.pid == first.pid


@needs_root
def test_another_user_waits_for_root_and_not_the_other_way_round() -> None:
    with TemporaryDirectory() as folder:  # pytest's are closed to other users
        Path(folder).chmod(0o755)
        roots, state = f"{folder}/run", directory_of_other(Path(folder) / "state")
        command = [sys.executable, "-c", AS_OTHER.format(uid=OTHER), roots, str(state)]
        with running(HOLD, roots) as holder:
            during = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        after = subprocess.run(command, capture_output=True, check=True, text=True).stdout

    assert (during, after) == (f"{holder.pid}\n", "taken\n")


@needs_root
def test_the_files_of_root_cannot_be_locked_by_others(tmp_path: Path) -> None:
    with named_lock("mig-GPU-1", f"{tmp_path}/run"):
        pass

    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "run" / "mig-GPU-1.lock").stat().st_mode & 0o777 == 0o600
