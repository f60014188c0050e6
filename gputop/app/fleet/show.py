"""The fleet once, for people and programs."""

import os
import sys

from gputop.app.errors import OK, UNKNOWN, BadRequestError
from gputop.app.fleet.readers import reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.app.monitoring.screen import has_terminal
from gputop.app.terminal import print_json, warn
from gputop.core.fleet.choice import chosen
from gputop.core.fleet.columns import HOST_COLUMN_BY_WORD, HOSTS, HostColumn
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.query.filter import Filter
from gputop.core.query.parser import QueryError, read
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt
from gputop.report.grid import look


def show(request: FleetRequest) -> int:
    """Show the screen, or read the fleet once and print it; return the exit status."""
    filters, column = filters_of(request.where), column_of(request.sort)
    if not request.format and has_terminal():
        from gputop.app.fleet.screen import show_screen

        return show_screen(request, filters, column)
    fleet = chosen(reader_of(request).read(), filters, column, is_reversed=request.is_reversed)
    if request.format == "json":
        print_json(fleet)
    elif request.format == "csv":
        from gputop.report.fleet import csv

        sys.stdout.write(csv(fleet.hosts))
    else:
        from gputop.report.fleet import table

        print(table(fleet, *look(sys.stdout, os.environ)))
    return status(fleet, is_table=request.format in {"", "table"})


def status(fleet: Fleet, *, is_table: bool) -> int:
    """Warn of what could not be read, and return the exit status: whether any server answered."""
    from gputop.report.fleet import server_problems

    if not is_table:
        for problem in server_problems(fleet):
            warn(problem)
    has_answer = any(host.gpus for host in fleet.hosts) or not any(server.problems for server in fleet.servers)
    return OK if has_answer else UNKNOWN


def filters_of(texts: tuple[str, ...]) -> tuple[Filter[FleetHost], ...]:
    """Return the filters of hosts. Raises BadRequestError, with the place of the mistake."""
    found = []
    for text in texts:
        node = read(text, HOSTS.fields)
        if isinstance(node, QueryError):
            raise BadRequestError(f"{excerpt(text)}: column {node.position + 1}: {excerpt(str(node), 600)}")
        found.append(Filter(node, HOSTS))
    return tuple(found)


def column_of(word: str) -> HostColumn:
    """Return the column that a word names. Raises BadRequestError."""
    column = HOST_COLUMN_BY_WORD.get(word.lower())
    if column is None:
        hint = nearest(word, HOST_COLUMN_BY_WORD)
        known = f"Did you mean {hint}?" if hint else f"Available: {', '.join(HOST_COLUMN_BY_WORD)}"
        raise BadRequestError(f"unknown column {excerpt(word)}. {known}")
    return column
