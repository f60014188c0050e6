from pathlib import Path

from gputop.machine.plugins.failures import Failures


def failures(folder: Path) -> Failures:
    return Failures({"XDG_STATE_HOME": str(folder), "HOME": str(folder)}, lambda: 5.0)


def test_the_last_failure_of_each_row_is_kept_until_it_works(tmp_path: Path) -> None:
    held = failures(tmp_path)
    for key, reason in (("a", "one"), ("b", "two"), ("a", "three")):
        held.failed("panels", key, reason)
    kept = {one.key: one.reason for one in failures(tmp_path).all()}
    held.worked("panels", "a")

    assert kept == {"a": "three", "b": "two"}
    assert [one.key for one in held.all()] == ["b"]


def test_what_cannot_be_read_or_written_is_no_failure_of_its_own(tmp_path: Path) -> None:
    held = failures(tmp_path)
    held.failed("panels", "a", "one")
    (tmp_path / "gputop" / "plugins.json").write_text("[[[")
    nowhere = failures(tmp_path / "gputop" / "plugins.json")
    nowhere.failed("panels", "a", "one")

    assert held.all() == ()
    assert nowhere.all() == ()
