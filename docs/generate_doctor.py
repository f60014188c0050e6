"""Writes docs/doctor.md: the checks and the Xids, as they stand in the code.

python docs/generate_doctor.py
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gputop.core.doctor.kernel_log import FELL_OFF
from gputop.core.doctor.table import CHECKS
from gputop.core.model.xid import CATALOGUE, XIDS, Xid, XidKind

PAGE: Final = Path(__file__).parent / "doctor.md"
_KINDS: Final = {
    XidKind.APP: "the application; the GPU is usable",
    XidKind.IGNORE: "nothing is to be done",
    XidKind.WATCH: "look again if it recurs",
    XidKind.RESET: "reset the GPU",
    XidKind.NODE: "drain or restart the node",
    XidKind.HARDWARE: "inspect, replace",
}
_HEAD: Final = """# The doctor

<!-- written by docs/generate_doctor.py -->

`gputop doctor` looks whether a box with NVIDIA GPUs is well, says what it could not look at and why, and what to type
where something is wrong. It **changes nothing and executes none of its fixes**. It needs no root; with root it sees
more: the kernel log, and which processes of others have a GPU open. It takes about a second, some seconds more where a
GPU does not answer: every reading has a time limit.

```
gputop doctor                  # the gravest first; what is well in a line each
gputop doctor --json           # the same, versioned; gputop schema doctor is its JSON Schema
gputop doctor --expect 8       # and there must be eight GPUs
gputop doctor --demo dying     # of a simulated box
```

| exit status | |
|---|---|
| 0 | well; there may be things to know, or that could not be checked |
| 1 | warnings |
| 2 | act now |
| 3 | there is no GPU to check |
| 64 | bad options |

A check ends as `fail` (act now), `warn`, `unknown` (it could not be made; never the same as well), `info`, `ok`, or
`not_applicable` (the box does not have what is asked about). Idle is no fault: the generation of a PCIe link is judged
only where the GPU is at work, a power cap is normal, and clocks count as lowered only where all of three looks saw it.

## Checks

"""
_XIDS: Final = f"""
## Xids

What the driver writes to the kernel log when something goes wrong, after [NVIDIA's catalogue]({CATALOGUE}). The doctor
reads it from `/dev/kmsg` or the journal; a board that the kernel says fell off the bus counts as Xid {FELL_OFF}. Errors
that are older than a day count one degree less. Of NVLink 5 (144 to 150), what calls itself non-fatal is to be watched.

"""


def page() -> str:
    """Return the page."""
    return _HEAD + table(_checks()) + _XIDS + table(_xids())


def _checks() -> Iterator[tuple[str, ...]]:
    yield "code", "question", "why", "what to do"
    for check in CHECKS:
        yield f"`{check.code}`", check.question, check.meaning, check.fix


def _xids() -> Iterator[tuple[str, ...]]:
    yield "Xid", "name", "meaning", "asks for", "mostly at fault", "what to do"
    groups: dict[tuple[str, ...], list[Xid]] = {}
    for xid in sorted(XIDS.values(), key=lambda row: row.number):
        groups.setdefault((xid.name, xid.meaning, xid.action), []).append(xid)
    for held in groups.values():
        first = held[0]
        numbers = ", ".join(_ranges([xid.number for xid in held]))
        yield numbers, first.name, first.meaning, _KINDS[first.kind], first.blame.value, first.action


def _ranges(numbers: list[int]) -> Iterator[str]:
    """Return 39-41 for three in a row."""
    while numbers:
        length = next((n for n, number in enumerate(numbers) if number != numbers[0] + n), len(numbers))
        yield str(numbers[0]) if length == 1 else f"{numbers[0]}-{numbers[length - 1]}"
        numbers = numbers[length:]


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows as a table of Markdown, the first as its head."""
    head, *rest = rows
    lines = [head, ("---",) * len(head), *rest]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page())
