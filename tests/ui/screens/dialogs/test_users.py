"""Changes that would reach processes of several users: they say so first, and begin with one process alone."""

import pytest
from app_driver import FakeLink, Stage, staged, text_on
from examples import frame, process

from gputop.core.model.owner import Container, Owner, SlurmStep
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.processes.jobs import JobFinder
from gputop.core.protocol.command import SendSignal
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.targets_dialog import TargetsDialog
from gputop.ui.state.signal_targets import Scope

STEP = Owner(slurm=SlurmStep(job="84213", step="0"), trusted=("slurm",))


def judged(*processes: HostProcess, relatives: tuple[HostProcess, ...] = ()) -> Frame:
    """Return a frame with the jobs that gputop finds."""
    return frame(1, processes, relatives=relatives, jobs=JobFinder().find(processes, relatives))


def mixed() -> Frame:
    """Return a step of Slurm, proven by its cgroup, with two processes of alice and one of bob."""
    users = {10: "alice", 11: "alice", 12: "bob"}
    return judged(*(process(pid, user=user, owner=STEP) for pid, user in users.items()))


def page(stage: Stage) -> str:
    assert isinstance(stage.app.screen, Dialog)
    return text_on(stage.app.screen)


def scope(stage: Stage) -> Scope:
    assert isinstance(stage.app.screen, TargetsDialog)
    return stage.app.screen.scope


def hit(stage: Stage) -> list[tuple[str, list[int]]]:
    assert isinstance(stage.link, FakeLink)
    sent = [one for one in stage.link.sent if isinstance(one, SendSignal)]
    return [(one.signal, [each.pid for each in one.targets]) for one in sent]


@pytest.mark.parametrize("key", ["k", "K"])
async def test_a_job_of_two_users_is_not_signalled_as_a_whole_at_first(key: str) -> None:
    async with staged(mixed()) as stage:
        await stage.press("down", key)
        first = page(stage).splitlines()[1]

        assert scope(stage) is Scope.PROCESS
        assert "The job has processes of 2 users: alice 2, bob 1." in first
        await stage.press("y" if key == "K" else "enter")
        assert hit(stage) == [("SIGKILL" if key == "K" else "SIGTERM", [10])]


async def test_a_signal_to_two_users_names_them_before_everything_else() -> None:
    async with staged(mixed()) as stage:
        await stage.press("down", "K", "j")
        shown = page(stage).splitlines()

        assert "3 processes of 2 users" in shown[0]
        assert "This affects processes of 2 users: alice 2, bob 1." in shown[1]
        await stage.press("y")
        assert hit(stage) == [("SIGKILL", [10, 11, 12])]


async def test_the_line_of_a_job_of_two_users_stands_for_its_first_process() -> None:
    async with staged(mixed()) as stage:
        await stage.press("v", "v", "down", "up", "up", "k")

        assert scope(stage) is Scope.PROCESS
        assert "2 users: alice 2, bob 1" in page(stage).splitlines()[1]
        await stage.press("enter")
        assert hit(stage) == [("SIGTERM", [10])]


async def test_a_rogue_that_claims_the_step_of_another_user_does_not_bring_it_into_the_dialog() -> None:
    rogue = process(12, user="bob", owner=Owner(slurm=SlurmStep(job="84213", step="0")))
    held = judged(*(process(pid, user="alice", owner=STEP) for pid in (10, 11)), rogue)
    async with staged(held) as stage:
        await stage.press("down", "down", "down", "K")
        shown = page(stage)

        assert "12" in shown
        assert "alice" not in shown
        assert "scancel" not in shown
        await stage.press("y")
        assert hit(stage) == [("SIGKILL", [12])]


async def test_a_rogue_that_claims_the_container_of_another_user_is_not_in_its_group() -> None:
    container = Container(runtime="docker", id="a" * 64, name="web")
    honest = process(10, user="alice", owner=Owner(container=container, trusted=("container",)))
    rogue = process(12, user="bob", owner=Owner(container=container))
    async with staged(judged(honest, rogue)) as stage:
        await stage.press("v", "v", "v", "v", "down", "up", "up", "k")

        assert "bob" not in page(stage)
        await stage.press("enter")
        assert hit(stage) == [("SIGTERM", [10])]


async def test_tags_of_a_job_of_two_users_leave_the_other_user_out_and_say_so() -> None:
    async with staged(mixed()) as stage:
        await stage.press("down", "c", "k")

        assert "bob" not in page(stage).splitlines()[2]
        await stage.press("enter")
        assert hit(stage) == [("SIGTERM", [10, 11])]


async def test_the_nice_value_of_two_users_is_not_changed_without_a_question() -> None:
    async with staged(mixed()) as stage:  # the group is a GPU
        await stage.press("v", "v", "v", "v", "v", "down", "up", "up", "]")

        assert "This affects processes of 2 users: alice 2, bob 1." in page(stage).splitlines()[2]
        assert stage.changes == []
