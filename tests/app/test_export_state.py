"""The file in which the totals of users and jobs survive a restart of the exporter."""

import os
import stat
from pathlib import Path

import pytest
from examples import NOW

from gputop.app.exporting.state import StateFile, load
from gputop.core.usage.accounts import Account
from gputop.core.usage.ledger import Kept, Totals

KEPT = (
    Kept(Account("ann", "slurm", "84213"), Totals(gpu_seconds=12.5, energy_j=3.0), NOW),
    Kept(Account("ann", "tree", "4711", 99), Totals(gpu_seconds=1.0), NOW),
)


def saved(path: Path) -> str:
    state = StateFile(str(path), lambda: KEPT)
    state.follow(1000.0)
    state.close()
    return str(path)


def test_totals_come_back(tmp_path: Path) -> None:
    assert load(saved(tmp_path / "export.json")) == KEPT


def test_totals_that_a_client_has_read_are_kept_soon_and_others_once_a_minute(tmp_path: Path) -> None:
    saves, is_read = [], [False]

    def kept() -> tuple[Kept, ...]:
        saves.append(now)
        return KEPT

    state = StateFile(str(tmp_path / "export.json"), kept, lambda: is_read[0])
    for now, is_read[0] in ((1000.0, False), (1006.0, False), (1007.0, True), (1008.0, True), (1067.5, False)):
        state.follow(now)
        state.close()  # waits, and saves once in any case

    assert [saves.count(now) - 1 for now in (1000.0, 1006.0, 1007.0, 1008.0, 1067.5)] == [1, 0, 1, 0, 1]


def test_only_the_owner_can_read_who_uses_what(tmp_path: Path) -> None:
    assert stat.S_IMODE(os.stat(saved(tmp_path / "export.json")).st_mode) == 0o600


def test_after_a_reboot_a_pid_is_another_process(tmp_path: Path) -> None:
    path = Path(saved(tmp_path / "export.json"))
    path.write_text(path.read_text().replace('"boot":"', '"boot":"x'))

    assert load(str(path)) == KEPT[:1]


@pytest.mark.parametrize("content", ["", "{", '{"boot":1}', '{"boot":"","kept":[{"account":1}]}', "\x00"])
def test_a_broken_file_is_reported_and_the_counters_begin_at_0(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export.json"
    path.write_text(content)

    assert load(str(path)) == ()
    assert capsys.readouterr().err.startswith("gputop: the counters begin at 0: cannot use ")


def test_a_file_that_cannot_be_written_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    state = StateFile(str(tmp_path / "file" / "export.json"), lambda: KEPT)
    state.close()
    state.close()

    assert capsys.readouterr().err.count("cannot keep the counters") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_believes_no_file_that_another_user_can_replace(tmp_path: Path) -> None:
    path = saved(tmp_path / "export.json")
    os.chown(tmp_path, 1001, 1001)

    assert load(path) == ()
