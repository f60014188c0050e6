"""Files, links and directories of another user. Only root can give them away."""

import os
from pathlib import Path
from typing import Final

import pytest

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


def mode(path: Path) -> int:
    """Return the rights of a file."""
    return path.stat().st_mode & 0o777
