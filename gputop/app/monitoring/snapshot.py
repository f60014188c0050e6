"""Snapshot: the current state of the box, as a table, JSON, CSV or series of Prometheus."""

import os
import sys
import time

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import BadRequestError
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import print_json, warn
from gputop.core.model.sample import Frame


class SnapshotRequest(Struct, frozen=True, kw_only=True):
    """A snapshot. ``wait_s``: between the two readings that rates need; 0: one reading, no rates.

    ``sort``, ``columns``: keys of columns of the processes in a table.
    """

    backend: BackendRequest
    format: str = "table"
    wait_s: float = 1.0
    sort: str = "gpu"
    columns: tuple[str, ...] = ()


def snapshot(request: SnapshotRequest) -> None:
    """Read once or twice, and print the state. Raises BadRequestError for an order of anything but a table."""
    if request.format != "table" and (request.columns or request.sort != "gpu"):
        raise BadRequestError(f"--sort and --columns apply only to the table: omit them for {request.format}")
    source = open_source(request.backend, is_once=True)
    step = frames(source, request.backend, is_once=True, notify=warn)
    if request.wait_s:
        source.read()  # rates start from this reading
        time.sleep(request.wait_s)
    frame = step()
    if request.format == "json":
        print_json(frame)
    else:
        sys.stdout.write(_text(frame, request))


def _text(frame: Frame, request: SnapshotRequest) -> str:
    """Return a frame as a table, as series of Prometheus, or as CSV: a row for each GPU, or for each process."""
    form = request.format
    if form.startswith("csv"):
        from gputop.report.csv import csv

        return csv(frame, "processes" if form == "csv-processes" else "gpus")
    if form == "prometheus":
        from gputop.core.usage.past import past_of
        from gputop.report.prometheus.scene import Shape
        from gputop.report.prometheus.table import of_frame

        return of_frame(frame, Shape(), past_of(frame))
    from gputop.report.grid import look
    from gputop.report.table import TableOrder, table

    room, style = look(sys.stdout, os.environ)
    return table(frame, room, style, TableOrder(sort=request.sort, columns=request.columns)) + "\n"
