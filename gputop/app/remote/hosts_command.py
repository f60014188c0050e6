"""The hosts of the list as `gputop hosts` shows them, and without the copies that gputop brought."""

import os
import sys
from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.errors import BAD_INPUT, OK, SOME, UNKNOWN
from gputop.app.remote.consent import Consents
from gputop.app.remote.host_list import listed
from gputop.app.remote.inquiry import Cleaned, HostState, cleaned, each, state
from gputop.app.terminal import print_json, warn
from gputop.core.hosts.search_path import BROUGHT
from gputop.core.model.units import NOTHING, bytes_text
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, draw, look

_LAYOUT: Final = Layout(right=frozenset({2}), yields=1, room=None)
_HEADS: Final = ("HOST", "GPUTOP", "COPY", "MAY COPY")
_MAY: Final = {None: "ask", True: "yes", False: "no"}


class _HasProblem(Protocol):
    @property
    def problem(self) -> str: ...


class HostListRequest(Struct, frozen=True, kw_only=True):
    """Hosts, of the list if none is named."""

    hosts: tuple[str, ...] = ()
    is_json: bool = False


def show(request: HostListRequest) -> int:
    """Print which gputop each host has; return the exit status."""
    consents = Consents()
    found = [replace(one, may_copy=consents.of(one.host)) for one in each(request.hosts or listed(), state)]
    if request.is_json:
        for one in found:
            print_json(one)
    else:
        room, style = look(sys.stdout, os.environ)
        print("\n".join(draw([tuple(map(Cell, _HEADS)), *map(_row, found)], replace(_LAYOUT, room=room), style)))
    return _status(found)


def clean_up(request: HostListRequest) -> int:
    """Remove the copies that gputop brought, and forget that the user agreed to them; return the exit status."""
    found = each(request.hosts or listed(), cleaned)
    consents = Consents()
    problem = consents.keep([one.host for one in found if not one.problem and consents.of(one.host)], None)
    for one in found:
        if request.is_json:
            print_json(one)
        elif one.problem:
            warn(f"{one.host}: nothing was removed: {one.problem}")
        else:
            print(f"{one.host}: {_removal(one)}")
    if problem:
        warn(problem)
    return BAD_INPUT if problem else _status(found)


def _removal(one: Cleaned) -> str:
    if one.removed_bytes is None:
        return "gputop has brought no copy there"
    return f"removed {BROUGHT}, {bytes_text(one.removed_bytes)}"


def _row(one: HostState) -> tuple[Cell, ...]:
    if one.problem:
        return Cell(clean(one.host)), Cell(f"cannot be asked: {one.problem}", Tone.HOT)
    return (
        Cell(clean(one.host)), _version(one), Cell(NOTHING if one.copy_bytes is None else bytes_text(one.copy_bytes)),
        Cell(_MAY[one.may_copy]),
    )  # fmt: skip


def _version(one: HostState) -> Cell:
    if not one.has_gputop:
        return Cell("not installed", Tone.WARM)
    version = one.version or "does not start"
    return Cell(f"{version}, a copy" if one.is_copy else version, Tone.OK if one.version else Tone.WARM)


def _status(found: Sequence[_HasProblem]) -> int:
    failed = sum(bool(one.problem) for one in found)
    return OK if not failed else SOME if failed < len(found) else UNKNOWN
