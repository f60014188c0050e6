"""Nice value, I/O class and CPUs of the selected processes."""

from examples import frame, process
from fake_host import FakeHost

from gputop.core.model.sample import Job, JobKind
from gputop.core.protocol.command import Renice, Target
from gputop.ui.screens.dialogs.affinity import AffinityScreen
from gputop.ui.screens.dialogs.io_class import IoClassScreen
from gputop.ui.screens.dialogs.renice import ReniceScreen
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.scheduling_actions import SchedulingActions
from gputop.ui.screens.main.target_actions import TargetActions

TRAIN = process(4711)


def made(host: FakeHost) -> SchedulingActions:
    host.select(TRAIN)
    target = TargetActions(host)
    return SchedulingActions(host, target, Changes(host))


def test_a_key_adds_to_the_nice_value_without_a_dialog() -> None:
    host = FakeHost(frame(processes=(TRAIN,)), own_user="root")

    made(host).add_nice(1)

    assert host.sent == [Renice(id="screen-1", nice=1, is_relative=True, targets=(Target(4711, 47110),))]


def test_a_key_never_changes_the_nice_value_of_the_whole_job() -> None:
    launcher, other = process(4700, command="torchrun train.py"), process(4712)
    members = (launcher.id, TRAIN.id, other.id)
    job = Job(key="1", kind=JobKind.TORCH, label="1", launcher=launcher.id, members=members)
    host = FakeHost(frame(processes=(TRAIN, other), relatives=(launcher,), jobs=(job,)), own_user="root")

    made(host).add_nice(1)

    assert [[one.pid for one in change.targets] for change in host.sent if isinstance(change, Renice)] == [[4711]]


def test_a_key_asks_before_a_change_that_the_user_cannot_undo_and_only_about_the_process() -> None:
    launcher, other = process(4700, command="torchrun train.py"), process(4712)
    members = (launcher.id, TRAIN.id, other.id)
    job = Job(key="1", kind=JobKind.TORCH, label="1", launcher=launcher.id, members=members)
    host = FakeHost(frame(processes=(TRAIN, other), relatives=(launcher,), jobs=(job,)))

    made(host).add_nice(1)

    assert host.sent == []
    assert isinstance(host.top, ReniceScreen)
    assert host.top.first_text() == "1"
    assert [one.pid for one in host.top.targets] == [4711]


def test_a_key_without_a_cursor_selects_and_changes_nothing() -> None:
    host = FakeHost(frame(processes=(TRAIN,)), own_user="root")
    target = TargetActions(host)

    SchedulingActions(host, target, Changes(host)).add_nice(1)

    assert host.sent == []
    assert "4711 is selected" in host.notices[0]


def test_a_dialog_returns_the_change_that_is_sent() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    made(host).open("nice")
    change = Renice(id="screen-1", nice=5, targets=(Target(4711, 47110),))

    host.close(change)

    assert host.sent == [change]


def test_each_value_has_its_dialog() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    actions = made(host)
    opened = []
    for value in ("nice", "io-class", "cpus"):
        actions.open(value)
        opened.append(type(host.top))
        host.close(None)

    assert opened == [ReniceScreen, IoClassScreen, AffinityScreen]
    assert host.sent == []
