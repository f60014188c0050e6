"""The table of sources of insight. Each is imported when it is asked."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from msgspec.structs import replace

from gputop.core.insight.explanation import SourceReport
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource
from gputop.core.table_rows import joined


def _stacks(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    from gputop.machine.insight.stacks import ask  # noqa: PLC0415 - asked seldom

    return ask(members, native)


def _kernel(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    from gputop.machine.insight.kernel import ask  # noqa: PLC0415 - asked seldom

    return ask(members, native)


def _nccl(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    from gputop.machine.insight.nccl_ras import NcclRas  # noqa: PLC0415 - asked seldom

    return NcclRas().ask(members, native)


def _mps(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    from gputop.machine.insight.mps import ask  # noqa: PLC0415 - asked seldom

    return ask(members, native)


def _may_use_mps(members: Sequence[Member]) -> bool:
    from gputop.machine.insight.mps import applies_to  # noqa: PLC0415 - asked seldom

    return applies_to(members)


def _flight(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    from gputop.machine.insight.dump_request import requests_of_this_machine  # noqa: PLC0415 - asked seldom
    from gputop.machine.insight.flight_recorder import FlightRecorder  # noqa: PLC0415 - asked seldom

    return FlightRecorder(requests=requests_of_this_machine()).ask(members, native)


def _flight_as_it_is(members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    from gputop.machine.insight.flight_recorder import FlightRecorder  # noqa: PLC0415 - asked seldom

    return FlightRecorder().ask(members, native)


def without_requests(sources: Sequence[InsightSource]) -> tuple[InsightSource, ...]:
    """Return the sources such that none makes a process write a file: the Flight Recorder reads old dumps only."""
    return tuple(replace(row, ask=_flight_as_it_is) if row.name == "flight" else row for row in sources)


SOURCES: Final[tuple[InsightSource, ...]] = joined(
    "insight",
    (
        InsightSource(name="stacks", title="Python stacks", ask=_stacks, limit_s=20.0),
        InsightSource(name="nccl", title="NCCL RAS", ask=_nccl, limit_s=35.0),
        InsightSource(name="flight", title="PyTorch Flight Recorder", ask=_flight, limit_s=35.0),
        InsightSource(name="mps", title="CUDA MPS", ask=_mps, applies_to=_may_use_mps),
        InsightSource(name="kernel", title="Kernel", ask=_kernel, limit_s=3.0),
    ),
    attrgetter("name"),
)
