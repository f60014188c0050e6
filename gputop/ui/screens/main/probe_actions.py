"""Actions of probes: open their page, start one, and show its progress while the page is closed."""

from collections.abc import Sequence
from typing import Any, Final

from textual.screen import Screen

from gputop.core.probing.progress import Wish
from gputop.core.probing.result import TestStatus
from gputop.core.probing.wording import WORDS
from gputop.ui.messages import ProbeProgressed
from gputop.ui.screens.main.host import ScreenHost

_NOT_HERE: Final = "there is no GPU to test here"


class ProbeActions:
    """Starts probes, and shows them."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._prober = host.options.prober

    def open(self) -> None:
        """Open the page that starts a probe, or shows the one that runs."""
        if self._host.options.refusal or self._prober is None:
            self._host.notify(self._host.options.refusal or _NOT_HERE, severity="warning", timeout=4)
            return
        from gputop.ui.screens.probe.page import ProbeScreen

        self._host.push(ProbeScreen(self._prober, self._host.view, self.start, clock=self._host.store.clock))
        self.update(is_seen=True)

    def start(self, wish: Wish) -> None:
        """Start a probe."""
        if self._prober is not None and not self._host.options.refusal:
            self._prober.start(wish, lambda: self._host.post_message(ProbeProgressed()))  # from the prober's thread
            self.update(is_seen=True)

    def show_progress(self, stack: Sequence[Screen[Any]]) -> None:
        """Draw the progress on the open pages; ``stack``: all open screens."""
        from gputop.ui.screens.probe.page import ProbeScreen

        pages = [screen for screen in stack if isinstance(screen, ProbeScreen)]
        for page in pages:
            page.redraw()
        self.update(is_seen=bool(pages))

    def update(self, *, is_seen: bool) -> None:
        """Show the progress of the probe; ``is_seen``: its page is open. A finished one is shown until it is seen."""
        run = None if self._prober is None else self._prober.run
        is_news = run is not None and run.is_over and not is_seen
        self._host.store.change(probing=run if run is not None and (is_news or not run.is_over) else None)
        if run is None or not is_news:
            return
        if run.report is None:
            self._host.notify(f"probe: {run.problem}", severity="warning", timeout=12)
            return
        word, _ = WORDS[run.report.status]
        is_bad = run.report.status in (TestStatus.FAIL, TestStatus.ERROR)
        key = self._host.keys.name("probe")
        self._host.notify(
            f"probe: {word}: press {key} to see it", severity="error" if is_bad else "information", timeout=12
        )
