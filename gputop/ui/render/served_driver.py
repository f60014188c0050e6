"""The driver of a screen in a browser: Textual's, which also ends when the server does."""

from textual import messages
from textual.drivers.web_driver import WebDriver


class ServedDriver(WebDriver):
    """Ends the app at the end of its input."""

    def run_input_thread(self) -> None:
        """Read input until it ends."""
        super().run_input_thread()
        self._app.post_message(messages.ExitApp())
