"""Choices of the menus: columns to sort by, users to filter by."""

from collections.abc import Iterable, Sequence

from gputop.core.model.units import bytes_text, number_text
from gputop.core.processes.column import Row
from gputop.core.processes.columns import COLUMNS
from gputop.core.processes.sums import sums
from gputop.ui.screens.dialogs.menu import Choice

EVERYBODY = "\0everybody"  # no user has this name


def column_choices(shown: Iterable[str]) -> list[Choice]:
    """Return all columns with their help; a hidden column has the note ``not shown``."""
    held = set(shown)
    return [
        Choice(column.key, column.title.ljust(12) + column.help, "" if column.key in held else "not shown")
        for column in COLUMNS
    ]


def user_choices(rows: Sequence[Row]) -> list[Choice]:
    """Return all users together, then each user with totals; the most GPU memory comes first."""
    by_user: dict[str, list[Row]] = {}
    for row in rows:
        by_user.setdefault(row.process.user or "", []).append(row)
    ordered = sorted(by_user.items(), key=lambda held: (-_memory(held[1]), held[0]))
    return [
        Choice(EVERYBODY, "all users", _sums(rows)),
        *(Choice(n, n or "user unknown", _sums(r)) for n, r in ordered),
    ]


def _memory(rows: Sequence[Row]) -> int:
    return sum(row.use.memory_bytes or 0 for row in rows)


def _sums(rows: Sequence[Row]) -> str:
    total = sums((row.process, row.use) for row in rows)
    gpus = f"{total.gpus} GPU{'' if total.gpus == 1 else 's'}"
    parts = (
        f"{total.processes:>5} proc", f"{gpus:>7}", f"{bytes_text(total.gpu_memory_bytes):>8}",
        f"SM {_percent(total.sm_percent):>5}", f"CPU {_percent(total.cpu_percent):>6}",
    )  # fmt: skip
    return "  ".join(parts)


def _percent(value: float | None) -> str:
    return number_text(value) + ("" if value is None else "%")
