"""A frame as a table: findings, GPUs, host, processes, and reasons for missing values."""

import time
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER_AVERAGE,
    POWER_LIMIT,
    SM_ACTIVE,
    TEMPERATURE,
)
from gputop.core.model.finding import Stage
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Frame, Gpu, GpuInstance, GpuState, Host, Presence, Readings
from gputop.core.model.tone_rules import memory_tone, share_tone, temperature_tone
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, share, value_text
from gputop.core.processes.column import Column, Row
from gputop.core.processes.columns import COLUMN_BY_KEY, rows, sorted_rows, visible_columns
from gputop.core.query.selection import why_no_gpus, why_no_processes
from gputop.core.table_rows import turned_off
from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, Style, cut, draw, paint, simulated, wrap
from gputop.report.reasons import reasons

_ENDLESS: Final = 1_000_000
_SEPARATOR: Final = " · "
_METRICS: Final = (GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED, POWER_AVERAGE, POWER_LIMIT, SM_ACTIVE, TEMPERATURE)
_TITLES: Final = ("GPU", "NAME", "TEMP", "POWER", "MEMORY", "UTIL", "SM-ACT")
_STATES: Final = {GpuState.LOST: ("LOST", Missing.LOST), GpuState.HUNG: ("NO ANSWER", Missing.HUNG)}


class TableOrder(Struct, frozen=True, kw_only=True):
    """The order of the processes. ``sort``: the key of a column; ``columns``: keys, empty for the usual ones."""

    sort: str = "gpu"
    columns: tuple[str, ...] = ()


_USUAL: Final = TableOrder()


def table(
    frame: Frame, columns_available: int | None = None, style: Style = Style.PLAIN, order: TableOrder = _USUAL
) -> str:
    """Return the frame as lines of text, without a newline at the end.

    ``columns_available``: width of the terminal, to which lines are cut; None without one: nothing is cut.
    """
    room = columns_available
    head = [*_header(frame, room, style), "", *_gpus(frame, room, style), "", *_host(frame.host, room, style)]
    processes = _processes(frame, room, style, order)
    problems = dict.fromkeys((*frame.problems, *frame.left_out, *turned_off()))  # a column may hang only now
    tail = [cut(clean(line), room) for line in (*reasons(frame, _METRICS), *problems)]
    rest = [*processes, *([""] if tail else []), *tail]
    wrong = [paint(cut(clean(line), room), tone, style) for line, tone in (*_findings(frame), *_not_judged(frame))]
    return "\n".join([*head, *([""] if wrong else []), *wrong, "", *rest])


def _findings(frame: Frame) -> Iterator[tuple[str, Tone]]:
    """Yield one line per suspect and alarm."""
    for one in frame.findings:
        if one.stage is not Stage.OBSERVATION:
            tone = Tone.HOT if one.stage is Stage.ALARM else Tone.WARM
            yield f"{one.stage.value.upper():7}  {one.subject.label} · {one.summary}", tone


def _not_judged(frame: Frame) -> Iterator[tuple[str, Tone]]:
    """Yield the line that the time was too short to judge."""
    if frame.judged_in_s is not None:
        yield f"not judged yet: gputop needs {duration_text(frame.judged_in_s)} to judge (gputop watch)", Tone.NONE


# --- header and host ---------------------------------------------------------------------------------------------
def _header(frame: Frame, room: int | None, style: Style) -> Iterator[str]:
    driver = frame.driver
    if driver.simulated:
        yield simulated(driver.simulated, room, style)
    if driver.source:
        yield paint(cut(f"FROM {clean(driver.source)}, a plugin's source: not read by gputop", room), Tone.WARM, style)
    parts = (
        clean(frame.host.name),
        f"driver {clean(driver.version or NOTHING)}",
        f"CUDA {clean(driver.cuda_version or NOTHING)}",
        time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(frame.time_s)),
    )
    yield from wrap(parts, _SEPARATOR, room)


def _host(host: Host, room: int | None, style: Style) -> Iterator[str]:
    load = " ".join(f"{value:.2f}" for value in host.load) if host.load else NOTHING
    cores = f" of {len(host.cores_percent)} cores" if host.cores_percent else ""
    parts = [
        f"CPU {percent_text(host.cpu_percent)}{cores}",
        f"load {load}",
        f"memory {_of(bytes_text(host.memory_used_bytes), bytes_text(host.memory_total_bytes))}",
        f"swap {_of(bytes_text(host.swap_used_bytes), bytes_text(host.swap_total_bytes))}",
        f"up {duration_text(host.uptime_s)}",
    ]
    tone = share_tone(share(host.memory_used_bytes, host.memory_total_bytes))
    for line in wrap(parts, _SEPARATOR, room):
        yield paint(line, Tone.OK if tone is Tone.NONE else tone, style)


def _of(part: str, whole: str) -> str:
    return f"{part} / {whole}"


# --- GPUs --------------------------------------------------------------------------------------------------------
def _gpus(frame: Frame, room: int | None, style: Style) -> list[str]:
    if not frame.gpus:
        return [cut(why_no_gpus(frame), room)]
    parts = (part for gpu in frame.gpus for part in (gpu, *gpu.instances))
    has_activity = any(part[SM_ACTIVE] is not None for part in parts)  # only Hopper and newer report it
    titles = _TITLES if has_activity else _TITLES[:-1]
    lines = [tuple(Cell(title, Tone.NONE) for title in titles)]
    lines += [cells[: len(titles)] for gpu in frame.gpus for cells in _gpu(gpu)]
    return draw(lines, Layout(right=frozenset(range(2, len(_TITLES))), yields=1, room=room), style)


def _gpu(gpu: Gpu) -> Iterator[tuple[Cell, ...]]:
    identity = (Cell(str(gpu.index)), Cell(clean(gpu.name) or NOTHING))
    if gpu.state in _STATES:
        word, reason = _STATES[gpu.state]
        yield (*identity, Cell(f"{word}: {reason.text.rpartition(': ')[2]}", Tone.HOT))
        return
    temperature = Cell(_value(gpu, TEMPERATURE), temperature_tone(gpu))
    yield (*identity, temperature, Cell(_of(_value(gpu, POWER_AVERAGE), f"{_value(gpu, POWER_LIMIT):>4}")), *_load(gpu))
    for instance in gpu.instances:
        yield (Cell(f"{gpu.index}:{instance.id}"), Cell(_instance_name(instance)), Cell(""), Cell(""), *_load(instance))


def _value(gpu: Gpu, metric: Metric[Any]) -> str:
    return value_text(gpu[metric], metric.unit)


def _load(readings: Readings) -> tuple[Cell, Cell, Cell]:
    memory = _of(bytes_text(readings[MEMORY_USED]), f"{bytes_text(readings[MEMORY_TOTAL]):>7}")
    utilization, activity = readings[GPU_UTILIZATION], readings[SM_ACTIVE]
    return Cell(memory, memory_tone(readings)), _percent(utilization), _percent(activity)


def _percent(value: float | None) -> Cell:
    return Cell(percent_text(value), Tone.NONE if value is None else Tone.OK)


def _instance_name(instance: GpuInstance) -> str:
    parts = [compute.name for compute in instance.compute_instances if compute.name != instance.profile]
    inner = f" ({', '.join(parts)})" if parts else ""
    return clean(f"  {instance.profile}{inner}")


# --- processes ---------------------------------------------------------------------------------------------------
def _processes(frame: Frame, room: int | None, style: Style, order: TableOrder) -> list[str]:
    by = COLUMN_BY_KEY[order.sort]
    shown = sorted_rows(rows(frame), by, is_reversed=by.descends)
    if not shown:
        return [cut(why_no_processes(frame), room)]
    columns = _columns(_ENDLESS if room is None else room, shown, order)
    lines = [tuple(Cell(column.title, Tone.NONE) for column in columns)]
    lines += [tuple(_cell(column, row, room) for column in columns) for row in shown]
    right = frozenset(n for n, column in enumerate(columns) if not column.is_text and column.key != "gpu")
    yields = next((n for n, column in enumerate(columns) if not column.width), len(columns) - 1)
    gap = 2 if room is None else 1  # one is what `visible_columns` reckons with
    return draw(lines, Layout(right=right, yields=yields, room=room, gap=gap), style)


def _columns(room: int, shown: list[Row], order: TableOrder) -> list[Column]:
    """Return the columns that fit; those that the user chose also without a value."""
    if not order.columns:
        return visible_columns(room, shown)
    return visible_columns(room, shown, used=frozenset(order.columns), chosen=order.columns)


def _cell(column: Column, row: Row, room: int | None) -> Cell:
    text = clean(column.text(row))
    if room is not None and column.is_text and 0 < column.width < width(text):
        text = fit(text, column.width)
    is_faint = text == NOTHING or (not column.width and row.process.presence is not Presence.ALIVE)
    return Cell(text, Tone.NONE if is_faint else Tone.OK)
