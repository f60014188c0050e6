"""The greeting of a sampler on another host: what it is, and what it can do."""

import sys

from gputop import __version__
from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.choice import open_backend
from gputop.app.backend.operations.read_only import read_only_control
from gputop.core.protocol.remote import Hello
from gputop.wire.listener import Listener
from gputop.wire.server import Lines


def greet(request: BackendRequest, lines: Lines, patience_s: float) -> Listener:
    """Greet the reader, before anything that may hang; return it."""
    refusing = read_only_control(is_read_only=False)
    hello = Hello(
        version=__version__,
        user=open_backend(request).viewer().name,
        refusal=refusing.detail if refusing is not None else "",
    )
    sys.stdout.buffer.write(b"\n")  # a login shell may have printed words without an end of line
    lines.write(hello)
    return Listener(lines, patience_s)
