"""What the main screen does with findings: it lists them, goes to whom they are about, and may ring."""

from collections.abc import Callable

from gputop.core.model.finding import Finding
from gputop.core.protocol.command import Command
from gputop.ui.input.keymap import Keymap
from gputop.ui.options import ViewOptions
from gputop.ui.panels.findings import FindingsPanel
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.tape_actions import TapingScreen
from gputop.ui.state.view_store import ViewStore


class JudgedScreen(TapingScreen):
    """The part of the main screen that shows what is wrong."""

    def __init__(
        self, options: ViewOptions, reception: ViewStore, ask: Callable[[Command], None], keys: Keymap
    ) -> None:
        super().__init__(options, reception, ask, keys)
        self.findings = FindingsPanel(is_ascii=options.is_ascii)

    def take_keys(self, keys: Keymap) -> None:
        """Let other keys hold from now on."""
        super().take_keys(keys)
        self.findings_key = keys.name("findings")

    def action_findings(self) -> None:
        """List all findings."""
        from gputop.ui.screens.pages.findings import FindingsScreen

        does = (self._go_to, self._act_on, self._hush)
        watchlist, is_ascii = self._reception.watchlist, self._options.is_ascii
        self.app.push_screen(FindingsScreen(self._view, watchlist, *does, is_ascii=is_ascii))

    def on_findings_panel_asked(self, _: FindingsPanel.Asked) -> None:
        """List all findings."""
        self.action_findings()

    def ring(self) -> None:
        """Ring where an alarm has come up and the settings say so."""
        if self._reception.has_new_alarm and self.settings.bell:
            self.app.bell()

    def _go_to(self, finding: Finding) -> None:
        """Set the cursor on the process, or look at the GPU alone."""
        subject = finding.subject
        if subject.process is not None and self.processes.go_to(subject.process):
            return
        gpus = [gpu.index for gpu in self._view.gpus if gpu.uuid == subject.gpu]
        if gpus:
            self.change(focus=gpus[0])
        else:
            self.notify(f"{subject.label} is not among what is shown", markup=False, timeout=3)

    def _hush(self, finding: Finding) -> None:
        """Mute a finding for an hour, or show it again."""
        frame = self._view.frame
        if frame is not None:
            self._reception.watchlist.mute(finding, frame.time_s)
            self._reception.judge_again()
            self.show()
        if isinstance(self.app.screen, KeyedScreen):
            self.app.screen.follow(self._view)

    def _act_on(self, finding: Finding) -> None:
        """Ask for a signal to the process that a finding is about."""
        frame, wanted = self._view.frame, finding.subject.process
        held = [one for one in (*frame.processes, *frame.relatives) if one.id == wanted] if frame else []
        if held:
            self.ask_for(held[0], is_kill=False)
        else:
            self.notify(f"{finding.subject.label} is no process that runs here", markup=False, timeout=3)
