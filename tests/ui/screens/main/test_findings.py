"""Findings on the screen: the panel, the marks, the page; mute, jump, act, past, bell."""

from typing import Any, TypeVar

import pytest
from app_driver import SMALL, WIDE, Stage, staged, text_of, text_on
from examples import NOW, frame, gpu, process

from gputop.core.model.finding import Evidence, Finding, Subject
from gputop.core.model.finding import Stage as Gravity
from gputop.core.model.sample import Frame
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.pages.findings import FindingsScreen

T = TypeVar("T")
LEAKER, IDLER = process(4712, 1, user="bob"), process(4711, 0)


def leak(**fields: Any) -> Finding:
    given: dict[str, Any] = {
        "code": "leak.process",
        "stage": Gravity.ALARM,
        "subject": Subject(label="4712 on GPU 1", process=LEAKER.id, gpu="GPU-00000001"),
        "summary": "grew 31MiB/min",
        "since_s": NOW - 600,
        "stage_since_s": NOW,
        "evidence": (Evidence("grown_bytes", 1, "+744MiB in 24m00"),),
        "remedy": "Look at what keeps tensors alive.",
        "confidence": 0.9,
    }
    return Finding(**given | fields)


def idle() -> Finding:
    subject = Subject(label="4711 on GPU 0", process=IDLER.id, gpu="GPU-00000000")
    return leak(code="idle.holder", stage=Gravity.OBSERVATION, subject=subject, summary="no work for 2h")


def hot() -> Finding:
    subject = Subject(label="GPU 1", gpu="GPU-00000001")
    return leak(code="throttle.thermal", stage=Gravity.SUSPECT, subject=subject, summary="thermal slowdown")


def box(*findings: Finding, second: float = 0.0) -> Frame:
    return frame((gpu(0), gpu(1)), (IDLER, LEAKER), findings=findings, time_s=NOW + second)


def panel(stage: Stage) -> str:
    return text_of(stage.app.main.findings.lines) if stage.app.main.findings.display else ""


def on_top(stage: Stage, kind: type[T]) -> T:
    screen = stage.app.screen
    assert isinstance(screen, kind)
    return screen


def shown(stage: Stage, kind: type[Dialog[Any]]) -> str:
    return text_on(on_top(stage, kind))


async def test_suspects_and_alarms_stand_on_the_screen_and_observations_do_not() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak(), hot(), idle()))

        assert "grew 31MiB/min" in panel(stage)
        assert "thermal slowdown" in panel(stage)
        assert "no work" not in panel(stage)


async def test_the_key_at_the_end_of_the_last_line_cuts_nothing_that_has_room() -> None:
    async with staged(box(leak())) as stage:
        assert "…" not in panel(stage)
        assert panel(stage).rstrip().endswith("F: why")


async def test_where_nothing_is_wrong_there_is_no_panel() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()), box(idle()))

        assert panel(stage) == ""


async def test_what_has_no_room_is_counted() -> None:
    several = [leak(subject=Subject(label=f"GPU {n}", gpu=f"GPU-{n}")) for n in range(5)]
    async with staged(size=SMALL) as stage:
        await stage.deliver(box(*several))

        assert "+3 more: F" in panel(stage)


async def test_processes_and_gpus_with_findings_are_marked() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak(), hot()))

        rows = stage.processes
        assert ["! python" in row for row in rows if "4711" in row or "4712" in row] == [False, True]
        assert "!1 " in stage.gpus
        assert "!0 " not in stage.gpus


async def test_the_page_tells_evidence_and_remedy_of_the_marked_finding() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak(), hot()))
        await stage.press("F")

        page = shown(stage, FindingsScreen)
        assert "+744MiB in 24m00" in page
        assert "Look at what keeps tensors alive." in page


async def test_a_muted_finding_leaves_panel_and_marks_and_comes_back_after_an_hour() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()))
        await stage.press("F", "m", "escape")
        assert panel(stage) == ""
        assert "! python" not in "".join(stage.processes)

        await stage.deliver(box(leak(), second=3601))
        assert "grew 31MiB/min" in panel(stage)


async def test_enter_goes_to_the_process() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()))
        await stage.press("F", "enter")

        selected = stage.app.main.processes.selected
        assert selected is not None
        assert selected.process.pid == 4712


async def test_enter_on_a_finding_about_a_gpu_looks_at_that_gpu() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(hot()))
        await stage.press("F", "enter")

        assert stage.app.view.focus == 1


async def test_acting_on_a_finding_asks_for_a_signal_to_its_process() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()))
        await stage.press("F", "k")

        assert "4712" in shown(stage, SignalScreen)


async def test_what_is_over_is_listed_as_past() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()), box(second=1))
        await stage.press("F", "tab")

        assert "grew 31MiB/min" in shown(stage, FindingsScreen)


@pytest.mark.parametrize("key", ["w", "f9", "m", "enter"])
async def test_a_key_on_a_past_finding_does_not_do_nothing_in_silence(key: str) -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()), box(second=1))
        await stage.press("F", "tab", key)

        assert stage.messages == ["4712 on GPU 1: this finding has ended"]
        assert "F9" not in on_top(stage, FindingsScreen).keys_line()


async def test_where_nothing_is_over_the_page_does_not_say_that_nothing_has_been_wrong() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(leak()))
        await stage.press("F", "tab")

        assert "no past findings yet" in shown(stage, FindingsScreen)


async def test_the_mark_stays_on_its_finding_when_others_come_before_it() -> None:
    async with staged(size=WIDE) as stage:
        await stage.deliver(box(hot()))
        await stage.press("F")
        await stage.deliver(box(leak(), hot(), second=1))

        marked = on_top(stage, FindingsScreen).marked
        assert marked is not None
        assert marked.code == "throttle.thermal"
