"""Compiled libraries for another Python or machine type, from the user's package index, by pip or uv."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

from gputop.core.protocol.python_kind import PythonKind
from gputop.core.text.text import clean, excerpt
from gputop.machine.bounded_run import run_bounded
from gputop.machine.files.places import home_directory, is_of_another_user
from gputop.machine.files.walk import program

_LIMIT_S: Final = 300.0
_MOST_BYTES: Final = 1 << 20
_MOST_LETTERS: Final = 300
_TAGS: Final = ("manylinux_2_28", "manylinux2014", "manylinux2010")  # the glibc of RHEL 8 and Ubuntu 20.04 has all
_SETTINGS: Final = ("PIP_", "UV_", "XDG_", "VIRTUAL_ENV", "CONDA_", "NETRC")  # starts of names: they choose the index


class FetchError(Exception):
    """The libraries cannot be fetched; the text says why."""


def fetch(packages: Sequence[str], kind: PythonKind, folder: str) -> None:
    """Put packages for a Python into a folder, in the versions that are installed here. Run no code of theirs."""
    words = [*_installer(kind), "--target", folder, "--no-deps", "--only-binary", ":all:", *map(_pinned, packages)]
    try:
        ran = run_bounded(words, _LIMIT_S, _MOST_BYTES, _environment(os.environ))
    except OSError as error:
        raise FetchError(f"{words[0]} cannot be started: {error.strerror}") from None
    if ran.status != 0:
        last = ran.err.decode(errors="replace").strip().rpartition("\n")[2]
        raise FetchError(f"it {ran.excess}" if ran.excess else excerpt(clean(last), _MOST_LETTERS))


def _installer(kind: PythonKind) -> list[str]:
    """Return the words that install for a Python that is not here."""
    if find_spec("pip") is not None:
        own = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        platforms = [word for tag in _TAGS for word in ("--platform", f"{tag}_{kind.machine}")]
        return [*own, "--no-compile", "--implementation", "cp", "--python-version", kind.python, *platforms]
    uv = program("uv", os.environ)
    if uv is None:
        raise FetchError("there is neither pip nor uv here")
    platform = f"{kind.machine}-{_TAGS[0]}"
    own = [uv, "--directory", "/", "pip", "install", "--python", sys.executable]  # not those of the working directory
    return [*own, "--quiet", "--python-version", kind.python, "--python-platform", platform]


def _environment(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables without what another user may have set: their index could give root any library."""
    home = home_directory(variables)
    if not is_of_another_user(variables) and variables.get("HOME", home) == home:
        return variables
    return {name: value for name, value in variables.items() if not name.startswith(_SETTINGS)} | {"HOME": home}


def _pinned(package: str) -> str:
    try:
        return f"{package}=={version(package)}"
    except PackageNotFoundError:  # such as tomli, which newer Pythons do without
        return package
