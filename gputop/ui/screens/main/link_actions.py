"""The action that connects again to another host, while ssh may ask on the terminal."""

from gputop.ui.screens.main.host import ScreenHost


class LinkActions:
    """Leaves the screen for a moment."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host

    def log_in(self) -> None:
        """Connect again, and say what came of it."""
        log_in = self._host.options.log_in
        if log_in is None:
            return
        if self._host.view.down is None or self._host.view.down.retry_s is not None:
            self._host.notify("not needed: gputop connects by itself", timeout=4)
            return
        with self._host.leave():
            problem = log_in()
        if problem:
            self._host.notify(f"not connected: {problem}", severity="error", timeout=12)
