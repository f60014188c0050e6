"""Generator of share/, and of the parts of documents between two marks: both follow from the code.

python docs/generate.py
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import generate_doctor
import generate_performance
import generate_prometheus
import generate_share
import growth_plot
from generate_doctor import table

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detection.judge import DIALS
from gputop.core.detectors.registry import detectors
from gputop.core.fleet.columns import HOST_COLUMNS
from gputop.core.model.units import bytes_text, duration_text
from gputop.core.processes.columns import COLUMNS
from gputop.core.settings.fleet import FLEET_FIELDS
from gputop.core.settings.receivers import FIELDS, ReceiverKind
from gputop.core.settings.settings import SETTINGS
from gputop.core.settings.toml import value_text
from gputop.report.rules import DCGM, GPUTOP, rules_for
from gputop.simulator import BOXES
from gputop.ui.input.keymap import keys_text
from gputop.ui.input.replay_actions import EVERY

_DOCS: Final = Path(__file__).parent
PAGES: Final = (
    _DOCS.parent / "README.md", _DOCS / "findings.md", _DOCS / "configuration.md", _DOCS / "getting-started.md",
    _DOCS / "performance.md", _DOCS / "alerts.md", _DOCS / "fleet.md",
    _DOCS / "prometheus.md",
)  # fmt: skip


def filled(text: str) -> str:
    """Return a document with its generated parts up to date."""
    for name, write in PARTS.items():
        begin, end = f"<!-- {name}: written by docs/generate.py -->\n", f"<!-- end of {name} -->\n"
        if begin in text:
            before, _, rest = text.partition(begin)
            text = before + begin + write() + end + rest.partition(end)[2]
    return text


# --- keys --------------------------------------------------------------------------------------------------------
def _keys() -> str:
    """Return the table of keys, one row per group; the help page explains each key."""
    groups: dict[str, list[str]] = {}
    for action in EVERY:
        if not action.keys:
            continue
        groups.setdefault(action.group, []).append(f"{_code(keys_text(action))} {_small(action.label)}")
    rows = [f"| {group} | {' · '.join(parts)} |\n" for group, parts in groups.items()]
    return "| | |\n|---|---|\n" + "".join(rows)


def _actions() -> Iterator[tuple[str, ...]]:
    yield "action", "keys", "where", "effect"
    for action in EVERY:
        yield f"`{action.id}`", _code(keys_text(action)), action.place.value, f"{action.label}: {_small(action.help)}"


def _small(label: str) -> str:
    is_name = any(letter.isupper() for letter in label.split(" ", maxsplit=1)[0][1:])  # GPU, I/O
    return label if is_name else label[0].lower() + label[1:]


def _code(words: str) -> str:
    return " ".join(f"`{word}`" for word in words.split())


# --- simulated boxes ---------------------------------------------------------------------------------------------
def _boxes() -> Iterator[tuple[str, ...]]:
    yield "command", "simulated machine"
    for name, about in BOXES.items():
        yield f"`gputop --demo {name}`", about


# --- settings ----------------------------------------------------------------------------------------------------
def _settings() -> Iterator[tuple[str, ...]]:
    yield "setting", "default", "meaning"
    for setting in SETTINGS:
        words = setting.help.partition(" gpu, pid,")[0]  # the columns have a table of their own
        yield f"`{setting.key}`", f"`{value_text(setting.default)}`", words


def _variables() -> Iterator[tuple[str, ...]]:
    yield "variable", "sets"
    for setting in SETTINGS:
        if setting.variable:
            yield f"`{setting.variable}`", f"`{setting.key}`"


def _columns() -> Iterator[tuple[str, ...]]:
    yield "key", "title", "shown", "meaning"
    for column in COLUMNS:
        shown = "on request" if column.is_optional else "if used" if column.only_if_used else "always"
        yield f"`{column.key}`", column.title, shown, column.help


# --- receivers ---------------------------------------------------------------------------------------------------
def _receivers() -> Iterator[tuple[str, ...]]:
    yield "setting", "for", "meaning"
    for field in FIELDS:
        kinds = ", ".join(f"`{kind.value}`" for kind in ReceiverKind if kind in field.kinds)
        yield f"`{field.key}`", "all" if len(field.kinds) == len(ReceiverKind) else kinds, field.help


# --- rules -------------------------------------------------------------------------------------------------------
def _rules() -> Iterator[tuple[str, ...]]:
    yield "alert", "severity", "after", "what to do"
    for rule in (*rules_for(GPUTOP), *rules_for(DCGM)):
        yield f"`{rule.name}`", rule.severity, rule.wait or "at once", f"{rule.description} [runbook]({rule.page})"


# --- detectors ---------------------------------------------------------------------------------------------------
def _host_columns() -> Iterator[tuple[str, ...]]:
    yield "name", "column", "shows"
    for column in HOST_COLUMNS:
        names = ", ".join(f"`{name}`" for name in (column.key, *column.words))
        yield names, f"`{column.title}`", column.help


def _detectors() -> str:
    return "\n".join([table(_dials("[detectors]", DIALS)), *(_detector(kind) for kind, _ in detectors())])


def _detector(kind: Kind) -> str:
    at_once = " One sample is enough, so `gputop snapshot` reports it too." if kind.is_instant else ""
    parts = [f"### {kind.name}\n\n{kind.question}{at_once}\n"]
    parts += [table(_codes(kind))] if kind.codes else []
    parts += [table(_dials(f"[detectors.{kind.name}]", kind.dials))] if kind.dials else []
    return "\n".join(parts)


def _codes(kind: Kind) -> Iterator[tuple[str, ...]]:
    yield "code", "meaning", "what to do"
    for code, meaning in kind.codes.items():
        yield f"`{code}`", meaning, kind.remedies.get(code, "")


def _dials(name: str, dials: Iterable[Dial]) -> Iterator[tuple[str, ...]]:
    yield f"`{name}`", "default", "minimum", "maximum", "meaning"
    for dial in dials:
        yield f"`{dial.key}`", _number(dial, dial.default), _plain(dial.least), _plain(dial.most), dial.help


def _number(dial: Dial, value: float) -> str:
    """Return a number as in the file, and in readable form if that differs."""
    if dial.key.endswith("_bytes_per_s"):
        return f"{_plain(value)} ({bytes_text(value)}/s)"
    if dial.key.endswith("_bytes"):
        return f"{_plain(value)} ({bytes_text(value)})"
    return f"{_plain(value)} ({duration_text(value)})" if dial.key.endswith("_s") and value >= 60 else _plain(value)


def _plain(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:g}"


def _fleet() -> Iterator[tuple[str, ...]]:
    yield "setting of `[fleet]`", "meaning"
    for field in FLEET_FIELDS:
        yield f"`{field.key}`", field.help


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "keys": _keys,
    "actions": lambda: table(_actions()),
    "boxes": lambda: table(_boxes()),
    "settings": lambda: table(_settings()),
    "variables": lambda: table(_variables()),
    "columns": lambda: table(_columns()),
    "host-columns": lambda: table(_host_columns()),
    "detectors": _detectors,
    "rules": lambda: table(_rules()),
    "fleet settings": lambda: table(_fleet()),
    "receivers": lambda: table(_receivers()),
    "own series": lambda: table(generate_prometheus.own()),
    "dcgm series": lambda: table(generate_prometheus.compatible()),
    "cost in series": lambda: table(generate_prometheus.cost()),
    "budgets": lambda: generate_performance.budgets(generate_performance.kept()),
    "measurements": lambda: generate_performance.measurements(generate_performance.kept()),
    "growth": lambda: generate_performance.growth(generate_performance.kept()),
}


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text()))
    generate_doctor.PAGE.write_text(generate_doctor.page())
    growth_plot.PICTURE.write_text(growth_plot.current())
    generate_share.write()
