"""The fleet once, for people and programs."""

import os
import sys

from gputop.app.errors import OK, UNKNOWN, BadRequestError
from gputop.app.fleet.readers import reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.app.monitoring.screen import has_terminal
from gputop.app.terminal import print_json, warn
from gputop.core.fleet.choice import chosen
from gputop.core.fleet.columns import HOST_COLUMN_BY_WORD, HOSTS, FleetColumn, HostColumn, sorted_by
from gputop.core.fleet.group_columns import GROUP_COLUMN_BY_WORD
from gputop.core.fleet.groups import JOB, FleetGroups, Group, grouped
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.model.field import R
from gputop.core.query.filter import Filter
from gputop.core.query.parser import QueryError, read
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt
from gputop.report.grid import look


def show(request: FleetRequest) -> int:
    """Show the screen, or read the fleet once and print it; return the exit status."""
    filters = filters_of(request.where)
    host_sort, group_sort = sorts_of(request)
    if not request.format and has_terminal():
        from gputop.app.fleet.screen import show_screen

        return show_screen(request, filters, host_sort.key, group_sort.key)
    is_detailed = request.format == "json" or request.by == JOB
    fleet = chosen(
        reader_of(request, is_detailed=is_detailed).read(), filters, host_sort, is_reversed=request.is_reversed
    )
    if request.by:
        groups = sorted_by(grouped(fleet.hosts, request.by), group_sort, is_reversed=request.is_reversed)
        _print_groups(fleet, tuple(groups), request)
    else:
        _print_hosts(fleet, request.format)
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


def sorts_of(request: FleetRequest) -> tuple[HostColumn, FleetColumn[Group]]:
    """Return the order of the hosts, and that of the groups. Raises BadRequestError."""
    of_hosts, of_groups = ("", request.sort) if request.by else (request.sort, "")
    return column_of(of_hosts or "host", HOST_COLUMN_BY_WORD), column_of(of_groups or "gpus", GROUP_COLUMN_BY_WORD)


def column_of(word: str, columns: dict[str, FleetColumn[R]]) -> FleetColumn[R]:
    """Return the column that a word names. Raises BadRequestError."""
    column = columns.get(word.lower())
    if column is None:
        hint = nearest(word, columns)
        known = f"Did you mean {hint}?" if hint else f"Available: {', '.join(columns)}"
        raise BadRequestError(f"unknown column {excerpt(word)}. {known}")
    return column


def _print_hosts(fleet: Fleet, wanted: str) -> None:
    if wanted == "json":
        print_json(fleet)
        return
    from gputop.report.fleet import csv, table

    if wanted == "csv":
        sys.stdout.write(csv(fleet.hosts))
    else:
        print(table(fleet, *look(sys.stdout, os.environ)))


def _print_groups(fleet: Fleet, groups: tuple[Group, ...], request: FleetRequest) -> None:
    time_s, servers, simulated, by = fleet.time_s, fleet.servers, fleet.simulated, request.by
    if request.format == "json":
        print_json(FleetGroups(time_s=time_s, by=by, servers=servers, groups=groups, simulated=simulated))
        return
    from gputop.report.fleet import group_csv, group_table

    if request.format == "csv":
        sys.stdout.write(group_csv(groups))
    else:
        print(group_table(fleet, groups, by, look(sys.stdout, os.environ)))
