"""Lines of the GPU page: state, findings, values now, plots, processes, then every metric; identity comes last."""

from collections.abc import Iterator
from time import localtime, strftime
from typing import Any, Final, NamedTuple

from gputop.core.model.catalogue import (
    CATALOGUE,
    CLOCK_SM,
    FAN,
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER_AVERAGE,
    POWER_LIMIT,
    SM_ACTIVE,
    TEMPERATURE,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, GpuProcess, HostProcess, Presence, Readings
from gputop.core.model.tone_rules import throttle
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, value_text
from gputop.core.processes.interpreter import without_interpreter
from gputop.core.table_rows import added_keys
from gputop.core.text.cells import width as cells
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels import values
from gputop.ui.panels.band import Band, band_lines, cells_of
from gputop.ui.panels.findings import finding_line
from gputop.ui.panels.gpu_cards import PLOTS, ink_of
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.finding_lines import findings_part
from gputop.ui.screens.pages.process_lines import facts, wrapped
from gputop.ui.state.view import View

# A group goes from its first metric to the next group's, in the order of the catalogue.
_GROUPS: Final = {
    "serial": "Identity", "gpu_utilization_percent": "Utilization", "memory_total_bytes": "Memory",
    "temperature_c": "Temperature and fan", "power_average_w": "Power and energy", "clock_sm_hz": "Clocks",
    "pcie_generation": "PCIe and NVLink", "ecc_enabled": "Memory health", "persistence_mode": "Modes",
    "graphics_active_percent": "Activity of the chip (GPM)",
}  # fmt: skip
_LABEL: Final = 30
_VALUE: Final = 16
_LEAST_HELP: Final = 20
_MOST_USERS: Final = 10  # lines of processes that the plots leave room for
_MOST_ROWS: Final = 8
_MOST_SAMPLES: Final = 600


class GpuPage(NamedTuple):
    """The lines of the page; ``first``: number of the line of the first process."""

    lines: list[Line]
    first: int


def gpu_page(gpu: Gpu, view: View, size: tuple[int, int], cursor: int | None = None) -> GpuPage:
    """Return the page, with a cursor on one of its processes."""
    width, height = size
    wrong, users = view.standing.of(gpu.uuid), _processes(gpu, view, width, cursor)
    lines = [*_trouble(gpu), *(finding_line(one, view, width) for one in wrong)]
    lines += [BLANK] if lines else []
    lines += [*facts("Now", _now(view.values(gpu)), width), BLANK]
    rows = (height - len(lines) - 2 - min(_MOST_USERS, len(users))) // len(PLOTS)
    lines += [*_plots(gpu, view, (width, max(2, min(_MOST_ROWS, rows)))), BLANK]
    first = len(lines) + 2  # below a title and the names of the columns
    return GpuPage([*lines, *users, *findings_part(wrong, width), *_metrics(gpu, width)], first)


def users_of(gpu: Gpu, view: View) -> list[tuple[HostProcess, GpuProcess]]:
    """Return the processes on the GPU with their use of it, the largest use of memory first."""
    processes = view.frame.processes if view.frame else ()
    held = [(one, use) for one in processes for use in one.gpus if use.gpu == gpu.uuid]
    return sorted(held, key=lambda pair: (-(pair[1].memory_bytes or 0), pair[0].pid))


def _metrics(gpu: Gpu, width: int) -> list[Line]:
    """Return every metric, those of MIG instances first and identity last."""
    lines: list[Line] = []
    for instance in gpu.instances:
        lines += [BLANK, _title(f"GPU instance {instance.id} · {instance.profile}")]
        lines += [
            _pair(f"Compute instance {part.id}", f"{part.name} · {part.uuid}") for part in instance.compute_instances
        ]
        lines += [
            line for metric in CATALOGUE if metric.key in instance.metrics for line in _row(instance, metric, width)
        ]
    *groups, (_, own) = _groups()
    for name, metrics in groups:
        lines += [BLANK, _title(name), *(line for metric in metrics for line in _row(gpu, metric, width))]
    lines += [BLANK, _title("Identity"), _pair("UUID", gpu.uuid), _pair("Bus id", gpu.bus_id or NOTHING)]
    return [*lines, *(line for metric in own for line in _row(gpu, metric, width))]


def _trouble(gpu: Gpu) -> list[Line]:
    trouble = values.trouble(gpu)
    lines = [] if trouble is None else [Line(((f" {trouble[0]} ", "alarm"), (" " + trouble[1], "hot")))]
    return lines + [_pair("Xid", f"{event.xid} at {values.clock(event.time_s)}", "hot") for event in gpu.xids]


def _now(gpu: Gpu) -> list[str]:
    """Return the present values with their limits; an absent one with its reason."""
    found = [
        _with_limit(gpu, GPU_UTILIZATION, None), _with_limit(gpu, MEMORY_USED, MEMORY_TOTAL),
        _with_limit(gpu, POWER_AVERAGE, POWER_LIMIT), _with_limit(gpu, TEMPERATURE, TEMPERATURE_SLOWDOWN),
    ]  # fmt: skip
    more: tuple[tuple[Metric[Any], str], ...] = ((SM_ACTIVE, "SM active"), (CLOCK_SM, "SM clock"), (FAN, "fan"))
    found += [f"{name} {value_text(gpu[metric], metric.unit)}" for metric, name in more if gpu[metric] is not None]
    word = throttle(gpu)[0]
    return [*found, f"clocks: {word.removesuffix(' clocks')}"] if word else found


def _with_limit(gpu: Gpu, metric: Metric[Any], limit: Metric[Any] | None) -> str:
    reason = gpu.why(metric)
    if reason is not None:
        return f"{metric.label} {NOTHING} ({reason.text})"
    of = "" if limit is None or gpu[limit] is None else f" of {value_text(gpu[limit], limit.unit)}"
    return f"{metric.label} {value_text(gpu[metric], metric.unit)}{of}"


def _plots(gpu: Gpu, view: View, size: tuple[int, int]) -> list[Line]:
    """Return the plots of the latest minutes; a young history takes the full width."""
    width, rows = size
    seen, history = view.values(gpu), view.history
    window = history.times.window(_MOST_SAMPLES)
    if window is None:
        return []
    across = cells_of(width)
    lines = [Line((("The last ", "accent"), (duration_text(window.span_s), "accent")))]
    for plot in PLOTS:
        series = history.series(gpu.uuid, plot.metric.key).last(_MOST_SAMPLES)
        spread = history.times.spread(series, window, 2 * across)
        reason = seen.why(plot.metric)
        labels = [[(fit(plot.label, 4), "muted"), *plot.text(seen)], [(fit_right(plot.below(seen), 12), "muted")]]
        ink = ink_of(plot, seen, view, _MOST_SAMPLES // 2)
        band = Band(labels, spread, plot.top(seen), ink, reason.text if reason else "")
        lines += band_lines(band, (across, rows), is_ascii=view.plots.is_ascii)
    return lines


def _processes(gpu: Gpu, view: View, width: int, cursor: int | None) -> list[Line]:
    """Return the processes on the GPU, with their start."""
    held = users_of(gpu, view)
    if view.frame is None or not held:
        return [Line((("Processes", "accent"), ("  none on this GPU", "muted")))]
    has_ranks = any(one.owner.rank is not None for one, _ in held)
    titles = ("PID", "RANK", "USER", "STARTED", "AGE", "GPU-MEM", "SM", "COMMAND")
    lines = [_title("Processes"), Line(((fit(_columns(titles, width, has_ranks=has_ranks), width), "head"),))]
    texts = [_columns(_texts(one, use, view.frame.time_s), width, has_ranks=has_ranks) for one, use in held]
    bases = ["cursor" if at == cursor else "text" for at in range(len(held))]
    return lines + [Line(((fit(text, width), base),), base) for text, base in zip(texts, bases, strict=True)]


def _texts(one: HostProcess, use: GpuProcess, now_s: float) -> tuple[str, ...]:
    started_s = one.started_s
    return (
        str(one.pid), NOTHING if one.owner.rank is None else str(one.owner.rank), one.user or NOTHING,
        NOTHING if started_s is None else strftime("%m-%d %H:%M", localtime(started_s)),
        NOTHING if started_s is None else duration_text(now_s - started_s),
        bytes_text(use.memory_bytes), percent_text(use.sm_percent),
        one.command if one.presence is Presence.ALIVE else one.presence.text,
    )  # fmt: skip


def _columns(texts: tuple[str, ...], room: int, *, has_ranks: bool) -> str:
    """Return a line; without room for the command, the interpreter is dropped."""
    pid, rank, user, since, age, memory, sm, command = texts
    head = fit_right(pid, 8) + (fit_right(rank, 5) if has_ranks else "")
    head += f" {fit(user, 9)}{fit(since, 12)}{fit_right(age, 6)} {fit_right(memory, 8)} {fit_right(sm, 5)}  "
    return head + (command if cells(head + command) <= room else without_interpreter(command))


def _groups() -> list[tuple[str, list[Metric[Any]]]]:
    """Return the groups of metrics, identity last."""
    starts = dict.fromkeys(added_keys("metrics")[:1], "From plugins") | _GROUPS
    found: dict[str, list[Metric[Any]]] = {}
    name = ""
    for metric in CATALOGUE:
        name = starts.get(metric.key, name)
        found.setdefault(name, []).append(metric)
    return sorted(found.items(), key=lambda group: group[0] == "Identity")


def _row(readings: Readings, metric: Metric[Any], width: int) -> Iterator[Line]:
    reason = readings.why(metric)
    value = NOTHING if reason is not None else value_text(readings[metric], metric.unit)
    first, *more = wrapped(metric.help if reason is None else reason.text, max(_LEAST_HELP, width - _LABEL - _VALUE))
    ink = "text" if reason is None else "muted"
    yield Line(((fit(metric.label, _LABEL), "muted"), (fit(value, _VALUE - 1) + " ", ink), (first, "muted")))
    yield from (Line(((" " * (_LABEL + _VALUE) + part, "muted"),)) for part in more)


def _title(text: str) -> Line:
    return Line(((text, "accent"),))


def _pair(label: str, text: str, ink: str = "text") -> Line:
    return Line(((fit(label, _LABEL), "muted"), (text, ink)))
