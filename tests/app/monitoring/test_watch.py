"""gputop watch: what it finds, and what the exit status says."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from examples import NOW, frame, gpu

from gputop.app.monitoring.watch import Watch, watched
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.sample import Frame, GpuState


def gputop(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )


def finding(stage: Stage, code: str = "it") -> Finding:
    return Finding(
        code=code,
        stage=stage,
        subject=Subject(label="GPU 0", gpu="GPU-0"),
        summary=stage.value,
        since_s=NOW,
        stage_since_s=NOW,
    )


def found_in(*findings: Sequence[Stage], **fields: Any) -> tuple[Watch, list[list[str]]]:
    """Return what is found in frames with findings of these stages, a second apart; and what is told in each."""
    frames = iter(
        [
            frame(findings=tuple(finding(stage) for stage in held), time_s=NOW + second, **fields)
            for second, held in enumerate(findings)
        ]
    )
    told: list[list[str]] = []

    def tell(_: Frame, new: Sequence[Finding]) -> None:
        told.append([one.stage.value for one in new])

    clock = count(500.0)
    found = watched(lambda: next(frames), lambda: None, lambda: len(told) == len(findings), tell, lambda: next(clock))
    return found, told


def test_a_clock_that_is_set_makes_a_watch_of_seconds_one_of_hours() -> None:
    frames = iter([frame(time_s=NOW), frame(time_s=NOW + 18_000), frame(time_s=NOW - 18_000)])
    clock = count(500.0)
    seen: list[Frame] = []
    found = watched(
        lambda: next(frames),
        lambda: None,
        lambda: len(seen) == 3,
        lambda held, _: seen.append(held),
        lambda: next(clock),
    )

    assert (found.began_s, found.length_s, found.frames) == (NOW, 2.0, 3)


@pytest.mark.parametrize(
    ("stages", "status"),
    [((), 0), ((Stage.OBSERVATION,), 0), ((Stage.SUSPECT,), 1), ((Stage.ALARM,), 2)],
)
def test_the_status_is_that_of_the_gravest_finding(stages: tuple[Stage, ...], status: int) -> None:
    assert found_in(stages)[0].status == status


def test_what_was_grave_and_is_over_still_counts() -> None:
    found, _ = found_in([Stage.ALARM], [], [])

    assert found.status == 2
    assert found.findings[0].end_at_s == 1.0


def test_a_box_without_a_gpu_that_answers_could_not_be_looked_at() -> None:
    found, _ = found_in((), gpus=(gpu(0, state=GpuState.HUNG),))

    assert (found.status, found.problems) == (3, ("no GPU answers",))


def test_a_box_without_a_gpu_says_why_it_could_not_be_looked_at() -> None:
    found, _ = found_in((), gpus=())

    assert found.status == 3
    assert "the driver lists no GPU" in found.problems[0]


def test_a_watch_that_is_too_short_to_judge_does_not_say_that_all_is_well() -> None:
    found, _ = found_in((), (Stage.OBSERVATION,), judged_in_s=117.0)

    assert (found.status, found.judged_in_s) == (3, 117.0)
    assert found.problems == ("not judged yet: 1s is too short, gputop needs 1m58",)


def test_what_is_grave_counts_however_short_the_watch() -> None:
    assert found_in((Stage.SUSPECT,), judged_in_s=117.0)[0].status == 1


def test_a_finding_is_told_when_it_comes_and_when_it_is_graver() -> None:
    _, told = found_in([Stage.SUSPECT], [Stage.SUSPECT], [Stage.ALARM], [Stage.SUSPECT], [Stage.ALARM])

    assert told == [["suspect"], [], ["alarm"], [], []]


@pytest.mark.parametrize("mistake", [["-i", "9"], ["--for", "banana"], ["--wehre", "x"], ["--where", "usr:ann"]])
def test_a_slip_of_the_pen_is_no_alarm(mistake: list[str]) -> None:
    assert gputop("watch", "--demo", *mistake).returncode == 64


def test_the_command_prints_json_and_ends_with_its_status() -> None:
    done = gputop("watch", "--demo", "workstation", "--for", "0.3s", "--interval", "0.1", "--json")

    assert done.returncode == json.loads(done.stdout)["status"]


def test_a_duration_without_a_unit_is_refused_in_words() -> None:
    done = gputop("watch", "--demo", "--for", "soon")

    assert done.returncode == 64
    assert "soon" in done.stderr


def test_a_simulated_box_is_judged_with_its_past_however_short_the_watch() -> None:
    done = gputop("watch", "--demo", "trouble", "--for", "0.3s", "--interval", "0.1", "--json")
    found = {one["finding"]["code"]: one["finding"] for one in json.loads(done.stdout)["findings"]}
    evidence = [one["name"] for one in found["leak.process"]["evidence"]]

    assert done.returncode == 2
    assert "stuck.collective" in found
    assert "torch_allocated_bytes" in evidence


@pytest.mark.parametrize("is_on", [True, False])
def test_a_watch_asks_where_a_hang_hangs_only_if_the_user_wants_it(tmp_path: Path, *, is_on: bool) -> None:
    (tmp_path / "gputop").mkdir()
    (tmp_path / "gputop" / "config.toml").write_text(f"insight_on_alarm = {str(is_on).lower()}\n")
    watching = ("watch", "--demo", "trouble", "--for", "0.1s", "--interval", "0.1", "--json")
    done = gputop(*watching, XDG_CONFIG_HOME=str(tmp_path))
    found = {one["finding"]["code"]: one["finding"] for one in json.loads(done.stdout)["findings"]}
    evidence = [one["text"] for one in found["stuck.collective"]["evidence"] if one["name"] == "nccl_moves"]

    assert len(evidence) == is_on
    assert all("NCCL RAS: rank 0 never entered all-reduce 1,204" in text for text in evidence)
