"""The copy of gputop for a host that lacks it: all but the screen, with its libraries, as one archive."""

import io
import os
import platform
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Final

from gputop.app.remote.wheels import fetch
from gputop.core.protocol.python_kind import PythonKind

_PURE: Final = ("gputop", "pynvml", "tomlkit", "yaml")
_COMPILED: Final = {"msgspec": "msgspec", "psutil": "psutil", "re2": "google-re2"}  # packages by name of import
_BEFORE_3_11: Final = {"tomli": "tomli"}
_LEFT_OUT: Final = ("gputop/ui", "psutil/tests")


def own_kind() -> PythonKind:
    """Return the Python that the compiled parts here fit."""
    return PythonKind(python=f"{sys.version_info[0]}.{sys.version_info[1]}", machine=platform.machine())


def packed(kind: PythonKind) -> bytes:
    """Return the archive for a Python; its names are relative to a folder for packages.

    Compiled parts that are not here come from the user's package index. Raises FetchError without them.
    """
    more = _COMPILED | (_BEFORE_3_11 if kind.minor < 11 else {})
    if kind == own_kind():
        return _archive([*_here(_PURE, (".py",)), *_here(more, (".py", ".so"))])
    with tempfile.TemporaryDirectory(prefix="gputop-") as folder:
        fetch(tuple(more.values()), kind, folder)
        fetched = (each for name in more for each in _under(f"{folder}/{name}", name, (".py", ".so")))
        return _archive([*_here(_PURE, (".py",)), *fetched])


def _archive(files: list[tuple[str, str]]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as archive:
        for path, short in files:
            archive.add(path, short, recursive=False, filter=_plain)
    return out.getvalue()


def _here(names: Iterable[str], ends: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the path of each file of installed packages and modules, and its name in the archive."""
    for name in names:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        if spec.submodule_search_locations:
            yield from _under(os.path.dirname(spec.origin), name, ends)
        else:
            yield spec.origin, os.path.basename(spec.origin)


def _under(top: str, name: str, ends: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for folder, folders, files in os.walk(top):
        inner = os.path.join(name, os.path.relpath(folder, top)).removesuffix("/.")
        folders[:] = [each for each in sorted(folders) if f"{inner}/{each}" not in _LEFT_OUT]
        yield from ((f"{folder}/{each}", f"{inner}/{each}") for each in sorted(files) if each.endswith(ends))


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave the owner and the rights out: they are those of the user there."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o600
    return entry
