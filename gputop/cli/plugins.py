"""gputop plugins: what is installed, what each adds, and why any was rejected."""

import argparse
import sys
from importlib import import_module
from typing import Final

from gputop.cli.arguments import OK, add_ending
from gputop.core import plugged
from gputop.core.text import clean
from gputop.machine.discover import GROUP, Found

_REJECTED: Final = 1
_TABLES: Final = {
    "metrics": "gputop.core.metrics",
    "columns": "gputop.core.columns",
    "checks": "gputop.core.checks.table",
    "probes": "gputop.core.probes",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--json", action="store_true", help="a line of JSON for each plugin")
    add_ending(parser, "gputop plugins", status="0, or 1 if a plugin or a row of one was rejected")


def run(options: argparse.Namespace) -> int:
    """Print them."""
    found: tuple[Found, ...] = options.plugins
    _use_tables()
    left_out = plugged.left_out()
    if options.json:
        _print_json(found)
    else:
        _print(found)
        for row in left_out:
            print(f"left out  {clean(row.table)}: {clean(row.key)} of {clean(row.plugin)}: {row.reason}")
    return _REJECTED if left_out or any(one.rejected for one in found) else OK


def _use_tables() -> None:
    """Put the tables together, so that rows whose key is taken are known."""
    from gputop.core.builtin import detectors

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


def _print_json(found: tuple[Found, ...]) -> None:
    from gputop.wire.encode import encode

    for one in found:
        sys.stdout.buffer.write(encode(one))
