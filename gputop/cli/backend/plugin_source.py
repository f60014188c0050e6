"""--source NAME[:ARGUMENT]: samples of a plugin in place of this machine's."""

import argparse
import os
from typing import Final

from gputop.cli.args.exits import BAD_INPUT, NO_DRIVER, fail
from gputop.cli.args.options import USUAL_INTERVAL_S, selection
from gputop.core.plugins.named_source import NamedSource
from gputop.core.text.suggest import nearest
from gputop.core.text.text import clean
from gputop.machine.plugins.failures import Failures
from gputop.machine.plugins.sanitize import ForeignSource, SourceError, opened

TABLE: Final = "sources"
REFUSAL: Final = "the samples come from a source of a plugin: nothing there can be changed from here"


def opened_source(options: argparse.Namespace, *, is_once: bool) -> ForeignSource:
    """Return the source that the options name, read once; end the program in words where it cannot be had.

    ``is_once``: somebody waits for one sample, so that one that fails now is of no use.
    """
    name, _, argument = options.source.partition(":")
    failures = Failures(os.environ)
    try:
        row = _named(name)
        source = ForeignSource(
            row, opened(row, argument), selection=selection(options),
            told=lambda reason: failures.failed(TABLE, name, reason),
        )  # fmt: skip
        source.interval_s = options.interval or USUAL_INTERVAL_S
        source.open()
    except ValueError as error:
        fail(BAD_INPUT, str(error))
    except SourceError as error:
        failures.failed(TABLE, name, str(error))
        fail(NO_DRIVER, f"{error}. What is installed: gputop plugins")
    if not source.problem:
        failures.worked(TABLE, name)
    elif is_once:
        fail(NO_DRIVER, f"the source {name} cannot be read: {source.problem}")
    return source


def _named(name: str) -> NamedSource:
    """Return the row. Raises ValueError where there is none of this name."""
    from gputop.core.plugins.tables import SOURCES

    for row in SOURCES:
        if row.key == name:
            return row
    known = [row.key for row in SOURCES]
    near = nearest(name, known)
    there = f"There are: {', '.join(known)}" if known else "No plugin has any: gputop plugins"
    raise ValueError(f"no such source: {clean(name)}.{f' Did you mean {near}?' if near else ''} {there}")
