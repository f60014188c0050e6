"""Actions on findings: list them, go to their subject, mute it, signal its process."""

from gputop.core.model.finding import Finding
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.signal_actions import SignalActions


class FindingActions:
    """Opens the page of findings, and does what the user chooses there."""

    def __init__(self, host: ScreenHost, signals: SignalActions) -> None:
        self._host = host
        self._signals = signals

    def open(self) -> None:
        """List all findings."""
        from gputop.ui.screens.pages.findings import FindingsScreen

        choices = (self.go_to, self.signal, self.mute)
        self._host.push(FindingsScreen(self._host.view, self._host.store.watchlist, *choices))

    def go_to(self, finding: Finding) -> None:
        """Set the cursor on the process of a finding, or show its GPU alone."""
        subject = finding.subject
        if subject.process is not None and self._host.processes.go_to(subject.process):
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
        """Open the signal dialog for the process of a finding."""
        frame, wanted = self._host.view.frame, finding.subject.process
        found = [one for one in (*frame.processes, *frame.relatives) if one.id == wanted] if frame else []
        if found:
            self._signals.choose_for(found[0], is_kill=False)
        else:
            self._host.notify(f"{finding.subject.label} is not a running process of this host", timeout=3)
