"""Copying: the files of what the user copies on the screen."""

import os

from gputop.machine.files.places import state_directory
from gputop.machine.files.private import replace_file


def keep_copy(name: str, content: bytes) -> str:
    """Write a file that only this user can read, in the directory of copies; return its path. Raises OSError."""
    path = f"{state_directory(os.environ)}/copies/{name}"
    replace_file(path, content)
    return path
