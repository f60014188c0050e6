"""gputop plugins: what is installed, what each adds, and why any was rejected."""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from gputop.cli.args.exits import OK
from gputop.cli.args.options import add_ending
from gputop.core import table_rows as plugged
from gputop.core.text.text import clean
from gputop.machine.plugins.discover import GROUP, Found
from gputop.machine.plugins.failures import Failure, Failures

_REJECTED: Final = 1
_TABLES: Final = {
    "metrics": "gputop.core.model.catalogue",
    "columns": "gputop.core.processes.columns",
    "checks": "gputop.core.doctor.table",
    "probes": "gputop.core.plugins.tables",
    "panels": "gputop.core.plugins.tables",
    "sources": "gputop.core.plugins.tables",
}


class Listed(Found, frozen=True, kw_only=True):
    """A plugin, and by the key of a row why that was shut off while gputop ran."""

    shut_off: Mapping[str, str] = {}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--json", action="store_true", help="a line of JSON for each plugin")
    add_ending(parser, "gputop plugins", status="0, or 1 if a plugin or a row of one was rejected or shut off")


def run(options: argparse.Namespace) -> int:
    """Print them."""
    found: tuple[Found, ...] = options.plugins
    _use_tables()
    left_out = plugged.left_out()
    shut_off = _shut_off(found)
    if options.json:
        _print_json(found, shut_off)
    else:
        _print(found)
        for row in left_out:
            print(f"left out  {clean(row.table)}: {clean(row.key)} of {clean(row.plugin)}: {row.reason}")
        for one in shut_off:
            at = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.time_s))
            print(f"shut off  {one.table}: {one.key} at {at}: {clean(one.reason)}")
    return _REJECTED if left_out or shut_off or any(one.rejected for one in found) else OK


def _shut_off(found: tuple[Found, ...]) -> tuple[Failure, ...]:
    """Return why panels and sources were shut off while gputop ran, of those that are still installed."""
    if not any(table in one.adds for one in found for table in ("panels", "sources")):
        return ()
    held = {(table, key) for one in found for table, keys in one.adds.items() for key in keys}
    return tuple(one for one in Failures(os.environ).all() if (one.table, one.key) in held)


def _use_tables() -> None:
    """Put the tables together, so that rows whose key is taken are known."""
    from gputop.core.detectors.registry import detectors

    detectors()
    for module in _TABLES.values():
        import_module(module)


def _print(found: tuple[Found, ...]) -> None:
    if not found:
        print(f"no plugins: no package here has an entry point in the group {GROUP}. How to write one: docs/plugins.md")
    for one in found:
        entry = one.entry
        print("  ".join(map(clean, (entry.name, f"{entry.package} {entry.version}", entry.place))))
        if one.rejected:
            print(f"  rejected: {clean(one.rejected)}")
        for table, keys in one.adds.items():
            print(f"  {table}: {', '.join(map(clean, keys))}")


def _print_json(found: tuple[Found, ...], shut_off: tuple[Failure, ...]) -> None:
    from gputop.wire.encoder import encode

    for one in found:
        whys = {f.key: f.reason for f in shut_off if f.key in one.adds.get(f.table, ())}
        sys.stdout.buffer.write(encode(Listed(entry=one.entry, adds=one.adds, rejected=one.rejected, shut_off=whys)))
