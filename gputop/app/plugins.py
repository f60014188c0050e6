"""The list of installed plugins, with the reasons of rejected plugins and rows."""

import os
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from msgspec import Struct

from gputop.app.errors import OK, SOME
from gputop.app.terminal import print_json
from gputop.core import table_rows
from gputop.core.text.text import clean
from gputop.machine.plugins.discover import GROUP, Found
from gputop.machine.plugins.failures import Failure, Failures

_TABLES: Final = (
    "gputop.core.model.catalogue", "gputop.core.processes.columns", "gputop.core.doctor.table",
    "gputop.core.plugins.tables",
)  # fmt: skip


class Plugin(Found, frozen=True, kw_only=True):
    """A plugin, and by the key of a row why gputop switched it off."""

    shut_off: Mapping[str, str] = {}


class PluginsRequest(Struct, frozen=True, kw_only=True):
    """A list of the plugins that were found."""

    plugins: tuple[Found, ...]
    is_json: bool


def list_plugins(request: PluginsRequest) -> int:
    """Print the plugins, with all tables loaded, so that rows with a taken key are known; return the exit status."""
    from gputop.core.detectors.registry import detectors

    detectors()
    for module in _TABLES:
        import_module(module)
    shut_off, left_out = _shut_off(request.plugins), table_rows.left_out()
    if request.is_json:
        for found in request.plugins:
            print_json(_plugin(found, shut_off))
    else:
        _print(request.plugins, left_out, shut_off)
    return SOME if left_out or shut_off or any(found.rejected for found in request.plugins) else OK


def _print(plugins: Sequence[Found], left_out: Sequence[table_rows.LeftOut], shut_off: Sequence[Failure]) -> None:
    if not plugins:
        print(f"no plugins: no package here has an entry point in the group {GROUP}. How to write one: docs/plugins.md")
    for plugin in plugins:
        entry = plugin.entry
        print("  ".join(map(clean, (entry.name, f"{entry.package} {entry.version}", entry.place))))
        if plugin.rejected:
            print(f"  rejected: {clean(plugin.rejected)}")
        for table, keys in plugin.adds.items():
            print(f"  {table}: {', '.join(map(clean, keys))}")
    for row in left_out:
        print(f"left out  {clean(row.table)}: {clean(row.key)} of {clean(row.plugin)}: {row.reason}")
    for one in shut_off:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.time_s))
        print(f"shut off  {one.table}: {one.key} at {at}: {clean(one.reason)}")


def _shut_off(found: Sequence[Found]) -> tuple[Failure, ...]:
    """Return the failures of the rows of installed plugins."""
    rows = {(table, key) for one in found for table, keys in one.adds.items() for key in keys}
    if not rows:
        return ()
    return tuple(one for one in Failures(os.environ).all() if (one.table, one.key) in rows)


def _plugin(found: Found, shut_off: Sequence[Failure]) -> Plugin:
    reasons = {one.key: one.reason for one in shut_off if one.key in found.adds.get(one.table, ())}
    return Plugin(entry=found.entry, adds=found.adds, rejected=found.rejected, shut_off=reasons)
