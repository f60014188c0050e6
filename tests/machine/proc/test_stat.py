"""The line of /proc/PID/stat, whatever a process calls itself."""

import pytest
from fake_proc import stat_line
from hypothesis import given
from hypothesis import strategies as st

from gputop.machine.proc.stat import parse_cpu_ticks, parse_stat


@given(
    name=st.binary(max_size=64),
    ticks=st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)),
    nice=st.integers(-20, 19),
    start=st.integers(0, 2**50),
)
def test_a_line_is_read_back_whatever_the_name_is(name: bytes, ticks: tuple[int, int], nice: int, start: int) -> None:
    line = stat_line(7, name, state="D", parent=3, user=ticks[0], system=ticks[1], nice=nice, threads=9, start=start)

    stat = parse_stat(line)

    assert stat is not None
    assert (stat.name, stat.state, stat.parent_pid, stat.cpu_ticks) == (name, "D", 3, sum(ticks))
    assert (stat.nice, stat.threads, stat.start_ticks, stat.resident_pages) == (nice, 9, start, 256)
    assert parse_cpu_ticks(line) == sum(ticks)


@given(st.binary(max_size=400))
def test_no_text_is_too_strange(raw: bytes) -> None:
    parse_stat(raw)
    parse_cpu_ticks(raw)


@given(st.integers(0, 80))
def test_a_line_that_was_cut_short_is_not_guessed_at(length: int) -> None:
    assert parse_stat(stat_line(4711, b"python")[:length]) is None


@pytest.mark.parametrize(
    "name", [b"a) S 1 (b", b") R 9 9 9", b"((", b"))", b"a b", b"a\nb", b"", b"\xff\xfe", b"tmux: (1)"]
)
def test_a_name_cannot_forge_the_fields_behind_it(name: bytes) -> None:
    stat = parse_stat(stat_line(7, name, state="Z", parent=42))

    assert stat is not None
    assert (stat.name, stat.state, stat.parent_pid) == (name, "Z", 42)


def test_fields_that_old_kernels_lack_are_not_needed() -> None:
    line = b" ".join(stat_line(7, start=99, pages=5).split()[:25])

    stat = parse_stat(line)

    assert stat is not None
    assert (stat.start_ticks, stat.resident_pages) == (99, 5)


def test_fields_without_a_name_are_no_process() -> None:
    assert parse_stat(b"7 " + stat_line(7).partition(b") ")[2]) is None
