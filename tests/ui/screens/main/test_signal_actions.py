"""A signal from its key to the notice that its targets ended, without a terminal."""

from examples import frame, process
from fake_host import FakeHost

from gputop.core.protocol.command import ReadStatus, SendSignal, Target
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.core.settings.settings import Settings
from gputop.ui.screens.dialogs.escalation import EscalationScreen
from gputop.ui.screens.dialogs.outcome import OutcomeScreen
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.signal_actions import SignalActions
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.signal_targets import SignalRequest

TRAIN = process(4711)


def made(host: FakeHost) -> SignalActions:
    target = TargetActions(host)
    return SignalActions(host, target, Changes(host))


def chosen(host: FakeHost, signal: str = "SIGTERM", *, offers_kill: bool = False) -> SignalActions:
    """Return the actions after the user sent a signal to a process."""
    host.select(TRAIN)
    actions = made(host)
    actions.choose()
    assert isinstance(host.top, SignalScreen)
    host.close(SignalRequest(signal, (TRAIN,), (TRAIN,), offers_kill))
    return actions


def outcome(status: Status) -> Outcome:
    return Outcome(id="screen-1", what="SIGTERM", results=(Result(pid=4711, start_ticks=47110, status=status),))


def answer(host: FakeHost, *, is_running: bool) -> ProcessStatuses:
    """Return the answer to the last request."""
    request = [one for one in host.sent if isinstance(one, ReadStatus)][-1]
    return ProcessStatuses(id=request.id, statuses=(ProcessStatus(pid=4711, start_ticks=47110, is_running=is_running),))


def test_the_chosen_signal_is_sent_to_the_process_under_the_cursor() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))

    chosen(host)

    assert host.sent == [SendSignal(id="screen-1", signal="SIGTERM", targets=(Target(4711, 47110),))]


def test_a_cancelled_dialog_sends_nothing() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    host.select(TRAIN)
    made(host).choose()

    host.close(None)

    assert host.sent == []


def test_a_target_that_ends_is_reported_once_with_the_memory_that_it_freed() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    actions = chosen(host)
    actions.take_outcome(outcome(Status.DONE))
    assert actions.followups.take_statuses(answer(host, is_running=False))
    assert len(host.notices) == 1

    actions.followups.take_frame(frame(processes=()))
    actions.followups.take_frame(frame(processes=()))

    assert host.notices[1:] == ["SIGTERM: 1 process ended, 10.0GiB GPU memory freed"]


def test_an_answer_that_nobody_here_requested_is_left_to_others() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    actions = chosen(host)

    assert not actions.followups.take_statuses(ProcessStatuses(id="present-1", statuses=()))


def test_a_target_that_survives_gets_the_dialog_for_sigkill_after_the_countdown() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    chosen(host, offers_kill=True)
    assert isinstance(host.top, EscalationScreen)

    host.close((TRAIN,))

    assert isinstance(host.top, SignalScreen)
    assert host.top.is_asking
    assert [one.pid for one in host.top.recipients] == [4711]


def test_a_failure_opens_a_dialog_that_stays() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    actions = chosen(host)

    actions.take_outcome(outcome(Status.NOT_PERMITTED))

    assert isinstance(host.top, OutcomeScreen)


def test_a_failure_that_comes_during_a_dialog_is_shown_when_that_closes() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    changes = Changes(host)
    host.screens.append(SignalScreen.__new__(SignalScreen))
    changes.show(outcome(Status.FAILED))
    assert isinstance(host.top, SignalScreen)

    host.close(None)
    changes.show_waiting()

    assert isinstance(host.top, OutcomeScreen)


def test_a_read_only_screen_opens_no_dialog_and_sends_nothing() -> None:
    host = FakeHost(frame(processes=(TRAIN,)), settings=Settings(read_only=True))
    host.select(TRAIN)

    made(host).choose("SIGKILL")

    assert (len(host.screens), host.sent) == (1, [])
