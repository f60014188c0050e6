"""Settings as TOML: the commented file, the settings in force, and the lines of keys."""

import re
from textwrap import wrap
from typing import Final

from gputop.core.settings.settings import DETECTORS, FLEET, KEYS, RECEIVERS, SETTINGS, Settings, Value

_BARE: Final = re.compile(r"[\w-]+", re.ASCII)
_PART: Final = re.compile(r"""[\w-]+|"[^"\\]*"|'[^']*'""", re.ASCII)
_KEY: Final = re.compile(
    r"""\s*((?:[\w-]+|"[^"\\]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"\\]*"|'[^']*'))*)\s*=""", re.ASCII
)
_TABLE: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_HEAD: Final = "# Settings of gputop. Command-line options override GPUTOP_… variables, which override this file."


def value_text(value: Value) -> str:
    """Return the TOML text of a value."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return _quoted(value)


def commented() -> str:
    """Return a file that explains every setting, all commented out."""
    parts = [_HEAD, ""]
    for setting in SETTINGS:
        variable = f" Variable: {setting.variable}." if setting.variable else ""
        parts += [f"# {line}" for line in wrap(setting.help + variable, 100)]
        parts += [f"#{setting.key} = {value_text(setting.default)}", ""]
    parts += ["# Keys that replace those of the keymap, by action; see the help page or `gputop config show`."]
    parts += [f"[{KEYS}]", '#quit = ["q", "f10"]', ""]
    parts += ["# Receivers of alerts (gputop notify): a table for each. See docs/alerts.md."]
    parts += [f"#[{RECEIVERS}.ops]", '#kind = "alertmanager"', '#url = "http://127.0.0.1:9093"', ""]
    parts += ["# The servers that gputop fleet asks. See docs/fleet.md."]
    parts += [f"#[{FLEET}]", '#prometheus = ["http://prometheus:9090"]', '#labels = ["rack"]', ""]
    return "\n".join([*parts, *_commented_detectors()])


def _commented_detectors() -> list[str]:
    from gputop.core.detection.judge import DIALS  # noqa: PLC0415
    from gputop.core.detectors.registry import ENABLED, detectors  # noqa: PLC0415 - the screen reads files without it

    parts = ["# Thresholds of the detectors. Also remove the # before the name of the table.", f"#[{DETECTORS}]"]
    parts += [f"#{dial.key} = {value_text(dial.default)}  # {dial.help}" for dial in DIALS] + [""]
    for kind, _ in detectors():
        parts += [f"# {kind.question}", f"#[{DETECTORS}.{key_text(kind.name)}]", f"#{ENABLED} = true"]
        parts += [f"#{dial.key} = {value_text(dial.default)}  # {dial.help}" for dial in kind.dials] + [""]
    return parts


def effective(settings: Settings) -> str:
    """Return all settings as a file; of the thresholds only those that the user changed."""
    from gputop.core.detectors.registry import ENABLED  # noqa: PLC0415 - as above

    lines = [f"{setting.key} = {value_text(getattr(settings, setting.key))}" for setting in SETTINGS]
    keys = [f"{key_text(action)} = {value_text(keys)}" for action, keys in settings.keys.items()]
    lines += ["", f"[{KEYS}]", *keys] if keys else []
    for name, values in settings.receivers.items():
        lines += ["", f"[{RECEIVERS}.{key_text(name)}]"]
        lines += [f"{key} = {_quoted(value)}" for key, value in values.items()]
    fleet = [f"{key} = {_quoted(value)}" for key, value in settings.fleet.items()]
    lines += ["", f"[{FLEET}]", *fleet] if fleet else []
    for name, dials in settings.detectors.items():
        lines += ["", f"[{DETECTORS}.{key_text(name)}]" if name else f"[{DETECTORS}]"]
        lines += [f"{key} = {value_text(bool(value) if key == ENABLED else value)}" for key, value in dials.items()]
    return "\n".join([*lines, ""])


def lines_of(text: str) -> dict[str, int]:
    """Return the line of each key of a file, from 1; a dot joins table and key."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if header := _TABLE.fullmatch(line):
            table = path_of(header[1])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault(f"{table}.{path_of(key[1])}" if table else path_of(key[1]), number)
    return found


def path_of(key: str) -> str:
    """Return a key of TOML without quotation marks and blanks."""
    return ".".join(part.strip("\"'") for part in _PART.findall(key))


def key_text(name: str) -> str:
    """Return a name as a TOML key, quoted if necessary."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(value: object) -> str:
    from json import dumps  # noqa: PLC0415 - the screen reads files without it

    return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
