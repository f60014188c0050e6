"""One verdict for each trouble: the table of the findings that take in others about the same processes and seconds."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.finding import HIGH, Evidence, Finding
from gputop.core.model.process_id import ProcessId

TAKES_IN: Final = (  # of two findings, the graver one takes in the other; of the same stage, the one of the higher row
    ("stuck.collective", "stuck.kernel"),
    ("stalled.job", "stalled.process"),
    ("straggler.gpu", "straggler.host", "straggler.neighbour"),
    ("spin.host",),
    ("idle.holder",),
    ("bound.input", "bound.launch", "bound.memory", "bound.communication", "bound.compute", "busy.fake"),
)
_HEAT: Final = ("throttle.thermal", "temperature.gpu", "temperature.memory")  # of one GPU, the first takes in the rest
_STALLS: Final = ("stalled.job", "stalled.process")
_HOLDER: Final = "idle.holder"
_ROWS: Final = {code: row for row, codes in enumerate(TAKES_IN) for code in codes}


class About(Struct, frozen=True):
    """A finding and the processes that it is about."""

    finding: Finding
    processes: Collection[ProcessId]


def merged(found: Sequence[About]) -> list[Finding]:
    """Return the findings without those that others take in. What adds to a finding becomes its evidence."""
    verdicts = sorted([one for one in found if one.finding.code in _ROWS], key=_rank)
    shown: list[tuple[Finding, list[Finding]]] = []
    by_process: dict[ProcessId, list[tuple[Finding, list[Finding]]]] = {}
    for one in verdicts:
        takers = (taker for process in one.processes for taker in by_process.get(process, ()))
        taker = next((taker for taker in takers if _takes_in(taker[0], one.finding)), None)
        if taker is not None:
            taker[1].append(one.finding)
            continue
        shown.append((one.finding, []))
        for process in one.processes:
            by_process.setdefault(process, []).append(shown[-1])
    others = [one.finding for one in found if one.finding.code not in _ROWS and one.finding.code not in _HEAT]
    hot = [one.finding for one in found if one.finding.code in _HEAT]
    return [*others, *_by_gpu(hot), *(_with(*one) for one in shown)]


def _by_gpu(hot: Iterable[Finding]) -> list[Finding]:
    """Return one finding about the heat of each GPU: the gravest."""
    by_gpu: dict[str | None, list[Finding]] = {}
    for one in sorted(hot, key=lambda one: (-one.stage.rank, _HEAT.index(one.code))):
        by_gpu.setdefault(one.subject.gpu, []).append(one)
    return [_with(first, rest) for first, *rest in by_gpu.values()]


def _rank(one: About) -> tuple[int, int]:
    return -one.finding.stage.rank, _ROWS[one.finding.code]


def _takes_in(one: Finding, other: Finding) -> bool:
    """Return whether the first says more about the same processes. Two of one row are about different things.

    A program that has finished looks like one that has stalled: without more evidence, both are said.
    """
    if other.code == _HOLDER and one.code in _STALLS:
        return (one.confidence or 0.0) >= HIGH
    return _ROWS[one.code] != _ROWS[other.code]


def _with(finding: Finding, taken: Iterable[Finding]) -> Finding:
    more = tuple(
        [Evidence(one.code, one.stage.value, f"also seen: {one.summary}") for one in taken if _adds(finding, one)]
    )
    return replace(finding, evidence=(*finding.evidence, *more)) if more else finding


def _adds(finding: Finding, taken: Finding) -> bool:
    """Return whether it says more. What limited a job while it worked says nothing about a job that does not work."""
    is_slow = finding.code.startswith("straggler.")
    return not taken.code.startswith("bound.") or (is_slow and taken.code != "bound.compute")
