"""Snapshot: the current state of the box, as a table, JSON or CSV."""

import os
import time
from collections.abc import Callable
from typing import Final, TextIO

from gputop.app.backend.choice import open_backend
from gputop.app.monitoring.frames import FramesRequest, open_source, single_frame, watch_host
from gputop.core.model.sample import Frame
from gputop.wire.encoder import encode

FIRST_WAIT_S: Final = 1.0


class SnapshotRequest(FramesRequest, frozen=True, kw_only=True):
    """A snapshot. ``wait_s``: between the two readings that rates need; 0: one reading, no rates."""

    wait_s: float = FIRST_WAIT_S


def snapshot(request: SnapshotRequest, notify: Callable[[str], None]) -> Frame:
    """Read once or twice. ``notify``: receives a line if the configuration has mistakes."""
    source = open_source(open_backend(request.backend), is_once=True)
    watch_host(source, request)
    step = single_frame(source, request, notify)
    if request.wait_s:
        source.read()  # rates start from this reading
        time.sleep(request.wait_s)
    return step()


def encoded(frame: Frame) -> bytes:
    """Return a frame as a line of JSON."""
    return encode(frame)


def text(frame: Frame, form: str, out: TextIO) -> str:
    """Return a frame as a table for ``out``, or as CSV: a row for each GPU, or for each process."""
    if form.startswith("csv"):
        from gputop.report.csv import csv

        return csv(frame, "processes" if form == "csv-processes" else "gpus")
    from gputop.report.grid import look
    from gputop.report.table import table

    return table(frame, *look(out, os.environ)) + "\n"
