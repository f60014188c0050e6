"""Host panel: processors, memory, load and pressure in one to three lines; with more lines large plots below."""

from typing import Final

from gputop.core.model.sample import Host, HostDetails
from gputop.core.model.tone_rules import pressure_tone, share_tone
from gputop.core.model.units import NOTHING, bytes_text, duration_text, share
from gputop.core.text.fit import fit_right
from gputop.core.text.tone import Tone
from gputop.ui.panels import values
from gputop.ui.render.line import Line, Span, Spans, ends, length, tone_ink
from gputop.ui.render.line_widget import FastLines
from gputop.ui.state.view import View

_STEPS: Final = "▁▂▃▄▅▆▇█"
_LEAST_PLOT: Final = 16
_WIDEST_BAR: Final = 32
_LABEL: Final = 5
_LEAST_CORES: Final = 64  # cells for the cores that details leave
DETAILED_LINES: Final = 3  # with the single cores and the details of the host


class HostPanel(FastLines):
    """Shows the host."""

    def show(self, view: View, size: tuple[int, int]) -> None:
        """Draw the view in this size, which the panel may not have yet."""
        host = view.frame.host if view.frame else Host(name="")
        drawn = host_lines(host, view, size)
        self.draw(drawn, is_grey=view.is_grey)


def host_lines(host: Host, view: View, size: tuple[int, int]) -> list[Line]:
    """Return 1, 2 or 3 lines: all in one; processors and memory with a plot; the cores too. More lines: large plots."""
    width, lines = size
    if lines > DETAILED_LINES:
        above = [*(Line(tuple(row)) for row in _rows(host, width)), Line(_third(host, width))]
        return [*above, *_large_plots(host, view, (width, lines - DETAILED_LINES))]
    if lines == 0:
        return []
    if lines == 1:
        return [Line(_one_line(host, width))]
    rows = _rows(host, width)
    plot_width = min(60, width - max(length(row) for row in rows) - 4)
    if plot_width >= _LEAST_PLOT:
        picture = view.plots.draw("host", "cpu_percent", 100.0, (plot_width, 2))
        drawn = [ends(row, [(line, "cpu"), (" ", "text")], width) for row, line in zip(rows, picture, strict=True)]
    else:
        drawn = [tuple(row) for row in rows]
    if lines >= DETAILED_LINES:
        drawn.append(_third(host, width))
    return [Line(spans) for spans in drawn]


def _rows(host: Host, width: int) -> list[Spans]:
    """Return a line of processors and one of memory, each with what fits beside it."""
    bar = max(8, min(_WIDEST_BAR, width // 5))
    left = [_cpu(host, bar), _memory(host, bar)]
    gap: Span = ("    ", "text")
    right = [_waiting(host, width - length(left[0]) - 4), _swap(host, max(6, bar // 2))]
    return [[*a, gap, *b] if length(a) + 4 + length(b) <= width else a for a, b in zip(left, right, strict=True)]


def _large_plots(host: Host, view: View, size: tuple[int, int]) -> list[Line]:
    """Return the plots of processors and memory, side by side."""
    width, rows = size
    cells = (width - 2 * _LABEL - 1) // 2
    total = float(host.memory_total_bytes or 0)
    cpu = view.plots.draw("host", "cpu_percent", 100.0, (cells, rows))
    memory = view.plots.draw("host", "memory_used_bytes", total, (cells, rows))
    labels = [(" CPU ", " MEM "), *[(" " * _LABEL, " " * _LABEL)] * rows]
    return [
        Line(((first, "muted"), (left, "cpu"), (second, "muted"), (right, "memory")))
        for (first, second), left, right in zip(labels, cpu, memory, strict=False)
    ]


def _one_line(host: Host, width: int) -> tuple[Span, ...]:
    bar = max(4, min(_WIDEST_BAR, (width - 56) // 3))
    spans = [*_cpu(host, bar), ("  ", "text"), *_memory(host, bar)]
    for part in (_load(host), _uptime(host)):
        if length(spans) + length(part) + 2 <= width:
            spans += [("  ", "text"), *part]
    return tuple(spans)


def _cpu(host: Host, bar: int) -> Spans:
    ink = tone_ink(share_tone(host.cpu_percent), "cpu")
    return [(" CPU ", "muted"), *values.meter(host.cpu_percent, bar, ink), *values.percent(host.cpu_percent, 5, "text")]


def _memory(host: Host, bar: int) -> Spans:
    percent = share(host.memory_used_bytes, host.memory_total_bytes)
    ink = tone_ink(share_tone(percent), "memory")
    numbers = values.gibibytes(host.memory_used_bytes, host.memory_total_bytes)
    return [(" MEM ", "muted"), *values.meter(percent, bar, ink), (" ", "text"), *numbers]


def _load(host: Host) -> Spans:
    load = "  –     –     – " if host.load is None else " ".join(f"{value:5.2f}" for value in host.load)
    return [("load ", "muted"), (load, "text")]


def _uptime(host: Host) -> Spans:
    return [("up ", "muted"), (fit_right(duration_text(host.uptime_s), 6), "text")]


def _waiting(host: Host, room: int) -> Spans:
    """Return load, pressure and uptime, as far as they fit."""
    load: Spans = [("        ", "text"), *_load(host)]
    pressed = [*load, ("    ", "text"), *_pressure(host)]
    for spans in ([*pressed, ("    ", "text"), *_uptime(host)], pressed):
        if length(spans) <= room:
            return spans
    return load


def _pressure(host: Host) -> Spans:
    spans: Spans = [("pressure", "muted")]
    pressure = host.pressure
    for label, value in (("cpu", pressure.cpu_percent), ("mem", pressure.memory_percent), ("io", pressure.io_percent)):
        text = NOTHING if value is None else f"{value:.0f}%"
        spans += [(f" {label}", "muted"), (fit_right(text, 5), tone_ink(pressure_tone(value)))]
    return spans


def _swap(host: Host, bar: int) -> Spans:
    used, total = host.swap_used_bytes, host.swap_total_bytes
    if not total:
        return [("SWAP ", "muted"), ("none" if total == 0 else NOTHING, "muted")]
    percent = share(used, total)
    ink = tone_ink(share_tone(percent), "memory")
    numbers: Spans = [(fit_right(bytes_text(used), 8), "text"), (f"/{bytes_text(total)}", "muted")]
    return [("SWAP ", "muted"), *values.meter(percent, bar, ink), *numbers]


def _third(host: Host, width: int) -> tuple[Span, ...]:
    """Return the cores, and the details of the host at the right if there are any."""
    if host.details is None:
        return _cores(host, width)
    details = _details(host.details, width - 20 - min(len(host.cores_percent), _LEAST_CORES))
    return ends(list(_cores(host, width - length(details))), [*details, (" ", "text")], width)


def _cores(host: Host, width: int) -> tuple[Span, ...]:
    """Return a cell per core; with too many cores a cell shows the busiest of several."""
    cores = host.cores_percent
    room = max(1, width - 16)
    per_cell = -(-len(cores) // room) or 1
    busiest = [max(cores[start : start + per_cell]) for start in range(0, len(cores), per_cell)]
    strip = "".join(_STEPS[min(7, int(value * 8 / 100))] for value in busiest)
    return (("     ", "text"), (strip, "cpu"), (f" {len(cores)} cores", "muted"))


def _details(details: HostDetails, room: int) -> Spans:
    """Return network and disk rates, the hottest sensor, the fastest fan, users and frequency that fit in the room."""
    hottest = max(details.temperatures, key=lambda one: one.celsius, default=None)
    fan = max((one.rpm for one in details.fans), default=None)
    is_hot = hottest is not None and hottest.high_celsius is not None and hottest.celsius >= hottest.high_celsius
    rate = values.rate
    parts: list[tuple[str, str, str]] = [
        ("net ", f"↓ {rate(details.network_received_bytes_per_s)} ↑ {rate(details.network_sent_bytes_per_s)}", "text"),
        ("disk ", f"read {rate(details.disk_read_bytes_per_s)} write {rate(details.disk_written_bytes_per_s)}", "text"),
        ("max ", f"{hottest.celsius:.0f}°C" if hottest else "", tone_ink(Tone.HOT if is_hot else Tone.OK)),
        ("", f"{details.cpu_hertz / 1e9:.1f} GHz" if details.cpu_hertz else "", "text"),
        ("fan ", f"{fan:.0f} rpm" if fan else "", "text"),
        ("users ", str(len(details.users)) if details.users else "", "text"),
    ]
    spans: Spans = []
    for label, text, ink in parts:
        part: Spans = [("    ", "text"), (label, "muted"), (text, ink)] if text else []
        if length(spans) + length(part) <= room:
            spans += part
    return spans
