"""GPU table: a line per GPU; a wider screen has more columns and longer bars."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from gputop.core.model.catalogue import FAN as FAN_SPEED
from gputop.core.model.catalogue import GPU_UTILIZATION, NVLINK_RX, NVLINK_TX, PCIE_RX, PCIE_TX, SM_ACTIVE
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, Readings
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels import values
from gputop.ui.panels.findings import mark, mark_ink
from gputop.ui.render.line import Line, Span, Spans, cut, length
from gputop.ui.state.view import View

Cell: TypeAlias = Callable[[Readings, int], Spans]


class Field(Struct, frozen=True):
    """A column: ``rank`` 0 always fits, the highest is left out first. ``grows``: takes a share of the free width."""

    title: str
    width: int
    rank: int
    cell: Cell
    grows: bool = False
    is_left: bool = False


FIELDS: Final = (
    Field("TEMP", 5, 1, values.temperature),
    Field("FAN", 4, 7, values.fan),
    Field("POWER", 9, 2, values.power),
    Field("MEMORY", 19, 0, values.memory, grows=True, is_left=True),
    Field("UTIL", 11, 0, values.utilization, grows=True, is_left=True),
    Field("SM", 4, 5, values.sm_active),
    Field("MHz SM/MEM", 10, 6, values.clocks),
    Field("PCIe in/out", 11, 8, values.pcie),
    Field("NVLink i/o", 11, 9, values.nvlink),
    Field("CLOCKS", 12, 4, values.note, is_left=True),
)
_NEEDS: Final[dict[str, tuple[Metric[Any], ...]]] = {
    "FAN": (FAN_SPEED,),
    "SM": (SM_ACTIVE,),
    "PCIe in/out": (PCIE_RX, PCIE_TX),
    "NVLink i/o": (NVLINK_RX, NVLINK_TX),
}
_WIDEST_BAR: Final = 43
_LEAST_HISTORY: Final = 14
_LEAST_REASON: Final = 40
_COMFORT: Final = 10
_SPARE: Final = 6
_GAP: Final = "  "


class Shape(Struct, frozen=True):
    """The columns at a width. ``history`` is 0 if there is no room for a plot."""

    name: int
    fields: tuple[tuple[Field, int], ...]
    history: int
    gap: str


def shape(gpus: Sequence[Gpu], width: int) -> Shape:
    """Choose the columns for the width, without those that no GPU fills."""
    gap = _GAP if width >= 100 else " "
    most = 20 if width >= 100 else 14 if width >= 76 else 8
    name = min(most, max((length([(values.name_within(gpu.name, most), "")]) for gpu in gpus), default=4))
    fields = [field for field in FIELDS if _is_filled(field, gpus)]
    while _taken(name, fields, gap) > width and any(field.rank for field in fields):
        fields.remove(max(fields, key=lambda field: field.rank))
    while _taken(name, fields, gap) > width - _COMFORT and any(field.rank >= _SPARE for field in fields):
        fields.remove(max(fields, key=lambda field: field.rank))  # longer bars before rare columns
    left = width - _taken(name, fields, gap)
    growing = [field for field in fields if field.grows]
    widths = {field.title: field.width for field in fields}
    for field in growing:
        wanted = field.width + left // len(growing)  # below 45 columns the bars are shorter, not the numbers
        widths[field.title] = min(_WIDEST_BAR if field.title == "MEMORY" else 32, wanted)
    history = width - _taken(name, fields, gap) - sum(widths[f.title] - f.width for f in growing) - len(gap)
    chosen = tuple((field, widths[field.title]) for field in fields)
    return Shape(name, chosen, history if history >= _LEAST_HISTORY else 0, gap)


def titles(of: Shape) -> Line:
    """Return the line of titles."""
    text = f"{'GPU':>4}{of.gap}{'NAME':<{of.name}}"
    for field, width in of.fields:
        text += of.gap + (fit(field.title, width) if field.is_left else fit_right(field.title, width))
    if of.history:
        text += of.gap + "UTIL HISTORY"
    return Line(((text, "muted"),))


def line(gpu: Gpu, view: View, of: Shape, width: int) -> tuple[Span, ...]:
    """Return the line of a GPU; one that does not answer shows its last values in grey, and the reason."""
    trouble = values.trouble(gpu)
    seen = view.values(gpu)
    is_free = view.is_free(gpu)
    index: Span = (f"{mark(gpu, view)}{gpu.index}".rjust(4), mark_ink(gpu, view))
    spans: Spans = [(of.gap, "text"), (fit(values.name_within(gpu.name, of.name), of.name), "text")]
    for field, cells in of.fields:
        free = is_free and field.title == "UTIL"
        spans += [(of.gap, "text"), *(values.free_utilization(seen, cells) if free else field.cell(seen, cells))]
    if trouble is not None:
        return _troubled(index, spans, trouble, of, width)
    if of.history:
        spans += [(of.gap, "text"), _history(gpu, view, of.history)]
    if view.is_dim(gpu):
        return ((index[0], "muted"), *values.dimmed(spans))
    return (index, *spans)


def _troubled(index: Span, spans: Spans, trouble: tuple[str, str], of: Shape, width: int) -> tuple[Span, ...]:
    """Write the reason over the columns right of the memory, or of the power if those are too narrow."""
    word, reason = trouble
    reasons: Spans = [(of.gap, "text"), (f" {word} ", "alarm"), (" " + reason, "hot")]
    kept = _end_of("MEMORY", of)
    if width - kept < _LEAST_REASON:
        kept = _end_of("POWER", of)
    return (index, *values.dimmed(cut(spans, kept - 4)), *cut(reasons, width - kept))


def _end_of(title: str, of: Shape) -> int:
    at = 4 + len(of.gap) + of.name
    for field, cells in of.fields:
        at += len(of.gap) + cells
        if field.title == title:
            break
    return at


def _history(gpu: Gpu, view: View, width: int) -> Span:
    ink = values.utilization_ink(view.plots.mean(gpu.uuid, GPU_UTILIZATION.key, width))
    return view.plots.draw(gpu.uuid, GPU_UTILIZATION.key, 100.0, (width, 1))[0], ink


def _taken(name: int, fields: Sequence[Field], gap: str) -> int:
    return 4 + len(gap) + name + sum(field.width + len(gap) for field in fields)


def _is_filled(field: Field, gpus: Sequence[Gpu]) -> bool:
    metrics = _NEEDS.get(field.title)
    return metrics is None or any(gpu[metric] is not None for gpu in gpus for metric in metrics)
