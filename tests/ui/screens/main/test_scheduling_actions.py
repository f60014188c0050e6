"""Nice value, I/O class and CPUs of the selected processes."""

from examples import frame, process
from fake_host import FakeHost

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
    host = FakeHost(frame(processes=(TRAIN,)))

    made(host).add_nice(1)

    assert host.sent == [Renice(id="screen-1", nice=1, is_relative=True, targets=(Target(4711, 47110),))]


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
