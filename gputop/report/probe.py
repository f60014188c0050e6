"""A probe as text: its progress, and a report with one line per test and the problems below it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.units import duration_text
from gputop.core.probing.result import DeviceResult, ProbeReport, TestFinding, TestResult, TestStatus, telling
from gputop.core.probing.wording import WORDS, figures_text
from gputop.core.text.fit import fit
from gputop.core.text.text import clean
from gputop.report.grid import Style, cut, paint

_INDENT: Final = "    "
_MOST: Final = 8  # findings shown per test; the JSON has them all
_MARK: Final = max(len(word) for word, _ in WORDS.values())
_BAR: Final = 20
_SMALL_BAR: Final = 8
_WIDE: Final = 100


class DeviceProgress(Struct, frozen=True, kw_only=True):
    """Progress of a device. ``done``: 0 to 1, of all its tests; ``left_s``: estimated; ``heat``: 71°C 689W."""

    label: str
    test: str
    done: float
    left_s: float
    text: str = ""
    heat: str = ""


def progress(devices: Sequence[DeviceProgress], room: int | None) -> list[str]:
    """Return a line for each device: a bar, the time left, the current test."""
    lines, cells = [], _BAR if room is None or room >= _WIDE else _SMALL_BAR
    for device in devices:
        full = round(min(1.0, max(0.0, device.done)) * cells)
        bar = "█" * full + "·" * (cells - full)
        left = f"{duration_text(device.left_s)} left"
        parts = (clean(device.label), f"{bar} {device.done:4.0%}", left, device.heat, device.test, device.text)
        lines.append(cut("  ".join(filter(None, parts)), room))
    return lines


def report(found: ProbeReport, questions: Mapping[str, str], room: int | None, style: Style) -> str:
    """Return the results as lines, without a newline at the end. ``questions``: of the tests."""
    lines: list[str] = []
    for device in found.devices:
        lines += [*_device(device, questions, room, style), ""]
    if found.joint:
        lines += ["all together", *_tests(found.joint, questions, room, style), ""]
    lines += [cut(clean(note), room) for note in found.notes]
    word, tone = WORDS[found.status]
    lines.append(
        f"{paint(word, tone, style)}  gputop probe, level {found.level}, {duration_text(found.duration_s)}, "
        f"exit status {found.exit_status}"
    )
    return "\n".join(lines)


def _device(device: DeviceResult, questions: Mapping[str, str], room: int | None, style: Style) -> Iterator[str]:
    word, tone = WORDS[device.status]
    torch = f"torch {device.torch}" if device.torch else ""
    reason, *more = device.reason.split("\n")
    parts = [device.label, device.name, device.uuid, torch, reason]
    yield f"{paint(fit(word, _MARK), tone, style)}  {cut('  '.join(clean(part) for part in parts if part), room)}"
    yield from (f"{_INDENT}{cut(clean(line), room)}" for line in more)
    yield from _tests(device.tests, questions, room, style)
    if device.status is TestStatus.FAIL and device.bus_id:
        numbers = (("serial", device.serial), ("bus", device.bus_id), ("VBIOS", device.vbios))
        words = ", ".join(f"{name} {value}" for name, value in numbers if value)
        yield f"{_INDENT}{cut(clean(f'details for the repair: {words}'), room)}"
    if device.status is TestStatus.ERROR and device.last_words:
        yield from (f"{_INDENT}{cut(line, room)}" for line in device.last_words.splitlines()[-5:])


def _tests(tests: Sequence[TestResult], questions: Mapping[str, str], room: int | None, style: Style) -> Iterator[str]:
    longest = max((len(test.key) for test in tests), default=0)
    for test in tests:
        word, tone = WORDS[test.status]
        reason = test.reason if test.status in _REASONED else ""
        text = reason or figures_text(test.figures) or questions.get(test.key, "")
        yield f"{paint(fit(word, _MARK), tone, style)}  {cut(f'{fit(clean(test.key), longest)}  {clean(text)}', room)}"
        yield from _findings(test.findings, room)


def _findings(findings: Sequence[TestFinding], room: int | None) -> Iterator[str]:
    for finding in telling(findings, _MOST):
        shown = [(key, finding.data[key]) for key in finding.data if key in _SHOWN]
        numbers = [f"{key} {value}" for key, value in shown if not isinstance(value, dict)]
        yield _INDENT + cut(clean("  ".join([finding.code, finding.text, *numbers])), room)
        for key, title in _HISTOGRAMS.items():
            if isinstance(held := finding.data.get(key), dict):
                counts = ", ".join(f"{bit}: {count}" for bit, count in held.items())
                yield f"{_INDENT}{_INDENT}{title}  {cut(clean(counts), room)}"
    if len(findings) > _MOST:
        yield f"{_INDENT}{len(findings) - _MOST} more findings: --json has them all"


_SHOWN: Final = frozenset({"virtual_address", "expected", "actual", "xor"})
_REASONED: Final = frozenset({TestStatus.SKIP, TestStatus.ABORTED, TestStatus.ERROR})
_HISTOGRAMS: Final = {"bits": "wrong words by flipped bit:", "flips": "wrong words by number of flipped bits:"}
