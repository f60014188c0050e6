"""The copy of gputop for a host that lacks it: its own files and the libraries that a sampler needs, as one archive."""

import io
import os
import platform
import sys
import tarfile
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

PACKAGES: Final = ("gputop", "msgspec", "pynvml", "psutil", *(("tomli",) if sys.version_info < (3, 11) else ()))
_LEFT_OUT: Final = ("gputop/ui", "psutil/tests")
_ENDS: Final = (".py", ".so")


def fitting() -> str:
    """Return the Python and the machine type that the compiled parts fit: ``3.11 x86_64``."""
    return f"{sys.version_info[0]}.{sys.version_info[1]} {platform.machine()}"


def packed() -> bytes:
    """Return the archive. Its names are relative to a folder for packages."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as archive:
        for name in PACKAGES:
            for path, short in _files(name):
                archive.add(path, short, recursive=False, filter=_plain)
    return out.getvalue()


def _files(name: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each file of a package or module, and its name in the archive."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return
    if not spec.submodule_search_locations:
        yield spec.origin, os.path.basename(spec.origin)
        return
    top = os.path.dirname(spec.origin)
    for folder, folders, files in os.walk(top):
        inner = os.path.join(name, os.path.relpath(folder, top)).removesuffix("/.")
        folders[:] = [each for each in sorted(folders) if f"{inner}/{each}" not in _LEFT_OUT]
        yield from ((f"{folder}/{each}", f"{inner}/{each}") for each in sorted(files) if each.endswith(_ENDS))


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave the owner and the rights out: they are those of the user there."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o600
    return entry
