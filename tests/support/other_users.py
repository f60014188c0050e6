"""Files, links and directories of another user. Only root can give them away."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import pytest

import gputop

OTHER: Final = 1001
needs_root: Final = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to another user")


def give(path: Path) -> Path:
    """Give a file, link or directory to the other user; return it."""
    os.chown(path, OTHER, OTHER, follow_symlinks=False)
    return path


def directory_of_other(path: Path) -> Path:
    """Create a directory of the other user."""
    path.mkdir()
    return give(path)


def link_of_other(path: Path, target: Path) -> Path:
    """Create a link of the other user."""
    path.symlink_to(target)
    return give(path)


def python_of_other() -> tuple[str, dict[str, str]]:
    """Return a Python that the other user can run, and the environment in which it finds gputop; skip without one."""
    places = [str(Path(module.__file__ or "").parents[1]) for module in (gputop, msgspec)]
    for python in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        path = {"PYTHONPATH": os.pathsep.join(places)}
        with suppress(OSError):
            done = subprocess.run(
                [python, "-c", "import gputop, msgspec"], check=False, capture_output=True, timeout=60,
                user=OTHER, group=OTHER, extra_groups=[], env=os.environ | path,
            )  # fmt: skip
            if done.returncode == 0:
                return python, path
    pytest.skip("the other user can run no Python that has gputop")


def mode(path: Path) -> int:
    """Return the rights of a file."""
    return path.stat().st_mode & 0o777
