"""Programs that print once: what they cost, in which order, and what becomes of one that does not end."""

import signal
import sys
from pathlib import Path

import snapshot


def test_a_program_that_works_costs_more_than_one_that_does_not() -> None:
    works = (sys.executable, "-S", "-c", "sum(range(4_000_000))")

    values = snapshot.measure({"works": works, "idle": (sys.executable, "-S", "-c", "pass")}, 1, 60.0)

    assert values["works"].cpu_ms > values["idle"].cpu_ms > 0
    assert values["works"].status == 0


def test_a_program_that_fails_has_its_status() -> None:
    values = snapshot.measure({"fails": ("/bin/sh", "-c", "exit 3")}, 1, 60.0)

    assert values["fails"].status == 3


def test_a_program_that_does_not_end_is_killed() -> None:
    run = snapshot.run_once(("/bin/sh", "-c", "kill -STOP $$"), 0.1)

    assert run.status == -signal.SIGKILL


def test_rounds_that_do_not_count_are_run_all_the_same(tmp_path: Path) -> None:
    log = tmp_path / "log"

    snapshot.measure({"told": ("/bin/sh", "-c", f"echo >> {log}")}, 2, 60.0, uncounted=3)

    assert len(log.read_text()) == 5
