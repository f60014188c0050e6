"""One verdict for each trouble: what the gravest finding takes in, and what it leaves alone."""

from msgspec.structs import replace

from gputop.core.detection.merging import About, merged
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.process_id import ProcessId

ONE, OTHER = ProcessId(11, 5), ProcessId(12, 5)


def about(code: str, stage: Stage, *processes: ProcessId) -> About:
    finding = Finding(
        code=code, stage=stage, subject=Subject(label=code, process=processes[0]), summary=f"says {code}", since_s=0.0,
        stage_since_s=0.0,
    )  # fmt: skip
    return About(finding, frozenset(processes))


def codes(*found: About) -> list[str]:
    return [one.code for one in merged(found)]


def test_a_hang_takes_in_what_else_is_said_of_the_same_seconds_as_evidence() -> None:
    hang = about("stuck.collective", Stage.ALARM, ONE, OTHER)
    (found,) = merged([about("busy.fake", Stage.OBSERVATION, ONE), about("spin.host", Stage.SUSPECT, OTHER), hang])

    assert found.code == "stuck.collective"
    assert [(one.name, one.value, one.text) for one in found.evidence] == [
        ("spin.host", "suspect", "also seen: says spin.host"),
        ("busy.fake", "observation", "also seen: says busy.fake"),
    ]  # fmt: skip


def test_a_hung_job_is_not_called_compute_bound_in_its_own_evidence() -> None:
    before = about("bound.compute", Stage.OBSERVATION, ONE), about("bound.memory", Stage.OBSERVATION, OTHER)

    (hang,) = merged([*before, about("stuck.collective", Stage.ALARM, ONE, OTHER)])

    assert hang.evidence == ()


def test_a_slow_rank_shows_what_limits_its_job() -> None:
    (slow,) = merged([about("bound.input", Stage.OBSERVATION, ONE), about("straggler.host", Stage.SUSPECT, ONE)])

    assert [one.text for one in slow.evidence] == ["also seen: says bound.input"]


def test_a_mere_observation_does_not_hide_a_suspect() -> None:
    waits = about("stuck.collective", Stage.OBSERVATION, ONE, OTHER)

    assert codes(waits, about("straggler.host", Stage.SUSPECT, OTHER)) == ["straggler.host"]


def test_findings_about_other_processes_stay() -> None:
    both = about("stuck.kernel", Stage.ALARM, ONE), about("idle.holder", Stage.OBSERVATION, OTHER)

    assert codes(*both) == ["stuck.kernel", "idle.holder"]


def test_a_leak_and_a_hang_of_one_process_are_two_troubles() -> None:
    both = about("stuck.kernel", Stage.ALARM, ONE), about("leak.process", Stage.ALARM, ONE)

    assert sorted(codes(*both)) == ["leak.process", "stuck.kernel"]


def test_two_stragglers_of_a_job_are_not_one() -> None:
    both = about("straggler.gpu", Stage.SUSPECT, ONE), about("straggler.host", Stage.SUSPECT, OTHER)

    assert codes(*both) == ["straggler.gpu", "straggler.host"]


def test_the_heat_of_a_gpu_is_one_finding_and_that_of_another_gpu_its_own() -> None:
    def hot(code: str, stage: Stage, uuid: str) -> About:
        finding = Finding(
            code=code, stage=stage, subject=Subject(label=uuid, gpu=uuid), summary=f"says {code}", since_s=0.0,
            stage_since_s=0.0,
        )  # fmt: skip
        return About(finding, ())

    slowed = hot("throttle.thermal", Stage.ALARM, "GPU-0")
    first, second = merged(
        [hot("temperature.memory", Stage.SUSPECT, "GPU-0"), slowed, hot("temperature.gpu", Stage.SUSPECT, "GPU-1")]
    )

    assert (first.code, second.code) == ("throttle.thermal", "temperature.gpu")
    assert [one.text for one in first.evidence] == ["also seen: says temperature.memory"]
    assert second.evidence == ()


def test_without_more_evidence_a_process_is_said_to_be_idle_as_well_as_stalled() -> None:
    stalled, idle = about("stalled.process", Stage.SUSPECT, ONE), about("idle.holder", Stage.OBSERVATION, ONE)
    sure = About(replace(stalled.finding, confidence=0.9), stalled.processes)

    assert codes(stalled, idle) == ["stalled.process", "idle.holder"]
    assert codes(sure, idle) == ["stalled.process"]
