"""The screen of one process."""

from collections.abc import Callable
from math import sin

import pytest
from app_driver import MIDDLE, SMALL, FakeLink, Stage, staged, text_of, text_on
from examples import GIB, NOW, frame, process
from msgspec.structs import replace
from rich.cells import cell_len
from textual.pilot import Pilot

from gputop.core.inspection.inspection import (
    Ancestor,
    Inspection,
    Limit,
    Mapping,
    MemoryParts,
    MemoryShares,
    OpenFile,
    Socket,
    Thread,
    Transfers,
    Variable,
)
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.progress import Progress, TorchMemory
from gputop.core.model.sample import Frame, HostProcess, Job, JobKind, Presence
from gputop.core.protocol.command import Inspect, SendSignal, Target
from gputop.core.protocol.link import Down
from gputop.core.settings.settings import Settings
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.ui.screens.pages.gpu import GpuScreen
from gputop.ui.screens.pages.process import ProcessScreen
from gputop.ui.screens.pages.process_lines import wrapped

PID = 48_276
HTOP = Settings(keymap="htop")  # w shows the command line
SLURM = Owner(
    slurm=SlurmStep(job="84213", step="0"),
    framework="torchrun rank 0/8",
    environment="llm",
    rank=0,
    world_size=8,
    trusted=("slurm",),
)


def rank(owner: Owner = SLURM, **fields: object) -> HostProcess:
    return process(PID, 0, command="/opt/llm/bin/python -u train.py", owner=owner, state="R", **fields)


def shown(*processes: HostProcess, **fields: object) -> Frame:
    held = processes or (rank(),)
    job = Job(
        key="slurm:84213.0", kind=JobKind.SLURM, label="84213.0", launcher=process(48_211).id,
        members=(process(48_211).id, *(each.id for each in held)),
    )  # fmt: skip
    return frame(2, held, jobs=(job,), **fields)


def found(asked: Inspect, **fields: object) -> Inspection:
    """Return what a sampler would answer."""
    given: dict[str, object] = {
        "id": asked.id, "pid": asked.pid, "start_ticks": asked.start_ticks, "time_s": NOW, "name": "python",
        "state": "R", "user": "ann", "started_s": NOW - 3600,
        "command": ("/opt/llm/bin/python", "-u", "train.py", "--note", "a long one " * 12),
        "directory": "/home/ann/llm", "executable": "/opt/llm/bin/python3.11",
        "environment": (
            Variable("CUDA_VISIBLE_DEVICES", "0"),
            Variable("HF_TOKEN", "hf_secret" if asked.reveal else None, is_secret=True),
            *(Variable(f"SETTING_{n}", "[b]x[/b]") for n in range(9)),
        ),
        "cgroup": ("0::/system.slice/slurmstepd.scope/job_84213/step_0/user/task_0",), "owner": SLURM,
        "devices": (OpenFile(7, "/dev/nvidiactl"), OpenFile(8, "/dev/nvidia0")),
        "files": (OpenFile(0, "/dev/null"), OpenFile(7, "/dev/nvidiactl"), OpenFile(8, "/dev/nvidia0")),
        "open_files": 3,
        "threads": tuple(Thread(PID + n, f"worker-{n}", "S", 100.0 - n) for n in range(20)), "thread_count": 20,
        "voluntary_switches": 3000, "involuntary_switches": 20,
        "transfers": Transfers(
            read_bytes=GIB, written_bytes=GIB, storage_read_bytes=GIB, storage_written_bytes=GIB
        ),
        "memory": MemoryParts(
            resident_bytes=3 * GIB, anonymous_bytes=2 * GIB, file_bytes=GIB, shared_bytes=0, swapped_bytes=0
        ),
        "mappings": (Mapping("/usr/lib/libcuda.so.570.124.06", GIB),),
        "limits": (Limit("open files", 1024, 1_048_576), Limit("locked memory", None, None)),
        "sockets": (
            Socket(protocol="tcp", local="10.0.0.7:43211", remote="10.0.0.7:29500", state="established"),
        ),
        "shares": MemoryShares(uss_bytes=2 * GIB, pss_bytes=2 * GIB + GIB // 4, swap_bytes=0),
        "ancestors": (Ancestor(48_211, "torchrun"), Ancestor(1, "systemd")),
    }  # fmt: skip
    return Inspection(**(given | fields))  # type: ignore[arg-type] # fields of Inspection


def questions(stage: Stage) -> list[Inspect]:
    return [command for command in stage.link.sent if isinstance(command, Inspect)]


async def answered(stage: Stage, **fields: object) -> None:
    await stage.deliver(found(questions(stage)[-1], **fields))


def screen(stage: Stage) -> ProcessScreen:
    assert isinstance(stage.app.screen, ProcessScreen)
    return stage.app.screen


def page(stage: Stage) -> str:
    return text_of(screen(stage).page(100, 40))


def picture(stage: Stage) -> str:
    return text_on(screen(stage))


async def test_enter_opens_the_selected_process_with_what_the_frame_knows() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")

        assert screen(stage).process.pid == PID
        assert "R running · started 1h00 ago" in page(stage)
        assert "job 84213.0: 2 processes · launcher 48211" in page(stage)
        assert "Slurm 84213.0 · torchrun rank 0/8 · environment llm" in page(stage)
        assert "10.0GiB of 80.0GiB" in page(stage)
        assert "reading the details" in page(stage)


async def test_the_memory_that_pytorch_reports_is_hidden() -> None:
    memory = TorchMemory(device=0, allocated=30 * GIB, reserved=60 * GIB, peak=50 * GIB, retries=2, ooms=1)
    async with staged(shown(rank(progress=Progress(time_s=NOW, step=4, torch=(memory,))))) as stage:
        await stage.press("down", "enter")

        assert "30.0GiB allocated, 30.0GiB of 60.0GiB cached and unused" in page(stage)
        assert "1 out of memory" in page(stage)


async def test_a_claimed_step_pod_or_container_looks_like_a_proven_one() -> None:
    claimed = Owner(
        slurm=SlurmStep(job="84213", step="0"), pod=Pod(uid="u", name="bert-0"), container=Container(runtime="docker")
    )
    async with staged(shown(rank(owner=claimed))) as stage:
        await stage.press("down", "enter")

        words = "Slurm 84213.0 (unverified) · pod bert-0 (unverified) · container docker (unverified)"
        assert words in page(stage)


async def test_a_folded_launcher_is_itself_and_not_its_first_worker() -> None:
    launcher = process(9, gpus=(), command="torchrun", parent_pid=1)
    worker = process(10, 0, parent_pid=9)
    async with staged(frame(1, (worker,), relatives=(launcher,))) as stage:
        await stage.press("t", "home", "minus", "enter")

        assert screen(stage).process == launcher


async def test_enter_without_a_selection_shows_the_gpu() -> None:
    async with staged(shown()) as stage:
        await stage.press("enter")

        assert isinstance(stage.app.screen, GpuScreen)


async def test_a_part_without_a_selection_says_what_to_do() -> None:
    async with staged(shown()) as stage:
        await stage.press("e")

        assert stage.app.screen is stage.app.main
        assert "Select a process first" in next(toast for toast in stage.messages)


async def test_the_sampler_is_asked_for_this_very_process() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")

        asked = questions(stage)[0]
        assert (asked.pid, asked.start_ticks, asked.reveal) == (PID, PID * 10, False)


async def test_what_the_sampler_found_is_shown() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await answered(stage)

        for text in (
            "python3.11",
            "torchrun",
            "worker-0",
            "3,000 voluntary",
            "libcuda.so",
            "/dev/nvidia0",
            "SETTING_8",
        ):
            assert text in page(stage)


async def test_it_is_asked_again_only_when_the_answer_is_there_or_long_overdue() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        screen(stage).ask()
        waiting = len(questions(stage))
        await answered(stage)
        screen(stage).ask()
        again = len(questions(stage))
        stage.clock.now += 11
        screen(stage).ask()

        assert (waiting, again, len(questions(stage))) == (1, 2, 3)


async def test_the_answer_to_an_older_question_is_left_alone() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await stage.deliver(found(Inspect(id="other", pid=PID)))

        assert screen(stage).inspection is None


@pytest.mark.parametrize(
    ("key", "title"),
    [("e", "Environment"), ("l", "Open files"), ("x", "GPU device files")],
)
async def test_a_part_can_be_opened_straight_away(key: str, title: str) -> None:
    async with staged(shown(), size=(80, 16)) as stage:
        await stage.press("down", key)
        await answered(stage)

        assert title in picture(stage)


@pytest.mark.parametrize("key", ["l", "x"])
async def test_a_key_in_the_screen_puts_its_part_at_the_top(key: str) -> None:
    titles = {"l": "Open files", "x": "GPU device files"}
    async with staged(shown(), size=(80, 12)) as stage:
        await stage.press("down", "enter")
        await answered(stage)
        await stage.press(key)

        assert titles[key] in picture(stage).splitlines()[1]


async def test_the_place_is_kept_when_parts_above_it_grow() -> None:
    async with staged(shown(), size=(80, 12)) as stage:
        await stage.press("down", "l")
        await answered(stage)
        screen(stage).ask()
        await answered(stage, command=("a long command line " * 40,))

        assert "Open files" in picture(stage).splitlines()[1]


async def test_secrets_are_masked_until_s_asks_for_them() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "e")
        await answered(stage)
        masked = page(stage)
        await stage.press("s")
        asked = questions(stage)[-1]
        await answered(stage)
        revealed = page(stage)
        await stage.press("s")

        assert "HF_TOKEN=••••••••" in masked
        assert "1 secret masked" in masked
        assert "s secrets" in picture(stage)
        assert asked.reveal
        assert "HF_TOKEN=hf_secret" in revealed
        assert "hf_secret" not in page(stage)


async def test_a_secret_of_the_command_line_is_masked_until_s_asks_for_it() -> None:
    command = ("vllm", "serve", "--api-key", "hunter2")
    async with staged(shown(), settings=HTOP) as stage:
        await stage.press("down", "w")
        await answered(stage, command=command)
        masked = page(stage)
        await stage.press("s")
        await answered(stage, command=command)

        assert "vllm serve --api-key '••••••••'" in masked
        assert "hunter2" not in masked
        assert "vllm serve --api-key hunter2" in page(stage)


async def test_t_shows_all_threads() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await answered(stage)
        few = page(stage)
        await stage.press("t")

        assert "worker-11" in few
        assert "worker-12" not in few
        assert "… and 8 more" in few
        assert "worker-19" in page(stage)


async def test_search_goes_to_the_line_and_n_to_the_next() -> None:
    async with staged(shown(), size=(80, 12)) as stage:
        await stage.press("down", "enter")
        await answered(stage)
        await stage.press("slash", *"worker-")
        typed = picture(stage)
        await stage.press("enter")
        first = picture(stage).splitlines()[1]
        await stage.press("n")

        assert screen(stage).text == "worker-"
        assert "worker-0" in typed
        assert "worker-0" in first
        assert "worker-1" in picture(stage).splitlines()[1]


async def test_a_text_that_is_nowhere_is_said_to_be() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter", "slash", *"zzz")

        assert "no match for zzz on this page" in picture(stage)


async def test_esc_ends_the_search_and_then_the_screen() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter", "slash", "q", "escape")
        still = isinstance(stage.app.screen, ProcessScreen)
        await stage.press("escape")

        assert still
        assert stage.app.screen is stage.app.main


async def test_a_process_that_has_ended_says_so_and_keeps_what_was_known() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await answered(stage)
        screen(stage).ask()
        ended = Inspection(id=questions(stage)[-1].id, pid=PID, problem="it has exited", has_ended=True)
        await stage.deliver(ended, shown(process(5), time_s=NOW + 7200))
        count = len(questions(stage))
        screen(stage).ask()

        assert "it has exited. This page shows its last values." in page(stage)
        assert "worker-0" in page(stage)
        assert "10.0GiB" in page(stage)
        assert "started 1h00 ago" in page(stage)
        assert len(questions(stage)) == count


async def test_a_process_that_only_leaves_the_gpu_has_not_ended() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await answered(stage)
        await stage.deliver(shown(process(5)))

        assert "This process no longer uses a GPU." in page(stage)
        assert "ended" not in page(stage)


async def test_a_pid_that_is_gone_is_not_asked_for() -> None:
    gone = process(PID, presence=Presence.GONE, start_ticks=None, command="", state=None)
    async with staged(shown(gone)) as stage:
        await stage.press("down", "enter")

        assert questions(stage) == []
        assert Presence.GONE.text in page(stage)


async def test_what_may_not_be_read_says_why() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await answered(stage, environment=(), missing={"environment": Missing.FORBIDDEN})

        assert Missing.FORBIDDEN.text in page(stage)


async def test_frames_go_on_below_and_in_the_plots() -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter")
        await stage.deliver(shown(rank(cpu_percent=350.0), time_s=NOW + 2))

        assert "CPU 350%" in page(stage)
        assert "of 400%" in page(stage)
        assert "⣿" in page(stage) or "⣀" in page(stage)


async def test_markup_and_wide_signs_are_shown_as_they_are_and_aligned() -> None:
    odd = ("训练", "[bold]x[/bold]", "模型" * 60)
    async with staged(shown(), size=(60, 30), settings=HTOP) as stage:
        await stage.press("down", "w")
        await answered(stage, command=odd, name="[red]")

        assert "[bold]x[/bold]" in page(stage)
        assert "[red]" in picture(stage)
        strips = stage.app.screen._compositor.render_strips()
        assert {strip.cell_length for strip in strips} == {60}
        assert all(strip.text.rstrip().endswith(("│", "╮", "╯")) for strip in strips)


@pytest.mark.parametrize("width", [3, 7, 20])
@pytest.mark.parametrize("text", ["", "a", "a  b", "训练 模型模型模型模型模型", "x" * 50, "one two three four"])
def test_wrapped_text_keeps_all_signs_and_fits(text: str, width: int) -> None:
    parts = wrapped(text, width)

    assert all(cell_len(part) <= width for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


async def test_ascii_mode_draws_nothing_else() -> None:
    async with staged(shown(), is_ascii=True) as stage:
        await stage.press("down", "enter")
        await answered(stage)

        assert all(strip.text.isascii() for strip in stage.app.screen._compositor.render_strips())


@pytest.mark.parametrize(("size", "keys"), [(MIDDLE, ()), (SMALL, ()), (SMALL, ("e",))])
def test_what_it_looks_like(snap_compare: Callable[..., bool], size: tuple[int, int], keys: tuple[str, ...]) -> None:
    link = FakeLink()
    app = GputopApp(link, ViewOptions(theme="dark", own_user="ann"), clock=lambda: 100.0)

    async def play(pilot: Pilot[Down]) -> None:
        await pilot.pause()
        assert link.receive is not None
        for second in range(0, 240, 2):
            busy = rank(cpu_percent=150 + 100 * sin(second / 20))
            use = replace(busy.gpus[0], sm_percent=50 + 45 * sin(second / 9), memory_bytes=(10 + second // 8) * GIB)
            app.view.tracks.remember(shown(replace(busy, gpus=(use,)), time_s=NOW - 240 + second))
        link.receive(shown())
        await pilot.pause()
        await pilot.press("down", "enter")
        asked = link.sent[-1]
        assert isinstance(asked, Inspect)
        link.receive(found(asked))
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)


@pytest.mark.parametrize(("keys", "name"), [("f9,enter", "SIGTERM"), ("K,y", "SIGKILL")])
async def test_a_signal_can_be_sent_from_here(keys: str, name: str) -> None:
    async with staged(shown()) as stage:
        await stage.press("down", "enter", *keys.split(","))
        (command,) = [one for one in stage.link.sent if isinstance(one, SendSignal)]

        assert (command.signal, command.targets) == (name, (Target(PID, PID * 10),))
        assert isinstance(stage.app.screen, ProcessScreen)
