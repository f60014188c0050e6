"""The answers whether gputop may copy itself to a host: none is lost, and none that is not stored seems so."""

import fcntl
import threading
from pathlib import Path

import pytest

from gputop.app.remote.consent import Consents
from gputop.machine.files.private import replace_file

PATIENCE_S = 30


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of the answers; the folder for them is there."""
    (tmp_path / "gputop").mkdir(mode=0o700)
    return tmp_path / "gputop" / "hosts.json"


def consents(file: Path) -> Consents:
    return Consents({"XDG_STATE_HOME": str(file.parents[1]), "HOME": "/"})


@pytest.mark.parametrize(
    "content",
    [b'{"node1": tr', b'{"node1": "maybe"}', b'{"node1\xff": true}', b"[" * 9999],
    ids=["cut", "kind", "unicode", "deep"],
)
def test_answers_that_cannot_be_read_are_discarded(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    problem = consents(file).keep(["node2"], answer=True)

    assert problem.endswith("has no answers that gputop can read. Remove it, and gputop asks you again")
    assert file.read_bytes() == content
    assert consents(file).of("node1") is None


def test_a_file_that_cannot_be_opened_loses_its_answers(file: Path) -> None:
    file.write_bytes(b" " * (2 << 20))
    problem = consents(file).keep(["node2"], answer=True)

    assert problem.startswith("cannot store the answer in ")
    assert problem.endswith("it is larger than 1024 KiB")
    assert file.stat().st_size == 2 << 20


def test_an_answer_that_another_gputop_stores_at_the_same_time_is_lost(file: Path) -> None:
    lock = file.with_name("hosts.json.lock")
    lock.touch(0o600)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = threading.Thread(target=consents(file).keep, args=(["node2"], True), daemon=True)
        second.start()
        second.join(0.2)  # a keep without the lock is done by then, and the next line discards its answer
        replace_file(str(file), b'{"node1":false}')
    second.join(PATIENCE_S)

    assert (consents(file).of("node1"), consents(file).of("node2")) == (False, True)
