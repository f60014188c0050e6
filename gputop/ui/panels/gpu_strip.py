"""Compact GPU display for many GPUs: several in a line, or totals and a cell for each."""

from collections.abc import Sequence
from math import ceil

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED, POWER_AVERAGE
from gputop.core.model.sample import Gpu, GpuInstance, GpuState
from gputop.core.model.tone_rules import temperature_tone
from gputop.core.model.units import NOTHING, share
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels import gpu_lines, values
from gputop.ui.panels.findings import mark, mark_ink
from gputop.ui.panels.totals import totals
from gputop.ui.render.layout import STRIP_CELLS, column_width, per_line
from gputop.ui.render.line import Line, Span, Spans, cut, length, tone_ink
from gputop.ui.state.view import View

_LEAST_TABLE = 62  # columns that hold temperature, power, memory and utilization with their limits
_STEPS = " ▁▂▃▄▅▆▇█"


def block_lines(view: View, columns: int, width: int) -> list[Line]:
    """Return several GPUs per line, in reading order; wide columns have the fields of the GPU table."""
    cell = column_width(width, columns)
    gpus = view.shown
    rows = -(-len(gpus) // columns)
    if cell >= _LEAST_TABLE:
        shape = gpu_lines.shape([view.values(gpu) for gpu in gpus], cell)
        title: Sequence[Span] = gpu_lines.titles(shape).spans
        blocks = [gpu_lines.line(gpu, view, shape, cell) for gpu in gpus]
    else:
        memory, load = _bars(cell)
        text = f" GPU {'TEMP':>5} {'POWER':>5} {'MEMORY':<{memory}} {'UTIL':<{load}}"
        title = [(text, "muted")]
        blocks = [tuple(_block(gpu, view, cell)) for gpu in gpus]
    return [
        _side_by_side([title] * columns, cell),
        *(_side_by_side(blocks[row::rows], cell) for row in range(rows)),
    ]


def _side_by_side(parts: Sequence[Sequence[Span]], cell: int) -> Line:
    spans = [span for part in parts for span in (*cut(tuple(part), cell), (" ", "text"))]
    return Line(tuple(spans[:-1]))


def strip_lines(view: View, columns: int, size: tuple[int, int]) -> list[Line]:
    """Return the totals, a small bar of utilization per GPU, and the number of GPUs without room."""
    cell = _cell_width(columns, size[0])
    lines = [Line(tuple(_totals(view, size[0])))]
    rows = _strip_rows(view, columns, size)
    lines += [Line(((" ", "text"), *(span for gpu in row for span in _cell(gpu, view, cell)))) for row in rows]
    rest = len(view.shown) - sum(map(len, rows))
    if rest:
        lines[-1] = Line((*lines[-1].spans, (f" … {rest} more", "warm")))
    return lines


def strip_places(view: View, columns: int, size: tuple[int, int]) -> list[list[int | None]]:
    """Return the GPU at each character of these lines."""
    width = size[0]
    cell = _cell_width(columns, width)
    places: list[list[int | None]] = [[]]
    for gpus in _strip_rows(view, columns, size):
        row = [None, *(gpu.index for gpu in gpus for _ in range(cell))]
        places.append([*row[:width], *[None] * (width - len(row))])
    return places


def _strip_rows(view: View, columns: int, size: tuple[int, int]) -> list[Sequence[Gpu]]:
    """Return the GPUs of each line; the last line has room for the number of those left out."""
    gpus, (width, height) = view.shown, size
    room = columns * (height - 1)
    if len(gpus) > room:
        gpus = gpus[: max(0, room - ceil(len(f" … {len(gpus)} more") / _cell_width(columns, width)))]
    return [gpus[start : start + columns] for start in range(0, len(gpus), columns)]


def _cell_width(columns: int, width: int) -> int:
    return min(STRIP_CELLS[0], (width - 2) // columns)


def instance_lines(gpu: Gpu, width: int) -> list[tuple[Span, ...]]:
    """Return the GPU instances: profile, compute instances, memory and SM activity."""
    side = per_line(width)
    cell = width // side
    cells = [cut(_instance(instance, cell), cell) for instance in gpu.instances]
    return [
        tuple(span for part in cells[start : start + side] for span in part) for start in range(0, len(cells), side)
    ]


def _instance(instance: GpuInstance, width: int) -> Spans:
    many = len(instance.compute_instances)
    profile = instance.profile + (f"×{many}" if many > 1 else "")
    sm = values.sm_active(instance, 4)
    wide = width >= 38
    room = max(3, min(20, width - 29 - 6 * wide))
    used, total = instance[MEMORY_USED], instance[MEMORY_TOTAL]
    spans: Spans = [(f"{instance.id:>2} ", "muted"), (fit(profile, 10), "text"), (" ", "text")]
    ink = values.memory_ink(instance)
    spans += [*values.meter(share(used, total), room, ink), *values.gibibytes(used, total, ink)]
    return [*spans, (" SM", "muted"), *sm] if wide else spans


def _block(gpu: Gpu, view: View, width: int) -> Spans:
    trouble, seen = values.trouble(gpu), view.values(gpu)
    index: Span = (f"{mark(gpu, view)}{gpu.index}".rjust(4), mark_ink(gpu, view))
    if trouble is not None:
        return [index, (" ", "text"), (f" {trouble[0]} ", "alarm"), (" " + trouble[1], "hot")]
    draw, used = seen[POWER_AVERAGE], seen[MEMORY_USED]
    memory, load = _bars(width)
    ink = values.memory_ink(seen)
    spans: Spans = [(" ", "text"), *values.temperature(seen, 5), *values.number(draw, 6, "text", "W"), (" ", "text")]
    spans += [*values.meter(share(used, seen[MEMORY_TOTAL]), memory - 6, ink), *values.short_gibibytes(used, 6, ink)]
    busy = values.free_utilization if view.is_free(gpu) else values.utilization
    spans += [(" ", "text"), *busy(seen, load)]
    return [(index[0], "muted"), *values.dimmed(spans)] if view.is_dim(gpu) else [index, *spans]


def _bars(width: int) -> tuple[int, int]:
    """Return the cells of memory and of utilization in a block, with their numbers."""
    room = width - 18 - 6 - 5
    return 6 + room - room // 2, 5 + room // 2


def _cell(gpu: Gpu, view: View, cell: int) -> Spans:
    label = fit_right(str(gpu.index), cell - 2)
    if gpu.state is not GpuState.OK:
        return [(label, "hot"), ("✕ ", "alarm")]
    value = gpu[GPU_UTILIZATION]
    step = NOTHING if value is None else _STEPS[1 + round(value * 7 / 100)]
    ink = tone_ink(temperature_tone(gpu), values.utilization_ink(value))
    return [
        (label, "free" if view.is_free(gpu) else "muted"),
        (step, "muted" if view.is_dim(gpu) or value is None else ink),
        (" ", "text"),
    ]


def _totals(view: View, width: int) -> Spans:
    """Return the totals for which there is room; GPUs that do not answer come first."""
    lost = sum(gpu.state is not GpuState.OK for gpu in view.gpus)
    parts: list[Spans] = [[(f"{lost} {'does' if lost == 1 else 'do'} not answer", "hot")]] if lost else []
    spans: Spans = []
    for part in parts + totals(view.gpus):
        if length(spans) + length(part) + 2 <= width:
            spans += [("  " if spans else " ", "text"), *part]
    return spans
