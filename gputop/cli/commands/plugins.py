"""gputop plugins: the installed plugins, what each adds, and why any was rejected."""

import argparse
import os
import sys
import time
from typing import Final

from gputop.app.plugins import Plugin, PluginList, plugin_list
from gputop.cli.args.exits import OK
from gputop.cli.args.options import add_ending
from gputop.core.text.text import clean
from gputop.machine.plugins.discover import GROUP

_REJECTED: Final = 1


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--json", action="store_true", help="one line of JSON per plugin")
    add_ending(parser, "gputop plugins", status="0 no problem, 1 a plugin or part of one was rejected or disabled")


def run(options: argparse.Namespace) -> int:
    """Print the plugins."""
    listed = plugin_list(options.plugins, os.environ)
    if options.json:
        _print_json(listed)
    else:
        _print(listed)
    return OK if listed.is_complete else _REJECTED


def _print(listed: PluginList) -> None:
    if not listed.plugins:
        print(f"no plugins: no package here has an entry point in the group {GROUP}. How to write one: docs/plugins.md")
    for plugin in listed.plugins:
        _print_plugin(plugin)
    for row in listed.left_out:
        print(f"left out  {clean(row.table)}: {clean(row.key)} of {clean(row.plugin)}: {row.reason}")
    for one in listed.shut_off:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.time_s))
        print(f"shut off  {one.table}: {one.key} at {at}: {clean(one.reason)}")


def _print_plugin(plugin: Plugin) -> None:
    entry = plugin.entry
    print("  ".join(map(clean, (entry.name, f"{entry.package} {entry.version}", entry.place))))
    if plugin.rejected:
        print(f"  rejected: {clean(plugin.rejected)}")
    for table, keys in plugin.adds.items():
        print(f"  {table}: {', '.join(map(clean, keys))}")


def _print_json(listed: PluginList) -> None:
    from gputop.wire.encoder import encode

    for plugin in listed.plugins:
        sys.stdout.buffer.write(encode(plugin))
