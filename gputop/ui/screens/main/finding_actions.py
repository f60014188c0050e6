"""Actions on findings: list them, go to their subject, mute it, signal its process."""

from itertools import count
from typing import Final

from gputop.core.insight.members import AlarmedHangs
from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.protocol.command import Explain
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.signal_actions import SignalActions
from gputop.ui.state.row_filter import RowFilter
from gputop.ui.state.signal_targets import find_processes

_QUESTIONS: Final = count()


class FindingActions:
    """Opens the page of findings, and does what the user chooses there."""

    def __init__(self, host: ScreenHost, signals: SignalActions) -> None:
        self._host = host
        self._signals = signals
        self._hangs = AlarmedHangs()

    def open(self) -> None:
        """List all findings."""
        from gputop.ui.screens.pages.findings import FindingsScreen

        choices = (self.go_to, self.signal, self.mute)
        self._host.push(FindingsScreen(self._host.view, self._host.store.watchlist, *choices))

    def explain_hangs(self, frame: Frame) -> None:
        """Ask once for each hang that is an alarm where it hangs; the sampler adds the answers to the findings."""
        for asked in self._hangs.new(frame):
            self._host.send(Explain(id=f"alarm {next(_QUESTIONS)}", members=asked.members, since_s=asked.since_s))

    def go_to(self, finding: Finding) -> None:
        """Set the cursor on the process of a finding, on the odd rank of its job, or show its GPU alone."""
        subject, processes = finding.subject, self._host.processes
        concerned = [one.id for one in self._concerned(finding)]
        if any(map(processes.go_to, concerned)):
            return
        if concerned and (processes.row_filter.is_any or self._host.view.focus is not None):
            processes.narrow(RowFilter())
            self._host.change(focus=None)
            if any(map(processes.go_to, concerned)):
                return
        gpus = [gpu.index for gpu in self._host.view.gpus if gpu.uuid == subject.gpu]
        if gpus:
            self._host.change(focus=gpus[0])
        else:
            self._host.notify(f"{subject.label} is not on the screen", timeout=3)

    def mute(self, finding: Finding) -> None:
        """Mute a finding for an hour, or unmute it."""
        frame, top = self._host.view.frame, self._host.top
        if frame is not None:
            self._host.store.watchlist.mute(finding, frame.time_s)
            self._host.store.judge_again()
            self._host.draw()
        if isinstance(top, KeyedScreen):
            top.follow(self._host.view)

    def signal(self, finding: Finding) -> None:
        """Open the signal dialog for the process of a finding, or for its whole job."""
        subject = finding.subject
        found = self._concerned(finding)
        named = [one for one in found if one.id == subject.process] or found
        if named:
            self._signals.choose_for(named[0], is_kill=False, is_job=subject.job is not None)
        else:
            self._host.notify(f"{subject.label} is not a running process of this host", timeout=3)

    def _concerned(self, finding: Finding) -> list[HostProcess]:
        """Return the processes that a finding is about: the odd rank first, ranks on GPUs before the others."""
        frame, subject = self._host.view.frame, finding.subject
        if frame is None:
            return []
        members = next((job.members for job in frame.jobs if job.key == subject.job), ())
        odd = next((one.value for one in finding.evidence if one.name == "odd_pid"), None)
        found = find_processes(frame, {*members, *((subject.process,) if subject.process else ())})
        return sorted(found, key=lambda one: (one.pid != odd, not one.gpus))
