"""Messages of a child: the lines of its stderr, bounded."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import nullcontext
from io import BytesIO
from typing import Final

from gputop.core.text.text import excerpt
from gputop.wire.limits import flow_of_messages

_LINE_BYTES: Final = 4096
_LINE_LETTERS: Final = 1000


def messages_of(child: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Yield each line, cleaned, until the pipe ends. Raises ExcessError if there are too many."""
    flow = flow_of_messages(time.monotonic)
    with child.stderr or nullcontext(BytesIO()) as pipe:
        while line := pipe.readline(_LINE_BYTES):
            flow.take(len(line))
            yield excerpt(line.rstrip().decode(errors="replace"), _LINE_LETTERS)
