"""Frames of the chosen box: its source, judge and filters behind one function."""

from collections.abc import Callable
from functools import reduce
from math import inf

from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest, OpenSource
from gputop.app.backend.choice import open_backend
from gputop.app.errors import NO_DRIVER, BadRequestError, UseCaseError
from gputop.app.monitoring.judging import judge
from gputop.core.model.sample import Frame
from gputop.core.monitor import Judging, Monitor, Source
from gputop.core.table_rows import turned_off
from gputop.machine.nvml.driver import NoDriverError


def open_source(request: BackendRequest, *, is_once: bool) -> OpenSource:
    """Return the source of samples. Raises UseCaseError without a driver. ``is_once``: see `Backend`."""
    try:
        source = open_backend(request).source(is_once=is_once)
    except NoDriverError as error:
        hint = "For details: gputop doctor. To try gputop without a GPU: gputop --demo"
        raise UseCaseError(NO_DRIVER, f"{error} {hint}") from None
    if request.has_host_details:
        source.want_details(inf)
    return source


def frames(
    source: Source,
    request: BackendRequest,
    *,
    is_once: bool = False,
    waits: bool = False,
    notify: Callable[[str], None] | None = None,
) -> Callable[[], Frame]:
    """Return a function that makes the next frame; with ``is_once`` of a few, with the findings that need no time.

    ``waits``: until the judge has seen the past of the box. ``notify``: receives a line if the configuration has
    mistakes.
    """
    judging: Judging = judge(is_once=is_once, notify=notify)
    if not is_once:
        judging = open_backend(request).judge(judging, waits=waits)
    step = Monitor(source, judging).step
    if not request.where:
        return lambda: _with_plugins(step())
    from gputop.core.query.query import Query, kept, parse

    queries = [query for query in map(parse, request.where) if isinstance(query, Query)]
    if len(queries) < len(request.where):
        raise BadRequestError("invalid filter")
    return lambda: _with_plugins(reduce(kept, queries, step()))


def _with_plugins(frame: Frame) -> Frame:
    """Return the frame with the rows of plugins that hang among its problems."""
    off = turned_off()
    return replace(frame, problems=(*frame.problems, *off)) if off else frame
