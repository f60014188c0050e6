"""A diagnosis as text."""

import pytest

from gputop.core.doctor.verdict import Checked, Diagnosis, Severity, Verdict, fail, nothing, ok, unknown, warn
from gputop.core.text.ascii import plain
from gputop.core.text.cells import width
from gputop.report.doctor import problems, report
from gputop.report.grid import Style

LONG = "GPU 3: " + "a rather long sentence about what is wrong with it " * 3
COMMAND = "$ sudo nvidia-smi --gpu-reset -i 3 --and-many-more-words-that-nobody-may-cut-in-two-because-they-are-copied"


def checked(code: str, *verdicts: Verdict) -> Checked:
    gravest = min(verdicts, key=lambda one: one.severity.rank).severity
    return Checked(code=code, question="?", severity=gravest, verdicts=verdicts)


def diagnosis(*checks: Checked, is_root: bool = False) -> Diagnosis:
    return Diagnosis(
        time_s=0.0,
        host="node7",
        is_root=is_root,
        driver_version="570.124.06",
        cuda_version=None,
        simulated=None,
        gpus=1,
        status=0,
        counts={severity: sum(one.severity is severity for one in checks) for severity in Severity},
        checks=checks,
    )


def test_evidence_and_fix_stand_beneath_what_is_not_well() -> None:
    text = report(diagnosis(checked("a.b", fail("GPU 3: ill", evidence=["42 errors"], fix=["Stop it.", "$ reset 3"]))))

    assert text.splitlines()[2:6] == [
        "✗ ACT NOW  a.b  GPU 3: ill",
        "    · 42 errors",
        "    → Stop it.",
        "      $ reset 3",
    ]


def test_a_lesser_verdict_of_a_check_comes_after_the_graver_ones_of_others() -> None:
    text = report(diagnosis(checked("a", fail("one"), warn("two")), checked("b", fail("three"))))

    assert [line.split()[-1] for line in text.splitlines()[2:5]] == ["one", "three", "two"]


def test_checks_that_could_not_be_made_for_one_reason_share_a_line() -> None:
    text = report(
        diagnosis(checked("a", unknown("no driver")), checked("b", unknown("no driver")), checked("c", ok("fine")))
    )

    assert "? unknown  2 checks: no driver\n    a, b\n" in text
    assert text.count("no driver") == 1


def test_what_does_not_apply_is_counted_and_not_listed() -> None:
    text = report(diagnosis(checked("a", nothing("no MIG")), checked("b", nothing("no MPS"))))

    assert "2 not applicable (to list them: --json)" in text
    assert "no MIG" not in text


@pytest.mark.parametrize(("is_root", "count"), [(False, 1), (True, 0)])
def test_root_is_recommended_where_it_would_help(is_root: bool, count: int) -> None:  # noqa: FBT001
    text = report(diagnosis(checked("a", unknown("no permission")), is_root=is_root))

    assert text.count("sudo gputop doctor") == count


@pytest.mark.parametrize("room", [20, 40, 60, 80, 120])
def test_nothing_is_wider_than_the_terminal_but_commands_which_are_never_cut(room: int) -> None:
    text = report(diagnosis(checked("nvml.mismatch", fail(LONG, evidence=[LONG], fix=[LONG, COMMAND]))), room)
    lines = text.splitlines()

    assert sum(COMMAND in line for line in lines) == 1
    assert max(width(line) for line in lines if COMMAND not in line) <= max(40, room)
    assert text.replace("\n", " ").split().count("sentence") == 9  # all of it is there


def test_colours_take_no_room_and_are_only_there_when_asked_for() -> None:
    held = diagnosis(checked("a", fail("ill", evidence=["x"], fix=["y"])))

    assert "\x1b[" not in report(held)
    assert "\x1b[1;31m✗ ACT NOW\x1b[0m" in report(held, 80, Style.COLOUR)


def test_text_from_outside_cannot_steer_the_terminal() -> None:
    text = report(diagnosis(checked("a", fail("\x1b[2J", evidence=["\x07a\nb"], fix=["$ \x1b]0;x"]))))

    assert all(line.isprintable() for line in text.splitlines())


def test_signs_have_replacements() -> None:
    held = diagnosis(checked("a", fail("ill", fix=["y"])), checked("b", ok("fine")))

    assert "?" not in plain(report(held))
    assert plain(report(held)).isascii()


def test_quiet_prints_problems_without_the_checks_that_are_fine() -> None:
    checks = (checked("a", ok("fine")), checked("b", fail("broken", fix=["Mend it."])), checked("c", nothing("no MIG")))
    text = problems(diagnosis(*checks, checked("d", unknown("no access"))))

    assert text.splitlines() == ["✗ ACT NOW  b  broken", "    → Mend it.", "? unknown  d  no access"]
    assert problems(diagnosis(checked("a", ok("fine")))) == ""
