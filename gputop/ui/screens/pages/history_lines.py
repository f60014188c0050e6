"""Lines of the history page: plots on one axis of time, findings as bars, the values at a cursor."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.detection.timeline import Episode
from gputop.core.model.metric import Unit
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text
from gputop.core.recording.look import Look, column_of
from gputop.core.recording.process_history import Track
from gputop.core.recording.window import Times, Window
from gputop.core.text.fit import fit, fit_right
from gputop.core.text.plot import overlay
from gputop.ui.panels.band import LABEL, cells_of
from gputop.ui.panels.findings import MARKS, split_verdict
from gputop.ui.panels.gpu_cards import PLOTS, Plot
from gputop.ui.panels.values import clock
from gputop.ui.render.line import BLANK, Line, Span
from gputop.ui.screens.pages.history_plots import (
    Curve,
    Picture,
    axis,
    curve_text,
    highest,
    plots,
    seconds_text,
    value_read,
)
from gputop.ui.state.view import View

_MOST_FINDINGS: Final = 4
_INKS: Final = ("utilization", "power", "warm", "memory", "hot", "temperature", "high", "cpu")  # of GPUs on one axis
_BIG: Final = 10**6


class Topic(Struct, frozen=True):
    """The subject of the page: one GPU with all its plots, one plot of several GPUs, or a process.

    ``gpus``: uuids; ``plot``: of `PLOTS`, None for all plots of the first GPU.
    """

    gpus: tuple[str, ...] = ()
    plot: int | None = None
    process: ProcessId | None = None

    def times(self, view: View) -> Times:
        """Return the times of its samples."""
        return view.history.times if self.process is None else view.tracks.times


def history_page(
    topic: Topic, look: Look, view: View, episodes: Sequence[Episode], size: tuple[int, int]
) -> list[Line]:
    """Return the page: how much is known, a bar per finding, plots, the axis of time."""
    width, height = size
    times = topic.times(view)
    whole = times.window(_BIG)
    if whole is None:
        return [Line((("no samples yet", "muted"),))]
    cells = cells_of(width)
    window = look.window(whole, cells)
    cursor = None if look.cursor_s is None else column_of(look.cursor_s, window, cells)
    lines = [
        _known(times, whole),
        _shown(look, window, whole, cells),
        *_findings(episodes, window, whole, cells),
        BLANK,
    ]
    curves = _curves(topic, view)
    if topic.plot is not None:
        picture = Picture(times, window, (cells, max(2, height - len(lines) - 1)), cursor)
        return [*lines, *_overlaid(curves, picture, is_ascii=view.plots.is_ascii), axis(window, cells, cursor)]
    picture = Picture(times, window, (cells, height - len(lines) - 1), cursor)
    return [*lines, *plots(curves, picture, is_ascii=view.plots.is_ascii), axis(window, cells, cursor)]


def _overlaid(curves: Sequence[Curve], of: Picture, *, is_ascii: bool) -> list[Line]:
    """Return the curves on one axis; at the left the value of each in its colour."""
    cells, rows = of.size
    spreads = [of.times.spread(curve.values, of.window, 2 * cells) for curve in curves]
    top = max((curve.top for curve in curves), default=1.0)
    marks = "".join(curve.name[-1] for curve in curves) if is_ascii else ""
    labels: list[Span] = [(f"axis to {curve_text(top, curves[0].unit)}" if curves else "no GPU", "muted")]
    for curve, spread in zip(curves, spreads, strict=True):
        at = value_read(curve, spread, of.cursor)
        value = fit_right(curve_text(at, curve.unit), LABEL - 8)
        labels.append((f"{fit(curve.name, 6)}{value}" + (f" {curve.why}" if curve.why else ""), curve.ink))
    if len(labels) > rows:
        labels = [*labels[: rows - 1], (f"+{len(labels) - rows + 1} more", "warm")]
    labels += [("", "text")] * (rows - len(labels))
    inks = [curve.ink for curve in curves]
    drawn = overlay(spreads, top, of.size, marks=marks)
    return [
        Line(((fit(text, LABEL), ink), *_inked(row, inks, of.cursor)))
        for (text, ink), row in zip(labels, drawn, strict=True)
    ]


def _inked(row: Sequence[tuple[str, int]], inks: Sequence[str], cursor: int | None) -> list[Span]:
    """Return the cells of a row as spans of one ink each, with the cursor in them."""
    held = [(sign, inks[owner] if owner >= 0 else "text") for sign, owner in row]
    if cursor is not None:
        held[cursor] = ("│", "title")
    return [("".join(sign for sign, _ in run), ink) for ink, run in groupby(held, lambda cell: cell[1])]


def _known(times: Times, whole: Window) -> Line:
    """Return since when, in which steps and how far back values are kept."""
    step_s = whole.span_s / len(times)
    kept = duration_text(step_s * times.most)
    every = seconds_text(round(4 * step_s) / 4 or step_s)
    text = f"  a value every {every} · {duration_text(whole.span_s)} so far, at most {kept} is kept"
    return Line((("since " + clock(whole.start_s), "text"), (text, "muted")))


def _shown(look: Look, window: Window, whole: Window, cells: int) -> Line:
    """Return the window, its resolution and the time of the values that are read."""
    at = f"at {clock(look.cursor_s)}" if look.cursor_s is not None else f"now {clock(whole.end_s)}"
    end_s = min(window.end_s, whole.end_s)
    column = seconds_text(window.span_s / cells)
    text = f"  {clock(window.start_s)} to {clock(end_s)} · each column: highest value of {column}"
    return Line(((fit(at, LABEL - 2), "accent"), (text, "muted")))


def _findings(episodes: Sequence[Episode], window: Window, whole: Window, cells: int) -> list[Line]:
    """Return a bar for each finding in the window, from its beginning to its end."""
    shown = [one for one in episodes if _began_s(one) <= window.end_s and _ended_s(one, whole) >= window.start_s]
    shown.sort(key=lambda one: (-one.finding.stage.rank, _began_s(one)))
    lines = [_bar(one, window, whole, cells) for one in shown[:_MOST_FINDINGS]]
    rest = len(shown) - len(lines)
    return [*lines, Line(((f"+{rest} more findings", "muted"),))] if rest else lines


def _bar(episode: Episode, window: Window, whole: Window, cells: int) -> Line:
    """Return a bar that ends where the finding ended, with the verdict in it or beside it."""
    began, ended = (
        column_of(time_s, window, cells) for time_s in (_began_s(episode), _ended_s(episode, whole))
    )  # fmt: skip
    first, last = began or 0, cells - 1 if ended is None else ended
    bar = "─" * max(1, last - first + 1)
    if began is not None:
        bar = "├" + bar[1:]
    if ended is not None and episode.end_s is not None:
        bar = bar[:-1] + "┤"
    verdict = f" {split_verdict(episode.finding.summary)[0]} "
    if len(bar) > len(verdict) + 2:
        bar = bar[:2] + verdict + bar[2 + len(verdict) :]
    elif first > len(verdict):
        first, bar = first - len(verdict), verdict + bar
    else:
        bar += verdict
    ink = MARKS.get(episode.finding.stage, "muted")
    return Line(
        ((fit(episode.finding.subject.label, LABEL - 1) + " " * (first + 1), ink), (fit(bar, cells - first), ink))
    )


def _began_s(episode: Episode) -> float:
    return episode.finding.since_s


def _ended_s(episode: Episode, whole: Window) -> float:
    return whole.end_s if episode.end_s is None else episode.end_s


def _curves(topic: Topic, view: View) -> list[Curve]:
    if topic.process is not None:
        return _of_process(view.tracks.track(topic.process))
    gpus = [gpu for gpu in view.gpus if gpu.uuid in topic.gpus]
    if topic.plot is not None:
        named = [_of_gpu(gpu, PLOTS[topic.plot], f"GPU {gpu.index}", view) for gpu in gpus]
        return [replace(curve, ink=_INKS[at % len(_INKS)]) for at, curve in enumerate(named)]
    return [_of_gpu(gpu, plot, plot.label, view) for gpu in gpus[:1] for plot in PLOTS]


def _of_gpu(gpu: Gpu, plot: Plot, name: str, view: View) -> Curve:
    metric = plot.metric
    values, why = view.history.series(gpu.uuid, metric.key).last(_BIG), gpu.why(metric)
    top = plot.top(view.values(gpu)) or highest(values) or 1.0
    return Curve(name, values, metric.unit, plot.ink, top, why.text if why else "")


def _of_process(track: Track) -> list[Curve]:
    memory, sm, cpu = (series.last(_BIG) for series in (track.memory, track.sm, track.cpu))
    return [
        Curve("MEM", memory, Unit.BYTES, "memory", (highest(memory) or 0.0) * 1.1 or 1.0),
        Curve("SM", sm, Unit.PERCENT, "utilization", 100.0),
        Curve("CPU", cpu, Unit.PERCENT, "cpu", max(100.0, highest(cpu) or 0.0)),
    ]
