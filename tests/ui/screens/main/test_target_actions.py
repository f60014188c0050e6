"""Which processes a change would hit: tags, the line under the cursor, the scope."""

import pytest
from examples import frame, process
from fake_host import FakeHost

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Job, JobKind
from gputop.core.settings.settings import Settings
from gputop.ui.screens.dialogs.outcome import OutcomeScreen
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.rows import Grouping
from gputop.ui.state.signal_targets import Scope, TargetSelection

FIRST, SECOND = process(4711), process(4712)


def made(host: FakeHost) -> TargetActions:
    return TargetActions(host)


def pids(selection: TargetSelection | None) -> list[int]:
    return [one.pid for one in selection.selected] if selection is not None else []


def test_the_process_under_the_cursor_is_the_target() -> None:
    host = FakeHost(frame(processes=(FIRST, SECOND)))
    host.select(SECOND)

    assert pids(made(host).select()) == [4712]


def test_tagged_processes_are_the_targets_wherever_the_cursor_is() -> None:
    host = FakeHost(frame(processes=(FIRST, SECOND)))
    target = made(host)
    host.select(FIRST)
    target.tag()

    assert host.processes.selected is not None
    assert host.processes.selected.process.pid == 4712
    assert pids(target.select()) == [4711]
    assert target.scope is Scope.PROCESS


def test_without_a_cursor_the_first_line_is_selected_and_is_the_target() -> None:
    host = FakeHost(frame(processes=(FIRST, SECOND)))

    assert pids(made(host).select()) == [4711]
    assert host.processes.selected is not None
    assert host.processes.selected.process.pid == 4711


def test_without_processes_the_user_is_told_that_there_is_none() -> None:
    host = FakeHost(frame(processes=()))

    assert made(host).select() is None
    assert host.notices == ["no process is using a GPU"]


@pytest.mark.parametrize(
    ("command", "scope"),
    [("torchrun train.py", Scope.JOB), ("srun ./train", Scope.JOB), ("python sweep.py", Scope.PROCESS)],
)
def test_a_job_is_the_first_target_only_under_a_known_launcher(command: str, scope: Scope) -> None:
    launcher = process(4700, command=command)
    members = (launcher.id, FIRST.id, SECOND.id)
    job = Job(key="1", kind=JobKind.LAUNCHER, label="1", launcher=launcher.id, members=members)
    host = FakeHost(frame(processes=(FIRST, SECOND), relatives=(launcher,), jobs=(job,)))
    host.select(FIRST)

    assert made(host).scope is scope
    assert not made(host).is_row


def test_a_read_only_screen_selects_no_targets_and_says_why() -> None:
    host = FakeHost(settings=Settings(read_only=True))
    host.processes.move(0)

    assert made(host).select() is None
    assert "read-only" in host.notices[0]


def test_no_second_change_begins_while_a_dialog_is_open() -> None:
    host = FakeHost()
    host.processes.move(0)
    host.screens.append(OutcomeScreen.__new__(OutcomeScreen))

    assert made(host).select() is None
    assert host.notices == []


def test_a_job_is_tagged_as_a_whole_and_untagged_as_a_whole() -> None:
    job = Job(key="1", kind=JobKind.SLURM, label="84213", members=(FIRST.id, SECOND.id))
    host = FakeHost(frame(processes=(FIRST, SECOND), jobs=(job,)))
    target = made(host)
    host.select(FIRST)
    target.tag_job()
    assert host.processes.tags.ids == {ProcessId(4711, 47110), ProcessId(4712, 47120)}

    target.tag_job()

    assert not host.processes.tags.ids


def test_a_folded_line_of_the_tree_stands_for_the_processes_that_it_hides() -> None:
    child = process(4712, 1, parent_pid=4711)
    host = FakeHost(frame(processes=(FIRST, child)))
    host.processes.group(Grouping.TREE)
    host.select(FIRST)
    target = made(host)
    scopes = [target.scope]

    host.processes.fold(is_open=False)

    assert [*scopes, target.scope] == [Scope.PROCESS, Scope.TREE]


def test_untagging_says_that_nothing_was_tagged() -> None:
    host = FakeHost()

    made(host).untag()

    assert host.notices == ["no process is tagged"]
