"""Xids of real kernel logs: each line is read, and its number has a meaning."""

from pathlib import Path
from typing import Final

import pytest

from gputop.core.doctor.kernel_log import LogLine, XidLine, xid_lines
from gputop.core.model.xid import XIDS

LINES: Final = (Path(__file__).parent / "xid" / "xid-lines.txt").read_text().splitlines()
PLACEHOLDERS: Final = (": %d,", "Xid error: xyz")
REAL: Final = [line for line in LINES if not any(mark in line for mark in PLACEHOLDERS)]


def _read(line: str) -> XidLine:
    (found,) = xid_lines([LogLine(1.0, line)])
    return found


@pytest.mark.parametrize("line", REAL)
def test_number_board_and_process_of_a_real_line_are_read(line: str) -> None:
    address, _, rest = line.split("Xid (")[1].partition("): ")
    number, _, message = rest.partition(", ")
    found = _read(line)

    assert found.number == int(number)
    assert found.bus_id == address.removeprefix("PCI:").lower()
    assert found.pid == (
        int(message[4:].split(",")[0]) if message.startswith("pid=") and message[4].isdigit() else None
    )
    assert ("Nonfatal" in line, " Fatal" in line) == (found.is_fatal is False, found.is_fatal is True)


def test_each_number_of_a_real_log_has_a_meaning_of_its_own() -> None:
    numbers = {_read(line).number for line in REAL}

    assert numbers - XIDS.keys() == {14, 99999}  # not in the catalogue of NVIDIA; the second was made up by its author


@pytest.mark.parametrize("line", [line for line in LINES if line not in REAL])
def test_a_line_without_a_number_is_no_xid(line: str) -> None:
    assert list(xid_lines([LogLine(1.0, line)])) == []
