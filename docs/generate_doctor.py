"""Generator of docs/doctor.md: the checks and the Xids, from the code.

python docs/generate_doctor.py
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gputop.core.doctor.kernel_log import FELL_OFF
from gputop.core.doctor.table import CHECKS
from gputop.core.model.xid import CATALOGUE, XIDS, Blame, Xid, XidKind

PAGE: Final = Path(__file__).parent / "doctor.md"
_KINDS: Final = {
    XidKind.APP: "restart the application; the GPU is usable",
    XidKind.IGNORE: "nothing",
    XidKind.WATCH: "watch whether it recurs",
    XidKind.RESET: "reset the GPU",
    XidKind.NODE: "drain or restart the node",
    XidKind.HARDWARE: "inspect or replace the hardware",
}
_HEAD: Final = """# The doctor

<!-- written by docs/generate_doctor.py -->

`gputop doctor` checks the health of a machine with NVIDIA GPUs. It reports each problem with its evidence, and with the
commands that fix it. It also reports what it could not check, and why.

- It **changes nothing and runs no fix**.
- It needs no root. With root it also checks the kernel log, and finds other users' processes that have a GPU open.
- It takes about a second, or a few seconds if a GPU does not answer.

```
gputop doctor                  # problems first, the most serious one on top
gputop doctor --json           # the same as JSON; gputop schema doctor prints the JSON Schema
gputop doctor --expect 8       # also report a problem if there are not exactly eight GPUs
gputop doctor --demo dying     # check a simulated machine
```

| exit status | meaning |
|---|---|
| 0 | healthy; there may be notes, or checks that could not run |
| 1 | warnings |
| 2 | act now |
| 3 | no GPU to check |
| 64 | bad options |

Each check has one of these results:

| result | meaning |
|---|---|
| `fail` | act now |
| `warn` | a warning |
| `unknown` | the check could not run |
| `info` | worth knowing |
| `ok` | no problem |
| `not_applicable` | this machine does not have the part that the check is about |

An idle GPU is not a fault. The doctor judges the generation of a PCIe link only while the GPU works. A power cap is
normal. Reduced clocks count only if all three samples show them.

## Checks

"""
_XIDS: Final = f"""
## Xids

An Xid is an error that the driver writes to the kernel log. This table follows [NVIDIA's catalogue]({CATALOGUE}).

- The doctor reads Xids from `/dev/kmsg` or from the journal.
- If the kernel reports that a GPU fell off the bus, the doctor counts it as Xid {FELL_OFF}.
- An Xid older than a day counts as one severity lower.
- A non-fatal NVLink 5 error (Xids 144 to 150) only needs watching.

"""


def page() -> str:
    """Return the page."""
    return _HEAD + table(_checks()) + _XIDS + table(_xids())


def _checks() -> Iterator[tuple[str, ...]]:
    yield "code", "question", "why", "what to do"
    for check in CHECKS:
        yield f"`{check.code}`", check.question, check.meaning, check.fix


def _xids() -> Iterator[tuple[str, ...]]:
    yield "Xid", "name", "meaning", "action", "usual cause", "what to do"
    groups: dict[tuple[str, ...], list[Xid]] = {}
    for xid in sorted(XIDS.values(), key=lambda row: row.number):
        groups.setdefault((xid.name, xid.meaning, xid.action), []).append(xid)
    for held in groups.values():
        first = held[0]
        numbers = ", ".join(_ranges([xid.number for xid in held]))
        cause = "" if first.blame is Blame.NONE else first.blame.value
        yield numbers, first.name, first.meaning, _KINDS[first.kind], cause, first.action


def _ranges(numbers: list[int]) -> Iterator[str]:
    """Yield the numbers as ranges, such as 39-41."""
    while numbers:
        length = next((n for n, number in enumerate(numbers) if number != numbers[0] + n), len(numbers))
        yield str(numbers[0]) if length == 1 else f"{numbers[0]}-{numbers[length - 1]}"
        numbers = numbers[length:]


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return rows as a Markdown table; the first row is the header."""
    head, *rest = rows
    lines = [head, ("---",) * len(head), *rest]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page())
