"""The audit log does not grow for ever, and nobody's line is lost when it is moved."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from children import signal_to

from gputop.core.protocol.command import Target
from gputop.core.protocol.outcome import Result, Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.rotating_log import open_bounded

MOST = 20_000
WRITERS, CHANGES = 4, 40  # in all less than twice MOST, so that the file is moved once
REFUSED = Result(pid=1, start_ticks=5, status=Status.REFUSED, detail="it is init")


def audit(place: Path, most_bytes: int = MOST) -> Audit:
    return Audit(str(place), "ann", opener=partial(open_bounded, most_bytes=most_bytes))


def attempt(log: Audit, number: str) -> None:
    change = signal_to(Target(1, 5))
    log.begin(type(change)(id=number, signal=change.signal, targets=change.targets))
    log.conclude(REFUSED, None)
    assert log.end() == ""


def ids(place: Path, name: str) -> list[str]:
    file = place / name
    return [json.loads(line)["id"] for line in file.read_text().splitlines()] if file.exists() else []


def test_a_log_that_is_too_long_becomes_the_older_one_and_stays_private(tmp_path: Path) -> None:
    log = audit(tmp_path, most_bytes=1)
    attempt(log, "first")
    attempt(log, "second")

    assert (ids(tmp_path, "audit.old.jsonl"), ids(tmp_path, "audit.jsonl")) == (["first"], ["second"])
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}


def test_there_are_two_files_at_the_most_and_neither_is_long(tmp_path: Path) -> None:
    log = audit(tmp_path, most_bytes=1000)
    for number in range(100):
        attempt(log, str(number))

    assert sorted(file.name for file in tmp_path.iterdir()) == ["audit.jsonl", "audit.old.jsonl"]
    assert all(file.stat().st_size < 1500 for file in tmp_path.iterdir())
    assert ids(tmp_path, "audit.jsonl")[-1] == "99"


def test_a_log_that_another_gputop_writes_is_not_moved_under_it(tmp_path: Path) -> None:
    one, other = audit(tmp_path, most_bytes=1), audit(tmp_path, most_bytes=1)
    attempt(one, "before")
    one.begin(signal_to(Target(1, 5)))  # moves it, and has the next one open
    attempt(other, "meanwhile")
    one.conclude(REFUSED, None)
    one.end()

    assert ids(tmp_path, "audit.old.jsonl") == ["before"]
    assert ids(tmp_path, "audit.jsonl") == ["meanwhile", signal_to().id]


def test_gputops_that_write_at_once_lose_no_line(tmp_path: Path) -> None:
    def write(writer: int) -> None:
        log = audit(tmp_path)
        for number in range(CHANGES):
            attempt(log, f"{writer}-{number}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))

    written = ids(tmp_path, "audit.old.jsonl") + ids(tmp_path, "audit.jsonl")
    assert ids(tmp_path, "audit.old.jsonl")
    assert sorted(written) == sorted(f"{w}-{n}" for w in range(WRITERS) for n in range(CHANGES))


def test_where_it_cannot_be_moved_it_is_written_all_the_same(tmp_path: Path) -> None:
    log = audit(tmp_path, most_bytes=1)
    os.mkdir(tmp_path / "audit.old.jsonl")
    attempt(log, "first")
    attempt(log, "second")

    assert ids(tmp_path, "audit.jsonl") == ["first", "second"]
