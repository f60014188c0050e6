"""The list of installed plugins, with the reasons of rejected plugins and rows."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from msgspec import Struct

from gputop.core import table_rows
from gputop.machine.plugins.discover import Found
from gputop.machine.plugins.failures import Failure, Failures

_TABLES: Final = (
    "gputop.core.model.catalogue", "gputop.core.processes.columns", "gputop.core.doctor.table",
    "gputop.core.plugins.tables",
)  # fmt: skip


class Plugin(Found, frozen=True, kw_only=True):
    """A plugin, and by the key of a row why gputop switched it off."""

    shut_off: Mapping[str, str] = {}


class PluginList(Struct, frozen=True, kw_only=True):
    """All plugins. ``left_out``: rows whose key is taken; ``shut_off``: panels and sources that failed."""

    plugins: tuple[Plugin, ...]
    left_out: tuple[table_rows.LeftOut, ...]
    shut_off: tuple[Failure, ...]

    @property
    def is_complete(self) -> bool:
        """Return whether gputop uses every plugin and row."""
        return not (self.left_out or self.shut_off or any(one.rejected for one in self.plugins))


def plugin_list(found: Sequence[Found], environment: Mapping[str, str]) -> PluginList:
    """Return the plugins, with all tables loaded, so that rows with a taken key are known."""
    from gputop.core.detectors.registry import detectors

    detectors()
    for module in _TABLES:
        import_module(module)
    shut_off = _shut_off(found, environment)
    return PluginList(
        plugins=tuple(_plugin(one, shut_off) for one in found), left_out=table_rows.left_out(), shut_off=shut_off
    )


def _shut_off(found: Sequence[Found], environment: Mapping[str, str]) -> tuple[Failure, ...]:
    """Return the failures of panels and sources of installed plugins."""
    rows = {(table, key) for one in found for table, keys in one.adds.items() for key in keys}
    if not any(table in {"panels", "sources"} for table, _ in rows):
        return ()
    return tuple(one for one in Failures(environment).all() if (one.table, one.key) in rows)


def _plugin(found: Found, shut_off: Sequence[Failure]) -> Plugin:
    reasons = {one.key: one.reason for one in shut_off if one.key in found.adds.get(one.table, ())}
    return Plugin(entry=found.entry, adds=found.adds, rejected=found.rejected, shut_off=reasons)
