"""Any command on another host: the same words there, and its exit status here."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Final

from gputop.app.errors import BadRequestError
from gputop.app.remote.input_end import UNTIL_INPUT_ENDS
from gputop.app.remote.reach import reached
from gputop.app.terminal import warn
from gputop.core.text.text import clean
from gputop.wire.ssh.command import NOT_FOUND

_LINE_BYTES: Final = 65_536


def run_there(hosts: Sequence[str], words: Sequence[str]) -> int:
    """Run gputop with these words on one host, and return its exit status; 255 if ssh cannot connect.

    What a terminal shows of its output is cleaned; a file or a pipe gets it unchanged. It ends with its input, which
    stays open as long as this process lives.
    """
    host, *others = hosts
    if others:
        raise BadRequestError(
            "a command runs on one host. doctor and probe run on several: gputop doctor --hosts"
            f" {','.join(hosts)}. For an overview, see: gputop fleet --help"
        )
    command = reached(host).command(words, can_ask=True, variables=(f"{UNTIL_INPUT_ENDS}=1",))
    out, err = (subprocess.PIPE if stream.isatty() else None for stream in (sys.stdout, sys.stderr))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err) as child:
        copiers = [_copier(pipe, stream) for pipe, stream in ((child.stdout, sys.stdout), (child.stderr, sys.stderr))]
        for copier in copiers:
            copier.start()
        for copier in copiers:
            copier.join()
        status = child.wait()
    if status == NOT_FOUND and sys.stderr.isatty():
        warn(f"to copy gputop to {host}, start the screen: gputop --host {host}")
    return status


def _copier(pipe: IO[bytes] | None, stream: IO[str]) -> threading.Thread:
    return threading.Thread(target=_copy, args=(pipe, stream), daemon=True)


def _copy(pipe: IO[bytes] | None, stream: IO[str]) -> None:
    """Print each line, cleaned."""
    while pipe is not None and (line := pipe.readline(_LINE_BYTES)):
        text = line.removesuffix(b"\n").decode(errors="replace")
        print(
            "\t".join(map(clean, text.split("\t"))), end="\n" if line.endswith(b"\n") else "", file=stream, flush=True
        )
