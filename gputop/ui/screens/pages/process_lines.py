"""Lines of the process page: facts from the frame, plots since gputop first saw it, sections of an inspection."""

from math import isnan
from time import localtime, strftime
from typing import Final

from msgspec import Struct

from gputop.core.inspection.text import Section, claim_mark, state_text
from gputop.core.model.catalogue import MEMORY_TOTAL
from gputop.core.model.metric import Unit
from gputop.core.model.owner import Owner
from gputop.core.model.progress import progress_facts
from gputop.core.model.sample import GpuProcess, HostProcess, Job, Presence, Readings
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, value_text
from gputop.core.recording.gpu_history import Series
from gputop.core.recording.process_history import LENGTH, Track, Tracks
from gputop.core.text.cells import width
from gputop.core.text.fit import chop, fit
from gputop.ui.panels.band import LABEL, Band, band_lines, cells_of
from gputop.ui.render.line import BLANK, Line, Spans
from gputop.ui.state.view import View

_HIGH: Final = 34  # screen lines from which the plots have a third row
_INDENT: Final = "  "
_BETWEEN: Final = " · "
_TYPES: Final = {"C": "compute", "G": "graphics", "M": "MPS client"}
_BOUND: Final = "\u00a0"  # a blank without a line break


class Subject(Struct, frozen=True, kw_only=True):
    """Subject of the page. ``process``: from the last frame that lists it, at ``seen_s``."""

    process: HostProcess
    job: Job | None
    track: Track
    seen_s: float
    trouble: str = ""


class _Plot(Struct, frozen=True):
    """A plot: its name, its series, its ink, and the value of its upper edge."""

    name: str
    series: Series
    ink: str
    top: float


def head(subject: Subject, view: View, width: int, height: int) -> list[Line]:
    """Return the facts and plots from the frames, which need no inspection."""
    process = subject.process
    lines = [Line(((f" {subject.trouble} ", "alarm"),))] if subject.trouble else []
    lines += facts("State", _state(process, subject.seen_s), width)
    lines += facts("User", _user(process, subject.job), width)
    lines += facts("Belongs to", _owner(process.owner), width)
    lines += facts("Host", _host(process), width)
    if process.progress:
        lines += facts("Progress", progress_facts(process.progress, subject.seen_s), width)
        if process.progress.torch:
            lines += facts("PyTorch", [memory.text for memory in process.progress.torch], width)
    for use in process.gpus:
        lines += facts(_gpu_label(use), _use(use, view), width)
    return [*lines, BLANK, *_plots(subject, view, width, 3 if height >= _HIGH else 2)]


def section_lines(section: Section, width: int) -> list[Line]:
    """Return a section below its title; long texts continue on the next line."""
    title: Spans = [(section.title, "accent")]
    if section.note:
        title.append((f"  {section.note}", "muted"))
    lines = [Line(tuple(title))]
    for row in section.rows:
        if row.label or section.key == "place":
            lines += _pair(_INDENT + row.label, row.text, width)
        else:
            lines += [Line(((_INDENT + part, "text"),)) for part in _continued(row.text, width - len(_INDENT))]
    return lines


def _continued(text: str, room: int) -> list[str]:
    """Return text in lines; those that continue an indented text are indented further."""
    bare = text.lstrip(" ")
    indent = text[: len(text) - len(bare)]
    if not indent:
        return wrapped(text, room)
    first, *more = wrapped(bare, room - len(indent) - len(_INDENT))
    return [indent + first, *(indent + _INDENT + part for part in more)]


def wrapped(text: str, room: int) -> list[str]:
    """Return text in lines of at most ``room`` cells, cut at blanks if possible."""
    room = max(2, room)
    lines, line, used = [], "", 0
    for number, word in enumerate(text.split(" ")):
        cells = width(word)
        if number and used + 1 + cells <= room:
            line, used = f"{line} {word}", used + 1 + cells
            continue
        if number:
            lines.append(line)
        *full, line = chop(word, room) or [""]
        lines += full
        used = width(line)
    return [*lines, line]


def facts(label: str, texts: list[str], width: int) -> list[Line]:
    """Return facts side by side; a fact that fits is not broken."""
    text = _BETWEEN.join(text.replace(" ", _BOUND) for text in texts) or NOTHING
    return [
        Line(tuple((part.replace(_BOUND, " "), ink) for part, ink in line.spans)) for line in _pair(label, text, width)
    ]


def _pair(label: str, text: str, width: int) -> list[Line]:
    first, *more = wrapped(text, width - LABEL)
    lines = [Line(((fit(label, LABEL - 1) + " ", "muted"), (first, "text")))]
    return lines + [Line(((" " * LABEL, "muted"), (part, "text"))) for part in more]


def _state(process: HostProcess, seen_s: float) -> list[str]:
    if process.presence is not Presence.ALIVE:
        return [process.presence.text]
    parts = [f"{process.state or NOTHING} {state_text(process.state)}"]
    if process.started_s is not None:
        parts.append(f"started {duration_text(seen_s - process.started_s)} ago")
        parts.append(strftime("%Y-%m-%d %H:%M:%S", localtime(process.started_s)))
    return parts


def _user(process: HostProcess, job: Job | None) -> list[str]:
    parts = [process.user or NOTHING]
    if job is not None:
        parts.append(f"job {job.label}: {len(job.members)} processes")
        if job.launcher == process.id:
            parts.append("this is the launcher")
        elif job.launcher is not None:
            parts.append(f"launcher {job.launcher.pid}")
    return parts


def _owner(owner: Owner) -> list[str]:
    named = (
        ("Slurm", "slurm", owner.slurm and owner.slurm.text), ("pod", "pod", owner.pod and owner.pod.text),
        ("container", "container", owner.container and owner.container.text), ("unit", "unit", owner.unit),
        ("", "session", _session(owner)), ("", "terminal", owner.terminal), ("", "framework", owner.framework),
        ("environment", "environment", owner.environment),
    )  # fmt: skip
    return [f"{name} {text}".strip() + claim_mark(owner, field) for name, field, text in named if text]


def _session(owner: Owner) -> str | None:
    return owner.session and owner.session.replace("login ", "login session ", 1)


def _host(process: HostProcess) -> list[str]:
    return [
        f"CPU {percent_text(process.cpu_percent)}",
        f"busiest thread {percent_text(process.busiest_thread_percent)}",
        "1 thread" if process.threads == 1 else f"{NOTHING if process.threads is None else process.threads} threads",
        f"RSS {bytes_text(process.memory_bytes)}",
        f"nice {NOTHING if process.nice is None else process.nice}",
    ]


def _gpu_label(use: GpuProcess) -> str:
    return f"GPU {use.gpu_index}" if use.gpu_instance is None else f"GPU {use.gpu_index}:{use.gpu_instance}"


def _use(use: GpuProcess, view: View) -> list[str]:
    total = _memory_total(use, view)
    parts = [
        _TYPES.get(use.type, use.type),
        bytes_text(use.memory_bytes) + (f" of {bytes_text(total)}" if total else ""),
    ]
    parts += [f"SM {percent_text(use.sm_percent)}", f"MBW {percent_text(use.memory_utilization_percent)}"]
    video = (("encoder", use.encoder_percent), ("decoder", use.decoder_percent))
    parts += [f"{name} {value:.0f}%" for name, value in video if value]
    if use.gpu_seconds is not None:
        parts.append(f"GPU time {duration_text(use.gpu_seconds)}")
    if use.energy_j is not None:
        parts.append(f"energy about {value_text(use.energy_j, Unit.JOULES)}")
    return parts


def _memory_total(use: GpuProcess, view: View) -> int | None:
    """Return the memory of the GPU, or of the GPU instance."""
    for gpu in view.gpus:
        if gpu.uuid == use.gpu:
            parts: list[Readings] = [part for part in gpu.instances if part.id == use.gpu_instance]
            return (parts or [view.values(gpu)])[0][MEMORY_TOTAL]
    return None


def _plots(subject: Subject, view: View, width: int, rows: int) -> list[Line]:
    track, process = subject.track, subject.process
    totals = [_memory_total(use, view) for use in process.gpus]
    whole = sum(total for total in totals if total)
    lines = [Line((("Since gputop first saw it", "accent"), (f"  {_span(track, view.tracks)}", "muted")))]
    if process.gpus:
        lines += _plot(_Plot("GPU memory", track.memory, "memory", whole or _highest(track.memory)), view, width, rows)
        lines += _plot(_Plot("SM", track.sm, "utilization", 100.0), view, width, rows)
    return [*lines, *_plot(_Plot("CPU", track.cpu, "cpu", _cpu_top(track.cpu)), view, width, rows)]


def _span(track: Track, tracks: Tracks) -> str:
    window = tracks.times.window(len(track.cpu.last(LENGTH)))
    return duration_text(window.span_s if window else 0.0)


def _plot(plot: _Plot, view: View, width: int, rows: int) -> list[Line]:
    """Return a plot of everything that is known; a short history takes the full width."""
    cells, times = cells_of(width), view.tracks.times
    series = plot.series.last(LENGTH)
    window = times.window(len(series))
    spread = times.spread(series, window, 2 * cells) if window else []
    last = None if not series or isnan(series[-1]) else series[-1]
    write = bytes_text if plot.ink == "memory" else percent_text
    labels: list[Spans] = [
        [(plot.name, "muted")], [(write(last), plot.ink)], [(f"of {write(plot.top)}", "muted")]
    ]  # fmt: skip
    return band_lines(Band(labels, spread, plot.top, plot.ink), (cells, rows), is_ascii=view.plots.is_ascii)


def _highest(series: Series) -> float:
    return max((value for value in series.last(10**6) if not isnan(value)), default=0.0) * 1.1 or 1.0


def _cpu_top(series: Series) -> float:
    """Return 100 times a power of two, so that the scale seldom changes."""
    highest = max((value for value in series.last(10**6) if not isnan(value)), default=0.0)
    top = 100.0
    while top < highest:
        top *= 2
    return top
