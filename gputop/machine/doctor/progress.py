"""Reader of the folders in which users report the progress of their jobs: whose they are."""

import re
import stat
from collections.abc import Mapping
from itertools import islice
from typing import Final

from gputop.core.doctor.facts import ProgressFolder
from gputop.core.text.text import clean
from gputop.machine.files.walk import user_name
from gputop.machine.proc.root import Files, Root
from gputop.progress_writer import FOLDER_VARIABLE

_NAME: Final = re.compile(r"gputop-([0-9]{1,10})")
_MOST: Final = 256
_OTHERS_WRITE: Final = 0o022


def progress_folders(root: Root, environment: Mapping[str, str], own: int) -> tuple[ProgressFolder, ...]:
    """Return the folders of users, and the configured one. ``own``: the uid of gputop."""
    files = Files(root)
    found = [(f"tmp/{name}", int(match[1])) for name in files.names("tmp") if (match := _NAME.fullmatch(name))]
    found += [(f"run/user/{name}/gputop", int(name)) for name in files.names("run/user") if name.isdecimal()]
    chosen = environment.get(FOLDER_VARIABLE, "")
    if chosen.startswith("/"):
        found.append((chosen.lstrip("/"), own))
    return tuple(folder for path, uid in islice(found, _MOST) if (folder := _folder(root, path, uid)))


def _folder(root: Root, path: str, uid: int) -> ProgressFolder | None:
    """Return a folder; None if it does not exist or cannot be looked at."""
    try:
        mode, owner = root.mode(path)
    except OSError:
        return None
    return ProgressFolder(
        path=f"/{clean(path)}",
        user=user_name(uid),
        owner=user_name(owner),
        is_theirs=owner in {0, uid},
        is_folder=stat.S_ISDIR(mode),
        is_open=bool(mode & _OTHERS_WRITE),
    )
