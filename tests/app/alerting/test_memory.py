"""What a receiver knows survives a restart, in a file of bounded size that one process writes."""

from pathlib import Path

import pytest
from alert_examples import alert

from gputop.app.alerting.memory import AlertMemory, memory_of
from gputop.app.backend.backend import BackendRequest
from gputop.core.notification.outbox import KeptAlert
from gputop.core.settings.receivers import Receiver, ReceiverKind
from gputop.machine.small_file import MOST_BYTES

OPS = Receiver(name="ops", kind=ReceiverKind.WEBHOOK, url="http://a")


def memory(path: Path) -> AlertMemory:
    return AlertMemory(str(path), -1)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    kept = (KeptAlert(alert(), False, 1.0), KeptAlert(alert("leak").ended(5e9), None, None, 2.0))

    assert memory(tmp_path / "a.json").save(kept) == ""
    assert memory(tmp_path / "a.json").load() == kept


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"version":1,"saved_s":1}', b'{"version":9,"saved_s":9e99,"alerts":[1]}']
)
def test_an_unusable_or_old_file_is_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)

    assert memory(tmp_path / "a.json").load() == ()


def test_the_file_is_bounded_and_the_first_alerts_are_kept(tmp_path: Path) -> None:
    kept = tuple(KeptAlert(alert(f"code{at}", summary="x" * 1900), None) for at in range(1000))

    assert memory(tmp_path / "a.json").save(kept) == ""
    assert (tmp_path / "a.json").stat().st_size <= MOST_BYTES
    loaded = memory(tmp_path / "a.json").load()
    assert loaded == kept[: len(loaded)]
    assert len(loaded) > 300


def test_a_disk_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    broken = memory(tmp_path / "a.json")

    assert "cannot keep what was sent in" in broken.save(())
    assert broken.save(()) == ""


def test_a_second_process_for_the_same_receiver_keeps_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said: list[str] = []
    first = memory_of(BackendRequest(), said.append, OPS)
    other = memory_of(BackendRequest(demo="mig"), said.append, OPS)
    second = memory_of(BackendRequest(), said.append, OPS)

    assert (first is None, other is None, second is None) == (False, False, True)
    assert said == ["receiver ops: another gputop sends to it too, so it gets each message twice"]
