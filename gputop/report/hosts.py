"""The results of many hosts as a table: the hosts that fail, each with its problems."""

from collections import Counter
from typing import Final

from gputop.core.hosts.result import HostResult, HostResults
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, Style, cut, draw

_WORDS: Final = {
    "doctor": {0: "healthy", 1: "warnings", 2: "act now", 3: "no GPU"},
    "probe": {
        0: "pass", 1: "warnings or unclear", 2: "fail", 3: "error", 4: "refused, in use", 5: "nothing tested",
        130: "stopped",
    },
}  # fmt: skip
_NO_RESULT: Final = "no result"
_SHOWN: Final = 3  # problems of a host


def hosts_table(results: HostResults, room: int | None, style: Style) -> str:
    """Return a line with the counts, and a row for each host that fails and for each of its first problems."""
    counts = Counter(_word(results.command, host) for host in results.hosts)
    count = len(results.hosts)
    said = ", ".join(f"{number} {word}" for word, number in counts.most_common())
    lines = [cut(f"{count} host{'s' * (count != 1)}: {said}", room)]
    rows = [row for host in results.hosts if host.status != 0 for row in _rows(results.command, host)]
    titles = [Cell("HOST"), Cell("RESULT"), Cell("PROBLEM")]
    return "\n".join([*lines, *(["", *draw([titles, *rows], Layout(frozenset(), 2, room), style)] if rows else [])])


def _rows(command: str, host: HostResult) -> list[list[Cell]]:
    tone = Tone.WARM if host.status in {1, 4, 5} else Tone.HOT
    shown = list(host.problems[:_SHOWN]) or [""]
    if len(host.problems) > _SHOWN:
        shown.append(f"and {len(host.problems) - _SHOWN} more: gputop --host {host.host} {command}")
    first = [Cell(host.host, tone), Cell(_word(command, host), tone), Cell(shown[0])]
    return [first, *([Cell(""), Cell(""), Cell(text)] for text in shown[1:])]


def _word(command: str, host: HostResult) -> str:
    return _NO_RESULT if host.status is None else _WORDS[command].get(host.status, f"status {host.status}")
