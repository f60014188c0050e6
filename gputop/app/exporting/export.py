"""Export: the series of this host for Prometheus, until a signal ends it."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.alerting.takers import takers_of
from gputop.app.backend.backend import BackendRequest
from gputop.app.exporting.collectors_file import shape_by
from gputop.app.exporting.holder_sources import HolderSources, Kubelet
from gputop.app.exporting.hpc_jobs import VARIABLE
from gputop.app.exporting.publication import Publication
from gputop.app.exporting.state import StateFile, load, state_path
from gputop.app.exporting.textfile import TextFile
from gputop.app.exporting.web import Web
from gputop.app.interrupts import StopRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import warn
from gputop.core.model.sample import Frame
from gputop.core.usage.ledger import Ledger
from gputop.core.usage.past import Past
from gputop.lazy_imports import collect_seldom
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group
from gputop.wire.server import Rhythm

_USUAL: Final = "127.0.0.1:9400"  # the port of dcgm-exporter, for this host alone


class ExportRequest(Struct, frozen=True, kw_only=True):
    """An export. ``listen``: ADDRESS:PORT. ``web_config``: the path of a file of the exporter toolkit.

    ``collectors``: the path of a file of dcgm-exporter that chooses series. ``receivers``: of the findings, by name or
    as KIND:WHERE. ``processes``: how many have series of their own; None: none. ``textfile``: a folder for
    node_exporter, instead of a server. ``is_unit``: print the systemd unit instead. ``hpc_job_mapping_dir``: with the
    jobs of each GPU. ``kubernetes``: the socket of the kubelet. ``virtual_gpus``: a GPU can have several containers.
    """

    backend: BackendRequest
    shape: Shape = Shape()
    listen: str = _USUAL
    web_config: str | None = None
    collectors: str | None = None
    receivers: tuple[str, ...] = ()
    processes: int | None = None
    textfile: str | None = None
    is_unit: bool = False
    hpc_job_mapping_dir: str | None = None
    kubernetes: str | None = None
    virtual_gpus: bool = False


def export(request: ExportRequest) -> None:
    """Serve the series until a signal ends it. Raises UseCaseError."""
    if request.is_unit:
        from gputop.app.exporting.unit import unit

        sys.stdout.write(unit(sys.argv[1:], request.textfile))
        return
    holders = _holders(request)
    shape = shape_by(request.collectors, request.shape)
    take, end_taking = takers_of(request.receivers, request.backend)
    outlet = TextFile(request.textfile) if request.textfile else Web(request.listen, request.web_config)
    source = open_source(request.backend, is_once=False)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    step = frames(source, request.backend, notify=warn)
    publication, state = _publication(request, shape)
    collect_seldom()
    outlet.follow(publication, time.monotonic())
    warn(outlet.greeting)
    try:
        while not stop.is_wanted:
            take(_published(step, publication, holders))
            outlet.follow(publication, time.monotonic())
            state.follow(time.monotonic())
            if not stop.is_wanted:
                rhythm.wait()
    finally:
        outlet.close()
        state.close()
        end_taking()


def _publication(request: ExportRequest, shape: Shape) -> tuple[Publication, StateFile]:
    """Return what is published, and what keeps its totals: those of simulated machines and plugins are not kept."""
    path = state_path() if request.backend.demo is None and request.backend.source is None else None
    ledger = Ledger(load(path) if path else (), processes=request.processes or 0)
    groups = (*shape.groups, *((Group.PROCESSES,) if request.processes else ()))
    publication = Publication(replace(shape, groups=groups, hostname=os.environ.get("NODE_NAME")), Past(ledger))
    return publication, StateFile(path, publication.kept, lambda: publication.is_read)


def _holders(request: ExportRequest) -> HolderSources:
    kubelet = Kubelet(request.kubernetes, request.virtual_gpus) if request.kubernetes else None
    return HolderSources(request.hpc_job_mapping_dir or os.environ.get(VARIABLE), kubelet)


def _published(step: Callable[[], Frame], publication: Publication, holders: HolderSources) -> Frame:
    began = time.monotonic()
    frame = step()
    publication.publish(frame, time.monotonic() - began, holders.latest())
    return frame
