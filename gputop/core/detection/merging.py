"""One verdict for each trouble: the table of the findings that take in others about the same processes and seconds."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.finding import Evidence, Finding
from gputop.core.model.process_id import ProcessId

TAKES_IN: Final = (  # of two findings, the graver one takes in the other; of the same stage, the one of the higher row
    ("stuck.collective", "stuck.kernel"),
    ("stalled.job", "stalled.process"),
    ("straggler.gpu", "straggler.host", "straggler.neighbour"),
    ("spin.host",),
    ("idle.holder",),
    ("bound.input", "bound.launch", "bound.memory", "bound.communication", "bound.compute", "busy.fake"),
)
_ROWS: Final = {code: row for row, codes in enumerate(TAKES_IN) for code in codes}


class About(Struct, frozen=True):
    """A finding and the processes that it is about."""

    finding: Finding
    processes: Collection[ProcessId]


def merged(found: Sequence[About]) -> list[Finding]:
    """Return the findings without those that others take in. What was taken in becomes evidence."""
    verdicts = sorted([one for one in found if one.finding.code in _ROWS], key=_rank)
    taken: list[tuple[About, list[Finding]]] = []
    for one in verdicts:
        taker = next((each for each in taken if _takes_in(each[0], one)), None)
        if taker is None:
            taken.append((one, []))
        else:
            taker[1].append(one.finding)
    others = [one.finding for one in found if one.finding.code not in _ROWS]
    return others + [_with(one.finding, held) for one, held in taken]


def _rank(one: About) -> tuple[int, int]:
    return -one.finding.stage.rank, _ROWS[one.finding.code]


def _takes_in(one: About, other: About) -> bool:
    """Return whether the first says more about the same processes. Two of one row are about different things."""
    is_other_kind = _ROWS[one.finding.code] != _ROWS[other.finding.code]
    return is_other_kind and not set(one.processes).isdisjoint(other.processes)


def _with(finding: Finding, taken: Iterable[Finding]) -> Finding:
    more = tuple([Evidence(one.code, one.stage.value, one.summary) for one in taken])
    return replace(finding, evidence=(*finding.evidence, *more)) if more else finding
