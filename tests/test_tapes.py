"""The tapes of this repository: what was recorded once stays readable, and better detectors judge it anew."""

from pathlib import Path

import pytest

from gputop.app.monitoring.analysis import analysed
from gputop.core.model.finding import Stage
from gputop.wire.tape.reader import Tape, open_tape

TAPES = Path(__file__).parent / "tapes"


def tape(name: str) -> Tape:
    found = open_tape(str(TAPES / f"{name}.tape"))
    assert isinstance(found, Tape)
    return found


@pytest.fixture(autouse=True)
def _usual_thresholds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.mark.parametrize("path", sorted(TAPES.glob("*.tape")), ids=lambda path: path.stem)
def test_every_tape_is_played_to_its_end(path: Path) -> None:
    played = tape(path.stem)

    assert sum(1 for _ in played.play()) == played.frames
    assert played.problems == []


def test_a_gpu_that_falls_off_the_bus_and_comes_back_is_found_on_an_old_tape() -> None:
    lost = [each for each in analysed(tape("dying"), "dying").findings if each.finding.code == "gpu.lost"]

    assert [(each.finding.stage, each.passages[0].at_s) for each in lost] == [
        (Stage.ALARM, 20.0), (Stage.ALARM, 140.0),
    ]  # fmt: skip
    assert [each.end_at_s is None for each in lost] == [False, True]


def test_on_a_training_that_is_well_nothing_is_found_to_act_on() -> None:
    found = analysed(tape("training"), "training").findings

    assert [each.finding.code for each in found if each.finding.stage is Stage.ALARM] == []


def test_on_a_real_h100_a_kernel_that_hangs_is_the_only_alarm_and_nothing_else_is_a_suspect() -> None:
    """9m46 of a training that hangs at 2m55, an idle holder, a leak of 1 MiB/s, and 16 processes that come and go.

    Too short for the leak, which takes ten. PCIe rates are those of a counter that wrapped.
    """
    found = analysed(tape("h100"), "h100").findings
    grave = [each for each in found if each.finding.stage is not Stage.OBSERVATION]

    assert [(each.finding.code, each.finding.stage) for each in grave] == [("stuck.kernel", Stage.ALARM)]
    assert {each.finding.code for each in found} == {
        "bound.compute", "orphan.parent", "stuck.kernel", "throttle.power_cap",
    }  # fmt: skip
