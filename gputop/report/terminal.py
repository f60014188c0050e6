"""What the stream that a table goes to can show."""

import os
from collections.abc import Mapping
from typing import TextIO

from gputop.report.grid import Style


def look(stream: TextIO, environment: Mapping[str, str]) -> tuple[int | None, Style]:
    """Return the columns of the terminal behind a stream (None: there is none, or it does not say) and the style."""
    if not stream.isatty():
        return None, Style.PLAIN
    is_plain = bool(environment.get("NO_COLOR")) or environment.get("TERM", "dumb") == "dumb"
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        columns = 0
    return columns or None, Style.PLAIN if is_plain else Style.COLOUR
