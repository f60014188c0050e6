"""What the user does with a finding: go to its subject, mute it, signal its process."""

from examples import NOW, frame, process
from fake_host import FakeHost

from gputop.core.model.finding import Finding, Stage, Subject
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.finding_actions import FindingActions
from gputop.ui.screens.main.signal_actions import SignalActions
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.screens.pages.findings import FindingsScreen

TRAIN = process(4711)
GPU_1 = Subject(label="GPU 1", gpu="GPU-00000001")


def finding(subject: Subject) -> Finding:
    return Finding(
        code="leak.process", stage=Stage.ALARM, subject=subject, summary="it leaks", since_s=NOW, stage_since_s=NOW
    )


def made(host: FakeHost) -> FindingActions:
    target = TargetActions(host)
    signal = SignalActions(host, target, Changes(host))
    return FindingActions(host, signal)


def test_a_finding_about_a_process_leads_to_its_line() -> None:
    host = FakeHost(frame(processes=(process(4710), TRAIN)))

    made(host).go_to(finding(Subject(label="4711", process=TRAIN.id)))

    assert host.processes.selected is not None
    assert host.processes.selected.process.pid == 4711


def test_a_finding_about_a_gpu_shows_it_alone() -> None:
    host = FakeHost(frame(2))

    made(host).go_to(finding(GPU_1))

    assert host.view.focus == 1


def test_a_subject_that_is_gone_is_named() -> None:
    host = FakeHost(frame(processes=()))
    actions = made(host)
    gone = finding(Subject(label="4711 on GPU 7", process=TRAIN.id))

    actions.go_to(gone)
    actions.signal(gone)

    assert all("4711 on GPU 7" in notice for notice in host.notices)
    assert len(host.notices) == 2


def test_the_process_of_a_finding_can_be_signalled_without_the_cursor() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))

    made(host).signal(finding(Subject(label="4711", process=TRAIN.id)))

    assert isinstance(host.top, SignalScreen)
    assert [one.pid for one in host.top.targets] == [4711]


def test_a_muted_finding_leaves_the_panel_and_comes_back_unmuted() -> None:
    alarm = finding(GPU_1)
    host = FakeHost(frame(2, findings=(alarm,)))
    actions = made(host)
    actions.mute(alarm)
    muted = host.view.standing.findings

    actions.mute(alarm)

    assert [muted, host.view.standing.findings] == [(), (alarm,)]


def test_the_page_lists_the_findings() -> None:
    host = FakeHost()

    made(host).open()

    assert isinstance(host.top, FindingsScreen)
