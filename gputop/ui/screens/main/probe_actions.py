"""What the main screen does with probes: it opens their page, and tells how one goes while that is closed."""

from gputop.core.probing.progress import Wish
from gputop.core.probing.result import Status
from gputop.core.probing.wording import WORDS
from gputop.ui.input.keymap import Keymap
from gputop.ui.messages import ProbeProgressed
from gputop.ui.screens.main.plugin_actions import PluggedScreen

_NOT_HERE = "there is nothing to test here"


class ProbingScreen(PluggedScreen):
    """The part of the main screen that has to do with probes."""

    def take_keys(self, keys: Keymap) -> None:
        """Let other keys hold from now on."""
        super().take_keys(keys)
        self._probe_key = keys.name("probe")

    def action_probe(self) -> None:
        """Choose what is to be tested, or show how it goes."""
        prober = self._options.prober
        if self._options.refusal or prober is None:
            self.notify(self._options.refusal or _NOT_HERE, markup=False, severity="warning", timeout=4)
            return
        from gputop.ui.screens.probe.page import ProbeScreen

        clock, is_ascii = self._reception.clock, self._options.is_ascii
        self.app.push_screen(ProbeScreen(prober, self._view, self._begin_probe, clock=clock, is_ascii=is_ascii))
        self._note_probe(is_seen=True)

    def on_probe_progressed(self, _: ProbeProgressed) -> None:
        """Show how far it is; say how it ended to whoever does not see it."""
        from gputop.ui.screens.probe.page import ProbeScreen

        pages = [screen for screen in self.app.screen_stack if isinstance(screen, ProbeScreen)]
        for page in pages:
            page.draw_page()
        self._note_probe(is_seen=bool(pages))
        self.show_age()

    def _begin_probe(self, wish: Wish) -> None:
        """Have a wish carried out."""
        if self._options.prober is not None and not self._options.refusal:
            self._options.prober.start(wish, lambda: self.post_message(ProbeProgressed()))
            self._note_probe(is_seen=True)

    def _note_probe(self, *, is_seen: bool) -> None:
        """Put into the view how the run goes: one that is over only until somebody has seen it."""
        run = None if self._options.prober is None else self._options.prober.run
        is_news = run is not None and run.is_over and not is_seen
        self._reception.change(probing=run if run is not None and (is_news or not run.is_over) else None)
        if run is None or not is_news:
            return
        if run.report is None:
            self.notify(run.problem, title="probe", markup=False, severity="warning", timeout=12)
            return
        word, _ = WORDS[run.report.status]
        bad = run.report.status in (Status.FAIL, Status.ERROR)
        self.notify(
            f"{word}: {self._probe_key} shows it", title="probe", markup=False, timeout=12,
            severity="error" if bad else "information",
        )  # fmt: skip
