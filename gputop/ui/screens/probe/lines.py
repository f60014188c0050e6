"""Lines of the probe page: the choice, the progress of each device, and the report.

The rows are drawn by hand, not with an OptionList: bars and figures stay aligned and change with every sample.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gputop.core.model.catalogue import POWER_AVERAGE, TEMPERATURE
from gputop.core.model.sample import Gpu
from gputop.core.model.units import NOTHING, duration_text
from gputop.core.probing.plan import START_S, chosen, timed
from gputop.core.probing.probe import Probe
from gputop.core.probing.progress import MOST_FINDINGS, DeviceCourse, Run
from gputop.core.probing.result import DeviceResult, ProbeReport, TestResult, TestStatus, telling
from gputop.core.probing.wording import WORDS, figures_text, number_text
from gputop.core.text.fit import fit, fit_right
from gputop.core.text.text import clean
from gputop.ui.panels import values
from gputop.ui.render.line import BLANK, Line, Span, Spans, cut, length, tone_ink
from gputop.ui.screens.mig.lines import paragraph
from gputop.ui.state.probe_choice import CPU_COUNT, CPUS, Candidate, Choice

_MARK: Final = max(len(word) for word, _ in WORDS.values())
_BAR: Final = 16
_SMALL_BAR: Final = 4
_NARROW: Final = 90
_CPU: Final = "CPU-"
_BAD: Final = frozenset({TestStatus.FAIL, TestStatus.ERROR, TestStatus.WARN, TestStatus.INCONCLUSIVE})
_RATE: Final = "/s"
_MANNERS: Final = (
    "The tests load each device fully and use up to 90 % of its free memory, with one process per device. They change "
    "no GPU setting, and leave no files or processes behind."
)
_SIMULATED: Final = "These GPUs are simulated, so they cannot be tested."
_FORCED: Final = (
    "A GPU you selected is in use. Its processes get slower and may run out of memory, and its measured speed is "
    "inconclusive. Press y to start; Enter does nothing."
)


# --- before ------------------------------------------------------------------------------------------------------
def choice_lines(
    probe: Probe, choice: Choice, held: Sequence[Candidate], *, is_simulated: bool, width: int
) -> list[Line]:
    """Return the level and the devices to choose from."""
    tests = chosen(probe, choice.level, ())
    about = duration_text(START_S + sum(timed(tests, choice.level, None).values()))
    level: Spans = [(" Level   ", "muted"), ("◂ ", "faint"), (choice.level.value, "title"), (" ▸", "faint")]
    lines = [Line((*level, (f"   about {about}, {len(tests)} tests", "text")))]
    lines += paragraph(", ".join(test.key for test in tests), width, "muted", indent=9)
    lines += [BLANK, Line(((" Devices to test", "accent"),))]
    lines += [_candidate(one, choice, at, width) for at, one in enumerate(held)]
    cpus = f"{CPU_COUNT} CPUs instead of GPUs, to try the tests"
    lines.append(_row(choice, CPUS, len(held), [(cpus, "text")], width))
    lines += [BLANK, *(Line(((f" {line}", "muted"),)) for line in _texts(_MANNERS, width))]
    if is_simulated:
        lines += [Line(((f" {line}", "warm"),)) for line in _texts(_SIMULATED, width)]
    if choice.in_use(tuple(held)):
        lines += [Line(((f" {line}", "warm"),)) for line in _texts(_FORCED, width)]
    return lines


def _texts(text: str, width: int) -> list[str]:
    return [line.spans[0][0].strip() for line in paragraph(text, width - 2)]


def _candidate(one: Candidate, choice: Choice, at: int, width: int) -> Line:
    spans: Spans = [(fit(one.label, 7), "title"), (fit(values.short_name(one.name), min(26, width // 4)), "text")]
    if one.parts:
        spans.append((f"{one.parts} MIG devices  ", "muted"))
    if one.fault:
        spans.append((one.fault, "hot"))
    elif one.users:
        who = "in use" if len(one.users) == 1 else f"in use by {len(one.users)}"
        spans.append((f"{who}: {one.users[0]}", "warm"))
    else:
        spans.append(("free", "text"))
    return _row(choice, one.uuid, at, spans, width)


def _row(choice: Choice, uuid: str, at: int, spans: Spans, width: int) -> Line:
    box = ("[x] ", "accent") if uuid in choice.chosen else ("[ ] ", "muted")
    return Line(tuple(cut([(" ", "text"), box, *spans], width)), "cursor" if at == choice.at else "text")


# --- while it runs -----------------------------------------------------------------------------------------------
def running_lines(
    run: Run, questions: Mapping[str, str], gpus: Sequence[Gpu], *, at: int, size: tuple[int, int]
) -> list[Line]:
    """Return a line for each device, and the tests of the marked one. ``gpus``: with their present values.

    ``size``: columns and lines that fit. If they are too few, passed and pending tests share a line each, so that
    running and failed tests stay visible.
    """
    width, height = size
    devices = run.course.devices
    if not devices:
        return [Line(((" finding the GPUs and a Python for the tests…", "muted"),))]
    by_uuid = {gpu.uuid: gpu for gpu in gpus}
    label = max(len(one.label) for one in devices)
    lines = []
    for n, one in enumerate(devices):
        spans = _refused(one) if one.status is not None else _progress(one, by_uuid.get(one.gpu), width)
        head: Spans = [(f" {fit(one.label, label)}  ", "title")]
        lines.append(Line(tuple(cut([*head, *spans], width)), "cursor" if n == at else "text"))
    marked = devices[min(at, len(devices) - 1)]
    gpu, rest = by_uuid.get(marked.gpu), height - len(lines) - 1
    course = list(_course(marked, gpu, questions, width))
    if len(course) > rest:
        spare = rest - len(list(_course(marked, gpu, questions, width, most=0)))
        course = list(_course(marked, gpu, questions, width, most=max(0, spare)))
    return [*lines, BLANK, *course]


def _refused(one: DeviceCourse) -> Spans:
    word, tone = WORDS[one.status or TestStatus.SKIP]
    return [(f"{word}  ", tone_ink(tone)), (_why(one.reason), "muted")]


def _why(reason: str) -> str:
    """Return in a line why a device is not tested, without the shell command that would test it."""
    first, *more = reason.split("\n")
    return clean(": ".join((first.partition("; --force")[0], *more[:1])))


def _progress(one: DeviceCourse, gpu: Gpu | None, width: int) -> Spans:
    """Return bar, share, remaining time, temperature, power, and the running test with its message."""
    cells, room = (_SMALL_BAR, 9) if width < _NARROW else (_BAR, 12)
    left = "done" if one.is_over else "starting" if one.left_s is None else f"{duration_text(one.left_s)} left"
    spans: Spans = [*values.meter(100 * one.done, cells, "utilization"), (f" {one.done:4.0%} ", "text")]
    spans.append((fit(left, room), "muted"))
    if gpu is not None:
        spans += [*values.temperature(gpu, 6), *values.power(gpu, 9), ("  ", "text")]
    elif one.gpu:
        spans.append((f"{fit_right(NOTHING, 6)}{fit_right(NOTHING, 9)}  ", "muted"))
    has_room = width >= _NARROW + len(one.wanted)
    counts = [*_marks(one.tests, one.wanted, one.current), ("  ", "text")] if has_room else _counts(one.tests)
    what = one.current or ("" if one.is_over or one.done else "waiting" if one.is_waiting else "starting")
    detail = one.text if one.current else ""
    name = fit(what, max(map(len, (what, *one.wanted)))) if has_room else what
    return [
        *spans,
        *counts,
        (f"{name}  ", "text"),
        (f"{detail}  " if detail else "", "text"),
        (_speed(one, detail), "muted"),
    ]


def _counts(tests: Sequence[TestResult]) -> Spans:
    """Return the number of failed tests and of passed ones."""
    bad = [one.status for one in tests if one.status in (TestStatus.FAIL, TestStatus.ERROR, TestStatus.WARN)]
    found: Spans = (
        [(f"{len(bad)}✗ ", "hot" if TestStatus.FAIL in bad or TestStatus.ERROR in bad else "warm")] if bad else []
    )
    return [*found, (f"{len(tests) - len(bad)}✓  ", "muted")]


def _marks(tests: Sequence[TestResult], wanted: Sequence[str], current: str | None = None) -> Spans:
    """Return a sign for each test: its result, running, or pending."""
    done = {test.key: test.status for test in tests}
    return [_mark(done.get(key), is_current=key == current) for key in wanted]


def _mark(status: TestStatus | None, *, is_current: bool) -> Span:
    if status is None:
        return ("▶", "accent") if is_current else ("·", "faint")
    word, tone = WORDS[status]
    return word[:1], tone_ink(tone, "muted")


def _speed(one: DeviceCourse, detail: str) -> str:
    """Return the last measured throughput, unless the running test reports its own."""
    figures = [(test.key, figure) for test in one.tests for figure in test.figures if figure.unit.endswith("/s")]
    if not figures or _RATE in detail:
        return ""
    key, figure = figures[-1]
    return f"{key}: {number_text(figure.value, figure.unit)}"


def _unknown(one: DeviceCourse, gpu: Gpu | None) -> str:
    """Return why temperature or power is missing; empty if both are known."""
    if one.uuid.startswith(_CPU):
        return "no temperature or power: this device is a CPU"
    if gpu is None:
        return "no temperature or power: gputop does not read this GPU" if one.gpu else ""
    reasons = ((metric, gpu.why(metric)) for metric in (TEMPERATURE, POWER_AVERAGE))
    return ", ".join(f"no {metric.label.lower()}: {reason.text}" for metric, reason in reasons if reason is not None)


def _course(
    one: DeviceCourse, gpu: Gpu | None, questions: Mapping[str, str], width: int, *, most: int | None = None
) -> Iterator[Line]:
    """Yield the tests of a device: done, running, pending.

    ``most``: the number of passed tests with a line of their own; pending tests then share a line.
    """
    head: Spans = [(f" {one.label}", "accent"), (f"  {one.name}", "muted")]
    yield Line(tuple(cut([*head, (f"  {_unknown(one, gpu)}", "muted")], width)))
    if one.status is not None:
        yield from paragraph(f" {clean(one.reason)}", width, "warm")
    done = {test.key: test for test in one.tests}
    passed = [test.key for test in one.tests if test.status is TestStatus.PASS and not test.findings]
    coming = [key for key in one.wanted if key not in done and key != one.current]
    hidden: set[str] = set()
    if most is not None:
        folded = passed[: max(0, len(passed) - most)]
        yield _several(WORDS[TestStatus.PASS][0], folded, width)
        hidden = {*folded, *coming}
    for key in one.wanted:
        if key in hidden:
            continue
        if key in done:
            yield from _test(done[key], questions, width)
        elif key == one.current:
            runs: Spans = [(fit(" ▶ runs", _MARK + 3), "accent"), (fit(key, _name(width)), "title")]
            detail = (f"  {one.text}", "text" if _RATE in one.text else "muted")
            yield Line(tuple(cut([*runs, *values.meter(100 * one.test_done, _BAR, "utilization"), detail], width)))
        else:
            yield Line(((fit("", _MARK + 3) + key, "faint"),))
    if most is not None:
        yield _several("pending", coming, width)


def _several(word: str, keys: Sequence[str], width: int) -> Line:
    """Return several tests in one line."""
    detail = fit(f"{len(keys)}: {', '.join(keys)}" if keys else "none", max(1, width - _MARK - 3))
    return Line(((fit(f" {word}", _MARK + 3), "muted"), (detail, "faint")))


# --- when it is over ---------------------------------------------------------------------------------------------
def report_lines(report: ProbeReport, questions: Mapping[str, str], at: int, width: int) -> list[Line]:
    """Return a line for each device with its verdict, and the tests of the marked one."""
    devices = report.devices
    label = max((len(one.label) for one in devices), default=0)
    lines = [_verdict(one, label, n == at, width) for n, one in enumerate(devices)]
    parts = [[BLANK, *_result(devices[min(at, len(devices) - 1)], questions, width)]] if devices else []
    if report.joint:
        tests = [line for test in report.joint for line in _test(test, questions, width)]
        is_bad = any(test.status in _BAD for test in report.joint)
        parts.insert(0 if is_bad else len(parts), [BLANK, Line(((" all devices together", "accent"),)), *tests])
    lines += [line for part in parts for line in part]
    notes = [line for note in report.notes for line in paragraph(f" {clean(note)}", width, "muted")]
    return [*lines, BLANK, *notes] if notes else lines


def _verdict(one: DeviceResult, label: int, is_marked: bool, width: int) -> Line:  # noqa: FBT001
    word, tone = WORDS[one.status]
    spans: Spans = [(f" {fit(word, _MARK)}  ", tone_ink(tone)), (f"{fit(one.label, label)}  ", "title")]
    spans.append((fit(values.short_name(one.name), 22), "text"))
    if one.reason:
        spans.append((_why(one.reason), "muted"))
    else:
        passed = sum(test.status is TestStatus.PASS for test in one.tests)
        spans += _marks(one.tests, [test.key for test in one.tests])
        spans.append((f"  {passed} of {len(one.tests)} tests passed", "muted"))
    return Line(tuple(cut(spans, width)), "cursor" if is_marked else "text")


def _result(one: DeviceResult, questions: Mapping[str, str], width: int) -> Iterator[Line]:
    torch = f"  torch {one.torch}" if one.torch else ""
    yield Line(((f" {one.label}", "accent"), (f"  {clean(one.name)}  {one.uuid}{torch}", "muted")))
    for line in one.reason.split("\n") if one.reason else ():
        yield from paragraph(f" {clean(line)}", width, "warm")
    for test in sorted(one.tests, key=lambda test: test.status not in _BAD):  # bad results first
        yield from _test(test, questions, width)
    if one.status is TestStatus.ERROR:
        for line in one.last_words.splitlines()[-5:]:
            yield from paragraph(f" {clean(line)}", width, "muted")


def _test(test: TestResult, questions: Mapping[str, str], width: int) -> Iterator[Line]:
    """Yield a test with its figures, and its findings below."""
    word, tone = WORDS[test.status]
    figures = figures_text(test.figures)
    detail = (
        clean(test.reason)
        if test.reason and test.status is not TestStatus.PASS
        else figures or questions.get(test.key, "")
    )
    head: Spans = [(fit(f" {word}", _MARK + 3), tone_ink(tone, "muted")), (fit(clean(test.key), _name(width)), "text")]
    yield Line(tuple(cut([*head, (detail, "muted")], max(width, length(head)))))
    for finding in telling(test.findings, MOST_FINDINGS):
        ink = "hot" if finding.status is TestStatus.FAIL else "warm"
        yield from paragraph(f"{clean(finding.code)}: {clean(finding.text)}", width, ink, indent=_MARK + 3)
    if len(test.findings) > MOST_FINDINGS:
        more = f"and {len(test.findings) - MOST_FINDINGS} more: gputop probe --json lists them all"
        yield from paragraph(more, width, "muted", indent=_MARK + 3)


def _name(width: int) -> int:
    """Return the cells for the names of tests; a narrow screen cuts the longest."""
    return 20 if width < _NARROW else 26
