"""The option --where: only the processes that a filter keeps."""

import argparse
import sys
from collections.abc import Callable
from functools import reduce

from gputop.cli.args.parser import Parser
from gputop.core.model.sample import Frame
from gputop.core.query.query import Query, QueryError, kept, parse, pointed
from gputop.core.text.text import clean


def read(text: str) -> Query:
    """Return the filter; end the program where it is none, pointing at what is wrong."""
    found = parse(text)
    if isinstance(found, QueryError):
        print(f"gputop: --where, column {found.position + 1}: {clean(str(found))}", file=sys.stderr)
        print("\n".join(f"  {line}" for line in pointed(text, found).splitlines()), file=sys.stderr)
        raise SystemExit(Parser.usage_status)
    return found


def filtered(step: Callable[[], Frame], options: argparse.Namespace) -> Callable[[], Frame]:
    """Return a step whose frames hold what all the filters keep."""
    return lambda: reduce(kept, options.where, step())
