"""The GPU page, in the order in which a user asks: what is wrong, what now, what before, who, which board."""

from app_driver import staged, text_of, text_on
from examples import NOW, frame, gpu, process

from gputop.core.detection.watchlist import Standing
from gputop.core.model.catalogue import FAN, POWER_AVERAGE, SERIAL
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import Frame
from gputop.core.recording.gpu_history import History
from gputop.ui.screens.pages.gpu_lines import gpu_page
from gputop.ui.state.plots import Plots
from gputop.ui.state.view import PLOTTED, View

HOT = Finding(
    code="throttle.thermal", stage=Stage.ALARM, subject=Subject(label="GPU 0", gpu="GPU-00000000"), since_s=NOW - 60,
    stage_since_s=NOW - 60,
    summary="hot: 95 °C", remedy="Clean the fans.",
)  # fmt: skip

NOTHING = Standing()


def page(of: Frame, size: tuple[int, int] = (118, 38), standing: Standing = NOTHING) -> list[str]:
    history = History(PLOTTED)
    history.remember(of)
    view = View(history=history, plots=Plots(history), frame=of, standing=standing)
    return text_of(gpu_page(of.gpus[0], view, size).lines).split("\n")


def place(lines: list[str], start: str) -> int:
    return next(number for number, line in enumerate(lines) if line.startswith(start))


def test_identity_does_not_come_before_what_moves() -> None:
    lines = page(frame((gpu(0, {SERIAL: "1234"}),)))
    order = [place(lines, start) for start in ("Now", "UTIL", "MEM", "PWR", "TEMP", "Processes", "Memory", "Identity")]

    assert order == sorted(order)
    assert place(lines, "Serial number") > place(lines, "Identity")
    assert place(lines, "UUID") > place(lines, "Identity")


def test_the_findings_of_the_gpu_come_first() -> None:
    lines = page(frame(1), standing=Standing((HOT,), about={"GPU-00000000": [HOT]}))

    assert "hot: 95 °C" in lines[0]
    assert any("Clean the fans." in line for line in lines)


def test_values_have_their_limits_and_an_absent_one_its_reason() -> None:
    lines = page(frame((gpu(0, {POWER_AVERAGE: Missing.FORBIDDEN}),)))
    now = " ".join(lines[place(lines, "Now") : place(lines, "The last")])

    assert "Memory used 40.0GiB of 80.0GiB" in now
    assert "Temperature 60°C of 89°C" in now
    assert "Power draw – (no permission: needs root or the owner)" in now


def test_a_plot_without_values_says_why() -> None:
    lines = page(frame((gpu(0, {POWER_AVERAGE: Missing.UNSUPPORTED}),)))

    assert "not supported by this GPU or its mode" in lines[place(lines, "PWR")]


def test_plots_take_the_full_width_from_the_first_sample() -> None:
    lines = page(frame(1))

    assert lines[place(lines, "UTIL")].count("\u28ff") + lines[place(lines, "UTIL") + 1].count("\u28ff") >= 100


def test_who_is_on_the_gpu_since_when_is_shown_with_rank_and_memory() -> None:
    rank = process(61, 0, user="ann", owner=Owner(rank=3), started_s=NOW - 7200)
    other = process(62, 1, user="eve")
    lines = page(frame(2, (rank, other)))
    row = lines[place(lines, "Processes") + 2]

    assert row.split()[:7] == ["61", "3", "ann", "01-15", "06:00", "2h00", "10.0GiB"]
    assert not any(line.split()[:1] == ["62"] for line in lines)


def test_on_a_small_terminal_the_path_of_the_interpreter_takes_the_room_of_the_script() -> None:
    long = process(61, 0, command="/opt/llm/envs/training/bin/python -u train.py --config big.toml")
    short = process(62, 0, command="bash run.sh")
    lines = page(frame(1, (long, short)), (78, 22))
    first, second = lines[place(lines, "Processes") + 2 :][:2]

    assert "  train.py --" in first
    assert second.endswith("  bash run.sh") or "  bash run.sh " in second


def test_a_gpu_without_processes_says_so() -> None:
    assert any(line == "Processes  none on this GPU" for line in page(frame(1, ())))


def test_each_absent_metric_has_its_reason() -> None:
    lines = page(frame((gpu(0, {FAN: Missing.UNSUPPORTED}),)))

    assert lines[place(lines, "Fan")].endswith("not supported by this GPU or its mode")


async def test_the_page_of_a_gpu_uses_the_whole_terminal() -> None:
    async with staged(frame(2), size=(160, 50)) as stage:
        await stage.press("1", "i")

        assert stage.app.screen.body.size.width >= 150  # type: ignore[attr-defined]
        assert "GPU 1" in text_on(stage.app.screen)


async def test_a_digit_enlarges_a_gpu_and_shows_only_its_findings_and_processes() -> None:
    cold = Finding(
        code="power.low", stage=Stage.ALARM, subject=Subject(label="GPU 1", gpu="GPU-00000001"), since_s=NOW - 60,
    stage_since_s=NOW - 60,
        summary="cold: no power",
    )  # fmt: skip
    of = frame(8, (process(61, 0), process(62, 1)), findings=(HOT, cold))
    async with staged(of, size=(120, 40)) as stage:
        small = stage.gpus.count("\u28ff")
        await stage.press("1")

        assert stage.gpus.count("╭") == 1
        assert "1 H100" in stage.gpus
        assert stage.gpus.count("UTIL") == stage.gpus.count("TEMP") == 1
        findings = text_of(stage.app.main.findings.lines)
        assert "cold" in findings
        assert "hot" not in findings
        assert not any(" 61 " in line for line in stage.processes)

        await stage.press("escape")

        assert stage.gpus.count("╭") == 8
        assert stage.gpus.count("\u28ff") == small
        assert "hot" in text_of(stage.app.main.findings.lines)


async def test_the_same_digit_shows_all_gpus_again() -> None:
    async with staged(frame(8), size=(120, 40)) as stage:
        await stage.press("1")
        await stage.age(2)
        await stage.press("1")

        assert stage.gpus.count("╭") == 8


async def test_compact_lines_grow_to_a_card_with_a_digit() -> None:
    async with staged(frame(8), size=(120, 40)) as stage:
        await stage.press("g")
        assert "╭" not in stage.gpus

        await stage.press("3")

        assert stage.gpus.count("╭") == 1
