"""The signal dialog: who is hit is settled when it opens, and SIGKILL is never one careless key away."""

from typing import Any

import pytest
from app_driver import FakeLink, Stage, staged, text_of, text_on
from examples import GIB, frame, process
from msgspec.structs import replace
from textual.events import Key

from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, GpuProcess, Job, JobKind, Presence
from gputop.core.protocol.command import ReadStatus, SendSignal, Target, WatchHost
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.core.settings.settings import Settings
from gputop.core.text.text import clean
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.escalation import EscalationScreen
from gputop.ui.screens.dialogs.outcome import OutcomeScreen
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.state.signal_targets import common_command


def identity(pid: int) -> ProcessId:
    return ProcessId(pid, pid * 10)


def target(pid: int) -> Target:
    return Target(pid, pid * 10)


def some(*pids: int, **fields: Any) -> Frame:
    return frame(1, tuple(process(pid) for pid in pids), **fields)


def led() -> Frame:
    """A launcher without a GPU, its workers 20 and 21 on one, and a stranger."""
    workers = (process(20, parent_pid=10), process(21, parent_pid=10), process(30))
    members = tuple(map(identity, (10, 20, 21)))
    job = Job(key="torch:1", kind=JobKind.TORCH, label="torchrun", launcher=identity(10), members=members)
    return frame(1, workers, relatives=(process(10, gpus=(), command="torchrun"),), jobs=(job,))


def sent(stage: Stage) -> list[tuple[str, list[int]]]:
    """Return the signals that were sent, with the pids they went to."""
    assert isinstance(stage.link, FakeLink)
    return [(one.signal, [each.pid for each in one.targets]) for one in stage.link.sent if isinstance(one, SendSignal)]


def page(stage: Stage) -> str:
    assert isinstance(stage.app.screen, Dialog)
    return text_on(stage.app.screen)


# --- who is meant --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["f9", "k"])
async def test_enter_sends_sigterm_to_the_process_under_the_cursor_and_to_that_very_one(key: str) -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("down", "down", key, "enter")

        (command,) = stage.changes
        assert isinstance(command, SendSignal)
        assert (command.signal, command.targets) == ("SIGTERM", (target(2),))
        assert stage.app.screen is stage.app.main


async def test_tagged_processes_are_meant_and_not_the_cursor() -> None:
    async with staged(some(1, 2, 3, 4)) as stage:
        await stage.press("space", "space", "down", "k", "enter")

        assert sent(stage) == [("SIGTERM", [1, 2])]


async def test_without_a_cursor_and_tags_the_first_process_is_meant_as_in_htop() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("f9", "enter")

        assert sent(stage) == [("SIGTERM", [1])]


async def test_frames_that_arrive_change_neither_the_list_nor_the_targets() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("down", "k")
        before = page(stage)
        await stage.deliver(frame(1, (process(2), process(1, start_ticks=99), process(7))))
        after = page(stage)
        await stage.press("enter")

        assert after == before
        assert stage.changes == [SendSignal(id="screen-1", signal="SIGTERM", targets=(target(1),))]


async def test_the_highlighted_process_is_captured_when_rows_are_sorted_anew_before_the_key() -> None:
    async with staged(frame(1, (process(1, cpu_percent=9.0), process(2, cpu_percent=1.0)))) as stage:
        await stage.press("P", "down")
        await stage.deliver(frame(1, (process(1, cpu_percent=1.0), process(2, cpu_percent=9.0))))
        await stage.press("k", "enter")

        assert sent(stage) == [("SIGTERM", [1])]


async def test_everything_that_is_hit_is_listed_with_its_user_age_memory_state_and_command() -> None:
    async with staged(some(4711)) as stage:
        await stage.press("down", "k")

        assert "4711   0 ann        1h00 10.0GiB S   0 python train.py --seed 4711" in page(stage)
        assert "1 process of ann, 10.0GiB on GPU 0" in page(stage)


async def test_a_tree_is_all_that_the_process_started_parents_first() -> None:
    processes = (process(3, parent_pid=2), process(1), process(2, parent_pid=1), process(9))
    async with staged(frame(1, processes)) as stage:
        await stage.press("down", "N", "home", "k", "t", "enter")

        assert sent(stage) == [("SIGTERM", [1, 2, 3])]


# --- consequences --------------------------------------------------------------------------------------------------
async def test_before_a_stop_the_dialog_says_that_the_gpu_memory_stays_and_who_waits() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "k", "p", "1", "9")
        said = page(stage)
        await stage.press("j")

        assert "Stopped processes keep their 10.0GiB of GPU memory." in said
        assert "NCCL may declare a stopped rank dead after 60 s" in said
        assert "NCCL may" not in page(stage), "nobody of the job is left to wait"


async def test_before_sigkill_of_an_mps_client_the_dialog_names_the_risk_for_the_other_clients() -> None:
    client = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="M", memory_bytes=GIB)
    async with staged(frame(1, (process(4711, gpus=(client,)),))) as stage:
        await stage.press("down", "k")
        assert "MPS" not in page(stage)

        await stage.press("9", "enter")

        assert "First, MPS ends the GPU work of the client (terminate_client)." in page(stage)
        assert "If that fails, SIGKILL can end the GPU work of all clients of its server." in page(stage)


# --- launchers -----------------------------------------------------------------------------------------------------
async def test_sigterm_for_a_job_goes_to_the_launcher_only_and_the_dialog_says_so() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "k", "j")
        said = page(stage)
        await stage.press("enter")

        assert "The signal goes to launcher 10 only, which ends its 2 workers." in said
        assert "→     10 " in said
        assert "      20 " in said
        assert sent(stage) == [("SIGTERM", [10])]


async def test_sigkill_for_a_job_goes_to_launcher_and_workers_and_the_dialog_says_so() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "k", "j", "9", "enter")
        said = page(stage)
        await stage.press("y")

        assert "Send SIGKILL to 3 processes? Press y. 10 20 21" in said
        assert "The signal goes to the launcher and to 2 workers." in said
        assert sent(stage) == [("SIGKILL", [10, 20, 21])]


async def test_a_launcher_that_is_chosen_without_all_its_workers_leads_nobody() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "space", "space", "k", "enter")

        assert sent(stage) == [("SIGTERM", [20, 21])]


async def test_other_signals_go_to_all_of_a_job() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "c", "k", "1", "9", "enter")

        assert sent(stage) == [("SIGSTOP", [10, 20, 21])]


# --- what is said beforehand ---------------------------------------------------------------------------------------
async def test_somebody_elses_process_is_said_to_be_refused_before_it_is() -> None:
    async with staged(frame(1, (process(2, user="bob"),)), own_user="ann") as stage:
        await stage.press("down", "k")

        assert "Needs root: all belong to bob" in page(stage)


async def test_root_is_told_no_such_thing() -> None:
    async with staged(frame(1, (process(2, user="bob"),)), own_user="root") as stage:
        await stage.press("down", "k")

        assert "refused" not in page(stage)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "Z"}, "has exited"),
        ({"state": "D"}, "in uninterruptible sleep (D)"),
        ({"presence": Presence.HIDDEN}, "will be refused: not visible from here"),
        ({"presence": Presence.REUSED}, "will be refused: this pid now belongs"),
    ],
)
async def test_what_a_signal_cannot_do_is_said_beforehand(fields: dict[str, Any], said: str) -> None:
    async with staged(frame(1, (process(2, **fields),))) as stage:
        await stage.press("down", "k")

        assert said in page(stage)


@pytest.mark.parametrize(
    ("pid", "fields", "said"),
    [
        (1, {}, "will be refused: it is init"),
        (7, {}, "will be refused: it is gputop itself"),
        (8, {"parent_pid": 7}, "will be refused: it is gputop itself"),
    ],
)
async def test_what_the_door_never_hits_is_said_beforehand(pid: int, fields: dict[str, Any], said: str) -> None:
    async with staged(frame(1, (process(pid, **fields),)), own_user="root", own_pid=7) as stage:
        await stage.press("down", "k")

        assert said in page(stage)


async def test_init_is_never_the_launcher_that_is_asked_to_end_its_workers() -> None:
    members = tuple(map(identity, (1, 20)))
    job = Job(key="torch:1", kind=JobKind.TORCH, label="torchrun", launcher=identity(1), members=members)
    async with staged(frame(1, (process(1), process(20, parent_pid=1)), jobs=(job,))) as stage:
        await stage.press("down", "k", "j", "enter")

        assert sent(stage) == [("SIGTERM", [1, 20])]


@pytest.mark.parametrize("keys", [["k", "enter"], ["K", "y"], ["K", "enter"]])
async def test_a_job_under_the_cursor_gets_no_signal_before_j_or_p(keys: list[str]) -> None:
    async with staged(led()) as stage:
        await stage.press("down", *keys)

        assert sent(stage) == []


@pytest.mark.parametrize(("key", "change"), [("f8", [20]), ("f7", [20])])
async def test_a_nice_key_on_a_rank_changes_that_rank_only(key: str, change: list[int]) -> None:
    async with staged(led(), own_user="root") as stage:
        await stage.press("down", key)

        assert [[one.pid for one in sent.targets] for sent in stage.changes] == [change]


async def test_a_signal_to_a_process_of_another_user_cannot_be_sent_without_root() -> None:
    async with staged(frame(1, (process(2, user="bob"),)), own_user="ann") as stage:
        await stage.press("down", "k", "enter")

        assert sent(stage) == []
        assert "Needs root: all belong to bob. Run gputop with sudo, or ask bob." in page(stage)


async def test_the_ranks_of_a_job_are_listed_with_rank_and_gpu() -> None:
    ranks = tuple(process(20 + n, n, owner=Owner(rank=n)) for n in range(2))
    async with staged(frame(2, ranks)) as stage:
        await stage.press("space", "space", "k")

        assert "     21    1   1 ann" in page(stage)


async def test_the_key_that_sends_says_to_whom() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "k", "j")
        of_job = page(stage)
        await stage.press("p")

        assert "Enter send SIGTERM to the job" in of_job
        assert "Enter send SIGTERM to 20" in page(stage)


async def test_a_process_of_another_namespace_is_sent_as_that_so_that_the_door_refuses_it() -> None:
    async with staged(frame(1, (process(1, presence=Presence.HIDDEN),))) as stage:
        await stage.press("down", "k", "enter")

        (command,) = stage.changes
        assert isinstance(command, SendSignal)
        assert command.targets[0].presence is Presence.HIDDEN


@pytest.mark.parametrize(
    ("owner", "way"),
    [
        (Owner(slurm=SlurmStep(job="84213", step="0")), "To end the whole Slurm step: scancel 84213.0"),
        (
            Owner(pod=Pod(uid="1", name="train-0", namespace="ml")),
            "To end the whole pod: kubectl delete pod -n ml -- train-0",
        ),
        (
            Owner(container=Container(runtime="docker", id="a" * 64, name="web")),
            "To end the whole container: docker stop -- web",
        ),
        (Owner(), ""),
    ],
)
def test_the_owners_way_is_named(owner: Owner, way: str) -> None:
    proven = replace(owner, trusted=("slurm", "pod", "container"))

    assert common_command([process(1, owner=proven)]) == way


async def test_a_hostile_command_line_does_not_break_the_frame() -> None:
    odd = clean("\x1b]0;x\x07\n训练\u202e[red]x[/red] e\u0301")
    async with staged(frame(1, (process(1, command=odd),))) as stage:
        await stage.press("down", "k")
        assert isinstance(stage.app.screen, SignalScreen)
        widths = {strip.cell_length for strip in stage.app.screen.body.render_lines(stage.app.screen.body.size.region)}

        assert widths == {stage.app.screen.body.size.width}
        assert "[red]x[/red]" in page(stage)
        assert "\x1b" not in page(stage)


# --- keys ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["escape", "q", "n", "0", "f10"])
async def test_these_keys_cancel(key: str) -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", key)

        assert stage.app.screen is stage.app.main
        assert stage.changes == []


async def test_space_never_confirms() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "space", "space")
        await stage.press("9", "enter", "space", "space")

        assert stage.changes == []
        assert isinstance(stage.app.screen, SignalScreen)


@pytest.mark.parametrize(
    ("keys", "name"), [("2", "SIGINT"), ("1,0", "SIGUSR1"), ("1,9", "SIGSTOP"), ("1,8", "SIGCONT")]
)
async def test_digits_jump_to_a_signal_and_do_not_send_it(keys: str, name: str) -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", *keys.split(","))
        before = sent(stage)
        await stage.press("enter")

        assert before == []
        assert sent(stage) == [(name, [1])]


async def test_arrows_move_to_other_signals() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "up", "enter")
        await stage.press("k", "home", "enter")

        assert sent(stage) == [("SIGALRM", [1]), ("SIGHUP", [1])]


@pytest.mark.parametrize(
    "keys", ["9,enter,enter,enter", "9,enter,space,k,k,enter", "9,enter,n,enter", "9,enter,escape"]
)
async def test_no_key_but_y_answers_the_question_for_sigkill(keys: str) -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", *keys.split(","))

        assert ("SIGKILL", [1]) not in sent(stage)


async def test_y_without_the_question_sends_nothing() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "9", "y")

        assert stage.changes == []


async def test_k_opens_the_question_for_sigkill_where_enter_presses_cancel() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "K")
        said = page(stage)
        await stage.press("enter")
        after_enter = sent(stage)
        await stage.press("K", "y")

        assert "Send SIGKILL to 1 process? Press y. 1 python train.py --seed 1" in said
        assert "[ Cancel ]" in said
        assert after_enter == []
        assert sent(stage) == [("SIGKILL", [1])]


async def test_sigkill_is_not_remembered() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "K", "y", "k", "enter")

        assert sent(stage) == [("SIGKILL", [1]), ("SIGTERM", [1])]


async def test_keys_that_were_typed_before_the_dialog_was_drawn_do_not_count() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down")
        for key in ("k", "enter", "enter", "K", "y", "y"):
            stage.app.post_message(Key(key, None))
        for _ in range(9):
            await stage.pilot.pause()

        assert sent(stage) == []
        assert isinstance(stage.app.screen, SignalScreen)


@pytest.mark.parametrize(("opens", "answers"), [("k", "enter"), ("K", "y")])
async def test_a_key_that_was_typed_early_and_arrives_late_does_not_count(opens: str, answers: str) -> None:
    async with staged(some(1)) as stage:
        early = Key(answers, None)
        await stage.press("down", opens)
        stage.app.screen.post_message(early)
        await stage.pilot.pause()

        assert sent(stage) == []
        assert isinstance(stage.app.screen, SignalScreen)


async def test_what_follows_a_key_that_came_too_early_does_not_count_either() -> None:
    async with staged(led()) as stage:
        await stage.press("down")
        for key in ("k", "p"):
            stage.app.post_message(Key(key, None))
        while not isinstance(stage.app.screen, SignalScreen):
            await stage.pilot.pause()
        await stage.press("enter")
        rushed = sent(stage)
        assert isinstance(stage.app.screen, SignalScreen)
        stage.app.screen._deaf_until_s = 0.0  # a while later
        await stage.press("p", "enter")

        assert rushed == []
        assert sent(stage) == [("SIGTERM", [20])]


async def test_two_hundred_targets_are_sent_in_one_command() -> None:
    async with staged(some(*range(1000, 1200))) as stage:
        stage.app.main.processes.tags.toggle({identity(pid) for pid in range(1000, 1200)})
        await stage.press("k", "pagedown", "pagedown", "enter")

        assert [len(pids) for _, pids in sent(stage)] == [200]


# --- read-only, outcomes -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "key", ["f9", "k", "K", "f7", "f8", "right_square_bracket", "left_square_bracket", "r", "d", "a"]
)
async def test_read_only_refuses_with_the_reason(key: str) -> None:
    async with staged(some(1), settings=Settings(read_only=True)) as stage:
        await stage.press("down", key, "y")

        assert stage.changes == []
        assert "gputop is read-only: set by --read-only" in stage.messages


async def test_read_only_puts_what_it_refuses_in_brackets() -> None:
    async with staged(some(1), settings=Settings(read_only=True)) as stage:
        footer = stage.footer
        await stage.press("f1", "slash", *"signal")

        assert "(F9 Signal)" in footer
        assert "Off: gputop is read-only" in text_of(stage.app.screen.page(120, 40))  # type: ignore[attr-defined]


def refusal(**fields: Any) -> Outcome:
    result = Result(pid=7, status=Status.NOT_PERMITTED, detail="owned by [b]ann[/b]", remedy="Ask ann.", **fields)
    return Outcome(id="1", what="SIGTERM", results=(result,))


async def test_failures_are_shown_with_their_remedy_until_they_are_closed() -> None:
    async with staged(some(1), refusal()) as stage:
        await stage.deliver(some(1))
        said = page(stage)
        await stage.press("escape")

        assert "7  not permitted: owned by [b]ann[/b]" in said
        assert "Ask ann." in said
        assert stage.app.screen is stage.app.main


async def test_a_success_is_told_and_goes_by_itself() -> None:
    done = Outcome(id="1", what="SIGTERM", results=(Result(pid=7, status=Status.DONE),))
    async with staged(some(1), done) as stage:
        assert stage.messages == ["SIGTERM: 1 done"]


async def test_later_failures_are_added_to_those_that_are_shown() -> None:
    async with staged(some(1), refusal(), refusal()) as stage:
        shown = page(stage).count("Ask ann.")
        await stage.press("escape")

        assert shown == 2
        assert stage.app.screen is stage.app.main


async def test_failures_wait_for_a_dialog_that_is_open() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k")
        await stage.deliver(refusal())
        during = type(stage.app.screen)
        await stage.press("escape")
        await stage.pilot.pause()

        assert during is SignalScreen
        assert isinstance(stage.app.screen, OutcomeScreen)


# --- the job is what is meant -------------------------------------------------------------------------------------
async def test_a_process_of_a_job_means_the_job_and_p_means_it_alone() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "k")
        said = page(stage)
        await stage.press("p", "enter")

        assert "Send a signal to the whole job: 3 processes" in said
        assert " p process (1)   j job (3)   t tree (1)" in said
        assert "torch torchrun: 3 processes of ann" in said
        assert sent(stage) == [("SIGTERM", [20])]


async def test_a_process_of_no_job_has_no_such_switch() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "down", "down", "k")
        said = page(stage)
        await stage.press("j", "enter")

        assert " p process (1)   no job   t tree (1)" in said
        assert sent(stage) == [("SIGTERM", [30])]


async def test_pids_inside_a_container_have_a_column_of_their_own() -> None:
    async with staged(frame(1, (process(4711, inner_pid=23), process(4712)))) as stage:
        await stage.press("space", "space", "k")

        assert "   4711     23   0 ann" in page(stage)
        assert "   4712      –   0 ann" in page(stage)


# --- what becomes of it -------------------------------------------------------------------------------------------
DONE = Outcome(id="screen-1", what="SIGTERM", results=(Result(pid=1, start_ticks=10, status=Status.DONE),))


def told(stage: Stage) -> list[str]:
    return stage.messages


async def test_what_a_process_freed_is_told_once_the_driver_lists_it_no_more() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("down", "k", "enter")
        await stage.deliver(DONE)
        await stage.answer()
        await stage.deliver(some(1, 2))
        early = told(stage)
        await stage.deliver(some(2))

        assert early == ["SIGTERM: 1 done"]
        assert told(stage) == ["SIGTERM: 1 process ended, 10.0GiB GPU memory freed"]


async def test_a_process_that_is_in_no_frame_any_more_but_runs_has_not_ended() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("down", "k", "enter")
        await stage.deliver(DONE, some(2))
        await stage.answer(1)
        await stage.age(5.0)
        await stage.answer(1)

        assert told(stage) == ["SIGTERM: 1 of 1 process still running after 5 s: 1"]


async def test_a_sampler_that_is_down_leaves_it_unknown() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "enter")
        await stage.deliver(DONE)
        await stage.age(6.0)
        unknown = told(stage)
        await stage.age(5.0)

        assert unknown == ["SIGTERM: 1 done"]
        assert told(stage) == ["SIGTERM: the sampler does not answer, so it is unknown whether the targets ended"]


async def test_what_a_refused_signal_did_is_not_waited_for() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "enter")
        result = Result(pid=1, start_ticks=10, status=Status.NOT_PERMITTED)
        await stage.deliver(Outcome(id="screen-1", what="SIGTERM", results=(result,)))
        await stage.age(20.0)

        assert told(stage) == []


# --- escalation ----------------------------------------------------------------------------------------------------
async def test_sigkill_is_offered_for_what_is_left_after_five_seconds() -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("space", "space", "k", "e", "enter")
        first = page(stage)
        await tick(stage, 3)
        await stage.answer(1, 2)
        later = page(stage)
        await tick(stage, 2.1)
        await stage.answer(2)
        await tick(stage, 0)
        offer = page(stage)
        await stage.press("y")

        assert "2 of 2 processes still running. gputop offers SIGKILL in 5 s." in first
        assert "gputop offers SIGKILL in 2 s." in later
        assert "1 process survived SIGTERM. Send SIGKILL to 1 process? Press y. 2 " in offer
        assert sent(stage) == [("SIGTERM", [1, 2]), ("SIGKILL", [2])]


async def test_nobody_left_ends_the_countdown_early_and_what_was_freed_is_told() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("down", "k", "e", "enter")
        await tick(stage, 1)
        await stage.answer()
        await tick(stage, 0)
        await stage.deliver(some(2))

        assert stage.app.screen is stage.app.main
        assert told(stage) == ["SIGTERM: 1 process ended, 10.0GiB GPU memory freed"]


async def test_neither_frames_nor_old_answers_tell_who_is_left() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "e", "enter")
        await tick(stage, 4)
        await stage.answer(1)
        await tick(stage, 1.1)
        await stage.deliver(frame(1, ()))
        await tick(stage, 0)

        assert isinstance(stage.app.screen, EscalationScreen)
        assert isinstance([sent for sent in stage.link.sent if not isinstance(sent, WatchHost)][-1], ReadStatus)
        assert "Waiting for the sampler to report which processes still run." in page(stage)


async def test_the_workers_of_a_launcher_are_watched_too() -> None:
    async with staged(led()) as stage:
        await stage.press("down", "k", "j", "e", "enter")
        await tick(stage, 5.1)
        await stage.answer(20)
        await tick(stage, 0)
        await stage.press("y")

        assert sent(stage) == [("SIGTERM", [10]), ("SIGKILL", [20])]


async def test_escalation_can_be_given_up_and_never_goes_on_by_itself() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k", "e", "enter", "escape")
        await stage.age(60)
        await stage.deliver(some(1))

        assert stage.app.screen is stage.app.main
        assert sent(stage) == [("SIGTERM", [1])]


async def test_a_refusal_is_shown_and_stays_when_the_countdown_is_over() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("space", "space", "k", "e", "enter")
        result = Result(pid=1, start_ticks=10, status=Status.NOT_PERMITTED, detail="owned by bob", remedy="Ask bob.")
        done = Result(pid=2, start_ticks=20, status=Status.DONE)
        await stage.deliver(Outcome(id="screen-1", what="SIGTERM", results=(result, done)))
        during = page(stage)
        await stage.press("escape")
        await stage.pilot.pause()

        assert "1: not permitted: owned by bob. Ask bob." in during
        assert isinstance(stage.app.screen, OutcomeScreen)


async def tick(stage: Stage, seconds: float) -> None:
    """Let time pass in the countdown, which may have taken note of it by its own timer and be over."""
    stage.clock.now += seconds
    if isinstance(stage.app.screen, EscalationScreen):
        stage.app.screen.tick()
    await stage.pilot.pause()


# --- the mouse -----------------------------------------------------------------------------------------------------
async def test_a_click_highlights_the_signal_that_is_clicked_and_sends_nothing() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "k")
        dialog = stage.app.screen
        assert isinstance(dialog, SignalScreen)
        lines = page(stage).splitlines()
        y = next(at for at, line in enumerate(lines) if "SIGUSR1" in line)
        dialog._drawn_s = 0.0  # long ago
        await stage.pilot.click(offset=(dialog.body.region.x + 6, dialog.frame.region.y + y))
        await stage.pilot.pause()

        assert dialog.signal == "SIGUSR1"
        assert stage.changes == []
