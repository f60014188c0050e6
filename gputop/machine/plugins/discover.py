"""Discovery of installed plugins: entry points of the group `gputop.plugins`. A broken plugin breaks nothing else.

The files of the packages are parsed here: `importlib.metadata` takes 40 ms to import, this takes one. As root, a plugin
is loaded only if root alone can write to its directories.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from msgspec import Struct

from gputop.core import table_rows as plugged

GROUP: Final = "gputop.plugins"
_SUFFIX: Final = ".dist-info"
_HEADER: Final = b"[gputop.plugins]"
_MOST_BYTES: Final = 65_536
_IMPORT_S: Final = 30.0  # from a slow file system
_OWN: Final = os.path.dirname(__file__)


class EntryPoint(Struct, frozen=True, kw_only=True):
    """A line of an installed package. ``value``: module and attribute, ``package:PLUGIN``; ``place``: its folder."""

    name: str
    value: str
    package: str
    version: str
    place: str


class Found(Struct, frozen=True, kw_only=True):
    """A plugin: the rows that it adds, by table, or why it was rejected."""

    entry: EntryPoint
    adds: dict[str, tuple[str, ...]] = {}
    rejected: str = ""


def plug_in(paths: Iterable[str], patience_s: float = _IMPORT_S) -> tuple[Found, ...]:
    """Load all plugins and add their rows to the tables, before the tables are first imported. Never raises."""
    loaded = [(entry, *_loaded(entry, patience_s)) for entry in entry_points(paths)]
    return tuple(_plugged(entry, plugin, reason) for entry, plugin, reason in loaded)


def entry_points(paths: Iterable[str]) -> Iterator[EntryPoint]:
    """Return the entry points of the group, each package's once: the first on the path counts."""
    seen = set()
    for path in paths:
        if not os.path.isabs(path):
            continue  # it depends on the working directory
        for name in _names(path):
            package, dash, rest = name.removesuffix(_SUFFIX).partition("-")
            if dash and package.lower() not in seen:
                lines = list(_lines(f"{path}/{name}/entry_points.txt"))
                if lines:
                    seen.add(package.lower())
                for plugin, value in lines:
                    yield EntryPoint(name=plugin, value=value, package=package, version=rest, place=path)


def _names(path: str) -> list[str]:
    try:
        return sorted([name for name in os.listdir(path) if name.endswith(_SUFFIX)])
    except OSError:
        return []  # an archive, or missing


def _lines(path: str) -> Iterator[tuple[str, str]]:
    """Return name and value of each line of the group."""
    try:
        with open(path, "rb", buffering=0) as file:
            content = file.read(_MOST_BYTES)
    except OSError:
        return
    if _HEADER not in content:
        return
    section = ""
    for line in content.decode("utf-8", "replace").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("["):
            section = text.strip("[] ")
        elif section == GROUP and "=" in text:
            name, _, value = text.partition("=")
            yield name.strip(), value.partition("[")[0].strip()


def _loaded(entry: EntryPoint, patience_s: float) -> tuple[Any, str]:
    """Return the plugin, or the reason why it cannot be used."""
    from gputop.core.plugins.api import guarded, wrong_with  # noqa: PLC0415 - only if plugins are installed
    from gputop.machine.plugins.bounds import LateError, bounded, within  # noqa: PLC0415 - likewise
    from gputop.machine.plugins.failures import Failures  # noqa: PLC0415 - likewise

    module, _, attributes = entry.value.partition(":")
    reason = _danger(entry.place, module)
    if reason:
        return None, reason
    stdout, sys.stdout = sys.stdout, sys.stderr  # output of a plugin's import must not get into JSON
    try:
        value: Any = within(patience_s, lambda: _imported(module, attributes))
        reason = wrong_with(value)
        return (None, reason) if reason else (bounded(guarded(value), Failures(os.environ)), "")
    except LateError as error:
        return None, f"its import hangs: {error}"
    except Exception as error:  # noqa: BLE001 - this is the border: a plugin may do anything on import
        return None, f"{type(error).__name__}: {error}{_where(error)}"
    finally:
        sys.stdout = stdout


def _imported(module: str, attributes: str) -> Any:
    """Return the attribute of a module, after its import."""
    value: Any = import_module(module)
    for attribute in attributes.split(".") if attributes else ():
        value = getattr(value, attribute)
    return value


def _danger(place: str, module: str) -> str:
    """Return why root must not load a plugin: another user can write to its directory, or to that of its module."""
    from gputop.machine.files.walk import danger  # noqa: PLC0415 - likewise

    places = (place, *_places(module.partition(".")[0]))
    return next((reason for path in places if (reason := danger(f"{path}/."))), "")


def _places(package: str) -> list[str]:
    """Return the directories of a top-level package or module, without importing it."""
    from importlib.util import find_spec  # noqa: PLC0415 - likewise

    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return []  # the import will say why
    if spec is None:
        return []
    own = [os.path.dirname(spec.origin)] if spec.has_location and spec.origin else []
    return [*own, *(spec.submodule_search_locations or ())]


def _where(error: BaseException) -> str:
    """Return the file and line of the failure, if it is not in gputop."""
    at, trace = "", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith(_OWN) and not name.startswith("<"):
            at = f" ({name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return at


def _plugged(entry: EntryPoint, plugin: Any, reason: str) -> Found:
    if reason:
        return Found(entry=entry, rejected=reason)
    try:
        for table, rows in plugin.tables.items():
            plugged.plug(plugin.name, table, rows)
    except RuntimeError as error:
        why = f"{error}: the plugin imports gputop's tables while it is loaded. Import them inside functions"
        return Found(entry=entry, rejected=why)
    return Found(entry=entry, adds=plugin.keys)
