"""Frames of the chosen box: its source, judge and filters behind one function."""

from collections.abc import Callable
from math import inf

from msgspec import Struct

from gputop.app.backend.backend import Backend, BackendRequest, OpenSource
from gputop.app.errors import NO_DRIVER, BadRequestError, UseCaseError
from gputop.app.monitoring.judging import judge
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor, Source
from gputop.machine.nvml.driver import NoDriverError


class FramesRequest(Struct, frozen=True, kw_only=True):
    """The chosen box and its processes. ``where``: filters that must all match.

    ``has_host_details``: with network, disks, sensors and users of the host in every frame.
    """

    backend: BackendRequest = BackendRequest()
    where: tuple[str, ...] = ()
    has_host_details: bool = False


def open_source(backend: Backend, *, is_once: bool) -> OpenSource:
    """Return the source of samples. Raises UseCaseError without a driver. ``is_once``: see `Backend`."""
    try:
        return backend.source(is_once=is_once)
    except NoDriverError as error:
        hint = "For details: gputop doctor. To try gputop without a GPU: gputop --demo"
        raise UseCaseError(NO_DRIVER, f"{error} {hint}") from None


def watch_host(source: OpenSource, request: FramesRequest) -> None:
    """Read the details of the host with every sample, if the request needs them."""
    if request.has_host_details:
        source.want_details(inf)


def frames(
    source: Source,
    backend: Backend,
    request: FramesRequest,
    *,
    waits: bool = False,
    notify: Callable[[str], None] | None = None,
) -> Callable[[], Frame]:
    """Return a function that makes the next frame.

    ``waits``: until the judge has seen the past of the box. ``notify``: receives a line if the configuration has
    mistakes.
    """
    judging = backend.judge(judge(is_once=False, notify=notify), waits=waits)
    return filtered(Monitor(source, judging).step, request.where)


def single_frame(
    source: Source, request: FramesRequest, notify: Callable[[str], None] | None = None
) -> Callable[[], Frame]:
    """Return a function that makes single frames, with the findings that one frame is enough for."""
    return filtered(Monitor(source, judge(is_once=True, notify=notify)).step, request.where)


def filtered(step: Callable[[], Frame], where: tuple[str, ...]) -> Callable[[], Frame]:
    """Return a step whose frames hold only the processes that all filters keep."""
    if not where:
        return step
    from functools import reduce

    from gputop.core.query.query import Query, kept, parse

    queries = [query for query in map(parse, where) if isinstance(query, Query)]
    if len(queries) < len(where):
        raise BadRequestError("invalid filter")
    return lambda: reduce(kept, queries, step())
