"""The table of all series: those of dcgm-exporter, then gputop's own."""

from collections.abc import Collection
from typing import Final

from gputop.report.prometheus.dcgm import DCGM
from gputop.report.prometheus.exporter import EXPORTER
from gputop.report.prometheus.gpus import GPUS
from gputop.report.prometheus.series import Group, Rows, Scene, lines

SERIES: Final[Rows] = (*DCGM, *GPUS, *EXPORTER)


def exposition(scene: Scene, groups: Collection[Group]) -> str:
    """Return the wanted series of a scene in Prometheus' text format 0.0.4."""
    return "".join(f"{line}\n" for line in lines([row for row in SERIES if row.group in groups], scene))
