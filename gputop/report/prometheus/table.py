"""The table of all series: those of dcgm-exporter, then gputop's own."""

from collections.abc import Collection
from typing import Final

from gputop.core.model.sample import Frame
from gputop.core.usage.past import Past
from gputop.report.prometheus.dcgm import DCGM
from gputop.report.prometheus.exporter import EXPORTER
from gputop.report.prometheus.gpus import GPUS
from gputop.report.prometheus.scene import Shape, scene_of
from gputop.report.prometheus.series import Group, Rows, Scene, lines
from gputop.report.prometheus.use import USE

SERIES: Final[Rows] = (*DCGM, *GPUS, *USE, *EXPORTER)


def of_frame(frame: Frame, shape: Shape, past: Past) -> str:
    """Return the wanted series of a frame. ``past``: has taken this frame, and those before."""
    return exposition(scene_of(frame, shape, past), shape.groups)


def exposition(scene: Scene, groups: Collection[Group]) -> str:
    """Return the wanted series of a scene in Prometheus' text format 0.0.4."""
    found = lines([row for row in SERIES if row.group in groups], scene)
    return "\n".join([*found, ""])
