"""The table of all series: those of dcgm-exporter, then gputop's own."""

from typing import Final

from gputop.core.model.sample import Frame
from gputop.core.usage.past import Past
from gputop.report.prometheus.collectors import rows_of
from gputop.report.prometheus.dcgm import DCGM
from gputop.report.prometheus.dcgm_part import DcgmPart
from gputop.report.prometheus.exporter import EXPORTER
from gputop.report.prometheus.gpus import GPUS
from gputop.report.prometheus.scene import Shape, scene_of
from gputop.report.prometheus.series import Rows, Scene, lines
from gputop.report.prometheus.use import USE

SERIES: Final[Rows] = (*DCGM, *GPUS, *USE, *EXPORTER)


def of_frame(frame: Frame, shape: Shape, past: Past) -> str:
    """Return the wanted series of a frame. ``past``: has taken this frame, and those before."""
    return exposition(scene_of(frame, shape, past), _rows(shape))


def exposition(scene: Scene, rows: Rows) -> str:
    """Return these series of a scene in Prometheus' text format 0.0.4."""
    return "\n".join([*lines(rows, scene), ""])


def _rows(shape: Shape) -> Rows:
    if shape.chosen is None:
        return tuple(row for row in SERIES if row.group in shape.groups)
    return (*rows_of(shape.chosen), *(row for row in SERIES if row.group in shape.groups and row.of is not DcgmPart))
