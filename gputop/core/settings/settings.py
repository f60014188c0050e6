"""The settings of the configuration file and of the environment.

A setting is one row of `SETTINGS`: reading, checking, the commented file and `gputop config show` derive from it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Final, TypeAlias, cast

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import replace

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.settings.column_choice import expanded, is_change
from gputop.core.text.suggest import nearest

THEMES: Final = ("auto", "dark", "light", "high-contrast", "monochrome", "16-colour")
DENSITIES: Final = ("auto", "compact", "detailed")
KEYMAPS: Final = ("gputop", "htop", "nvitop", "nvtop", "vim")
CHANNELS: Final = ("bell", "osc", "osc9", "osc777", "osc99", "desktop", "command")
KEYS: Final = "keys"
READ_ONLY: Final = "read_only"
DETECTORS: Final = "detectors"
RECEIVERS: Final = "receivers"
FLEET: Final = "fleet"
LEAST_INTERVAL_S: Final = 0.1
MOST_INTERVAL_S: Final = 86_400.0
MOST_GPUS: Final = 1024
_MOST_WORDS: Final = 64
_MOST_HOSTS: Final = 1024
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})
Value: TypeAlias = bool | float | str | tuple[str, ...]


class Settings(Struct, frozen=True, kw_only=True):
    """The settings. ``columns``: column keys in order; empty is the default choice.

    ``keys``: by action id, the keys that replace those of the ``keymap``; an empty tuple removes them.
    ``expected_gpus``: 0 is any number. ``notify``: the channels of notifications; ``notify_command``: the words of the
    command of the channel ``command``.
    ``detectors``: by name, the options that are not at their defaults, and ``enabled``.
    ``receivers``: of alerts, by name, as `core.settings.receivers` reads them; ``runbooks``: where the documents are.
    ``fleet``: as `core.settings.fleet` reads it. ``hosts``: those of ``--host all``, as the user wrote them.
    """

    theme: str = "auto"
    density: str = "auto"
    ascii: bool = False
    interval_s: float = 1.0
    columns: tuple[str, ...] = ()
    sort: str = "gpu"
    sort_reversed: bool = False
    show_host: bool = True
    show_panels: bool = True
    bell: bool = False
    insight_on_alarm: bool = False
    notify: tuple[str, ...] = ("bell", "osc")
    notify_command: tuple[str, ...] = ()
    keymap: str = "gputop"
    keys: Mapping[str, tuple[str, ...]] = {}
    detectors: Mapping[str, Mapping[str, float]] = {}
    receivers: Mapping[str, Mapping[str, object]] = {}
    fleet: Mapping[str, object] = {}
    runbooks: str = ""
    expected_gpus: int = 0
    hosts: tuple[str, ...] = ()
    read_only: bool = False


class Problem(Struct, frozen=True, kw_only=True):
    """An invalid setting. ``path``: its key, ``keys.quit`` in a table; ``line``: from 1, if known."""

    path: str
    message: str
    suggestion: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        hint = f". Did you mean {self.suggestion}?" if self.suggestion else ""
        return f"{place}{self.path}: {self.message}{hint}" if self.path else f"{place}{self.message}"


class Wrong(Struct, frozen=True):
    """An invalid value; the message says why."""

    message: str
    suggestion: str | None = None


class Setting(Struct, frozen=True, kw_only=True):
    """A setting. ``key``: its name in the file and in `Settings`; ``variable``: in the environment, if it has one."""

    key: str
    read: Callable[[object], Value | Wrong]
    help: str
    variable: str = ""

    @property
    def default(self) -> Value:
        """Return the default value."""
        return cast("Value", getattr(Settings(), self.key))


def parse(
    values: Mapping[str, object],
    *,
    base: Settings = Settings(),  # noqa: B008 - immutable
    lines: Mapping[str, int] | None = None,
    actions: Collection[str] | None = None,
) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings, with ``base`` for invalid ones, and the problems.

    ``lines``: the line of each key in the file. ``actions``: the ids allowed in ``keys``; None: any. A
    mapping gives the place of each action: actions of two places may share a key.
    """
    found: dict[str, object] = {}
    problems: list[Problem] = []
    for key, value in values.items():
        setting = SETTING_BY_KEY.get(key)
        if key == KEYS:
            found[KEYS] = dict(base.keys) | _keys(value, actions, problems)
        elif key == DETECTORS:
            found[DETECTORS] = dict(base.detectors) | _detectors(value, problems)
        elif key == RECEIVERS:
            found[RECEIVERS] = dict(base.receivers) | _receivers(value, problems)
        elif key == FLEET:
            found[FLEET] = dict(base.fleet) | _fleet(value, problems)
        elif setting is None:
            suggestion = nearest(key, [*SETTING_BY_KEY, KEYS, DETECTORS, RECEIVERS, FLEET])
            problems.append(Problem(path=key, message="unknown setting", suggestion=suggestion))
        else:
            _settle(found, problems, key, setting.read(value))
    placed = tuple(replace(problem, line=(lines or {}).get(problem.path)) for problem in problems)
    return replace(base, **found), placed


def from_environment(
    variables: Mapping[str, str],
    base: Settings = Settings(),  # noqa: B008 - immutable
) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings overridden by the environment. The path of a problem is the variable."""
    found: dict[str, object] = {}
    problems: list[Problem] = []
    for setting in SETTINGS:
        if setting.variable and setting.variable in variables:
            value = setting.read(_typed(variables[setting.variable], setting.default))
            _settle(found, problems, setting.key, value, path=setting.variable)
    return replace(base, **found), tuple(problems)


def may_mean_read_only(problems: Iterable[Problem]) -> bool:
    """Say whether ``read_only`` may be lost: it is invalid itself, or the whole file is unusable."""
    names = (READ_ONLY, SETTING_BY_KEY[READ_ONLY].variable)
    return any(
        not problem.path or problem.suggestion == READ_ONLY or problem.path.rpartition(".")[2] in names
        for problem in problems
    )


def _settle(
    found: dict[str, object], problems: list[Problem], key: str, value: Value | Wrong, *, path: str = ""
) -> None:
    if isinstance(value, Wrong):
        problems.append(Problem(path=path or key, message=value.message, suggestion=value.suggestion))
    else:
        found[key] = value


def _typed(text: str, default: Value) -> object:
    """Convert the text of a variable to the setting's type; unchanged if that fails."""
    if isinstance(default, bool):
        lowered = text.strip().lower()
        return True if lowered in _TRUE else False if lowered in _FALSE else text
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            return text
    return text


# --- keys --------------------------------------------------------------------------------------------------------
def _keys(value: object, actions: Collection[str] | None, problems: list[Problem]) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        problems.append(Problem(path=KEYS, message='must be a table: [keys], then lines such as quit = ["q", "f10"]'))
        return {}
    found: dict[str, tuple[str, ...]] = {}
    owners: dict[tuple[str, str], str] = {}
    places = actions if isinstance(actions, Mapping) else {}
    for action, given in value.items():
        keys = _key_list(given)
        wrong = _unknown_action(action, actions) or (keys if isinstance(keys, Wrong) else None)
        at = [(places.get(action, ""), key) for key in keys] if isinstance(keys, tuple) else []
        taken = [one for one in at if owners.setdefault(one, action) != action]
        if wrong is None and taken:
            wrong = Wrong(f"{taken[0][1]} is already a key of {owners[taken[0]]}")
        if wrong is None and isinstance(keys, tuple):
            found[action] = keys
        elif wrong is not None:
            problems.append(Problem(path=f"{KEYS}.{action}", message=wrong.message, suggestion=wrong.suggestion))
    return found


def _key_list(given: object) -> tuple[str, ...] | Wrong:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(key, str) and key.strip() for key in listed):
        return Wrong('must be a key or a list of keys, such as ["q", "f10", "ctrl+c"]')
    return tuple(dict.fromkeys(listed))


def _unknown_action(action: str, actions: Collection[str] | None) -> Wrong | None:
    if action in SETTING_BY_KEY:
        return Wrong(f"is a setting, not an action: move it above [{KEYS}]")
    if actions is None or action in actions:
        return None
    return Wrong("unknown action", nearest(action, actions))


# --- detectors ---------------------------------------------------------------------------------------------------
def _detectors(value: object, problems: list[Problem]) -> dict[str, dict[str, float]]:
    from gputop.core.detectors.configured import read_dials  # noqa: PLC0415 - imports all detectors

    found, wrong = read_dials(value)
    problems += [Problem(path=path, message=message, suggestion=hint) for path, message, hint in wrong]
    return found


# --- receivers ---------------------------------------------------------------------------------------------------
def _receivers(value: object, problems: list[Problem]) -> dict[str, dict[str, object]]:
    from gputop.core.settings.receivers import read_receivers  # noqa: PLC0415 - few files have receivers

    found, wrong = read_receivers(value)
    problems += [Problem(path=path, message=message, suggestion=hint) for path, message, hint in wrong]
    return found


# --- fleet -------------------------------------------------------------------------------------------------------
def _fleet(value: object, problems: list[Problem]) -> dict[str, object]:
    from gputop.core.settings.fleet import read_fleet  # noqa: PLC0415 - few files have a fleet

    found, wrong = read_fleet(value)
    problems += [Problem(path=path, message=message, suggestion=hint) for path, message, hint in wrong]
    return found


# --- kinds of values ---------------------------------------------------------------------------------------------
def _one_of(*choices: str) -> Callable[[object], Value | Wrong]:
    def read(value: object) -> Value | Wrong:
        if isinstance(value, str) and value in choices:
            return value
        hint = nearest(value, choices) if isinstance(value, str) else None
        return Wrong(f"{_shown(value)} is not one of {', '.join(choices)}", hint)

    return read


def _typed_as(kind: object, otherwise: str) -> Callable[[object], Value | Wrong]:
    """Return a reader of values of a type, with its range; ``otherwise``: follows a value that is not."""

    def read(value: object) -> Value | Wrong:
        try:
            return cast("Value", convert(value, kind))
        except ValidationError:
            return Wrong(f"{_shown(value)} is {otherwise}")

    return read


def _column(value: object) -> Value | Wrong:
    if isinstance(value, str) and value in COLUMN_BY_KEY:
        return value
    hint = nearest(value, COLUMN_BY_KEY) if isinstance(value, str) else None
    return Wrong(f"{_shown(value)} is not a column", hint)


def _columns(value: object) -> Value | Wrong:
    if not isinstance(value, (list, tuple)):
        return Wrong('must be a list of columns, such as ["gpu", "pid", "user", "command"]')
    changes = [isinstance(key, str) and is_change(key) for key in value]
    if any(changes) and not all(changes):
        return Wrong("mixes columns with changes such as +job; write either all columns or only changes")
    for key in value:
        wrong = _column(key[1:] if any(changes) else key)
        if isinstance(wrong, Wrong):
            return wrong
    return expanded(tuple(dict.fromkeys(value)))


def _channels(value: object) -> Value | Wrong:
    if not isinstance(value, (list, tuple)):
        return Wrong('must be a list of channels, such as ["bell", "osc"]')
    wrong = next((found for each in value if isinstance(found := _one_of(*CHANNELS)(each), Wrong)), None)
    return tuple(dict.fromkeys(value)) if wrong is None else wrong


def _words(value: object) -> Value | Wrong:
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_WORDS:
        words = tuple(word for word in value if isinstance(word, str) and word and "\0" not in word)
        if len(words) == len(value):
            return words
    return Wrong('must be a list of words, such as ["/home/ann/bin/page", "--urgent"]; no shell reads them')


def _hosts(value: object) -> Value | Wrong:
    from gputop.core.protocol.host_name import host_names  # noqa: PLC0415 - few files have hosts

    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
        return Wrong('must be a list of hosts, such as ["node[01-08]", "ann@login1"]')
    try:
        count = sum(len(host_names(word)) for word in value)
    except ValueError as error:
        return Wrong(str(error))
    return tuple(value) if count <= _MOST_HOSTS else Wrong(f"has more than {_MOST_HOSTS:,} hosts")


def _folder(value: object) -> Value | Wrong:
    is_url = isinstance(value, str) and value.isprintable() and value.startswith(("http://", "https://"))
    if value == "" or (is_url and " " not in str(value)):
        return str(value)
    return Wrong(f"{_shown(value)} is not a URL such as https://example.org/gputop/docs")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


_FLAG: Final = _typed_as(bool, "neither true nor false")
_INTERVAL: Final = _typed_as(
    Annotated[float, Meta(ge=LEAST_INTERVAL_S, lt=MOST_INTERVAL_S)],
    f"not a number of seconds from {LEAST_INTERVAL_S:g} to {MOST_INTERVAL_S:g}",
)
_COUNT: Final = _typed_as(Annotated[int, Meta(ge=0, le=MOST_GPUS)], f"not a whole number from 0 to {MOST_GPUS}")
SETTINGS: Final = (
    Setting(
        key="theme", read=_one_of(*THEMES), variable="GPUTOP_THEME",
        help=f"Colours: {', '.join(THEMES)}.",
    ),
    Setting(
        key="density", read=_one_of(*DENSITIES), variable="GPUTOP_DENSITY",
        help="Size of the GPUs: by available space (auto), one line each (compact), or cards with plots (detailed).",
    ),
    Setting(key="ascii", read=_FLAG, help="Draw with ASCII characters only."),
    Setting(
        key="interval_s", read=_INTERVAL, variable="GPUTOP_INTERVAL", help="Seconds between samples of the screen."
    ),
    Setting(
        key="columns", read=_columns,
        help="Columns of the process table, in order, or changes to the default ones, such as +job or -nice; empty: "
        f"the default ones. {', '.join(COLUMN_BY_KEY)}.",
    ),
    Setting(key="sort", read=_column, help="Column by which the processes are sorted."),
    Setting(key="sort_reversed", read=_FLAG, help="Sort in reverse order."),
    Setting(key="show_host", read=_FLAG, help="Show the host panel."),
    Setting(key="show_panels", read=_FLAG, help="Show plugin panels between findings and processes."),
    Setting(key="bell", read=_FLAG, help="Ring the terminal's bell when a finding becomes an alarm."),
    Setting(
        key="insight_on_alarm", read=_FLAG,
        help="When a hang becomes an alarm, ask where it hangs, as w does. The answers become evidence of the finding.",
    ),
    Setting(
        key="notify", read=_channels,
        help="How gputop notifies you (key B, gputop wait --notify): bell; osc (the terminal shows it; osc9, osc777 "
        "or osc99 select the sequence); desktop (by notify-send); command.",
    ),
    Setting(
        key="notify_command", read=_words,
        help="The command and its arguments, for the channel command. It gets the facts as GPUTOP_… variables and as "
        "JSON on stdin.",
    ),
    Setting(
        key="runbooks", read=_folder,
        help="URL of the folder with gputop's documents, for the links in alerts and rules; empty: docs.",
    ),
    Setting(key="keymap", read=_one_of(*KEYMAPS), help=f"Keymap: {', '.join(KEYMAPS)}."),
    Setting(
        key="expected_gpus", read=_COUNT,
        help="Expected number of GPUs, so that gputop doctor notices a missing one. 0: any number.",
    ),
    Setting(
        key="hosts", read=_hosts,
        help="The hosts of gputop --host all and gputop hosts, by ssh: names, user@name, node[01-08].",
    ),
    Setting(
        key=READ_ONLY, read=_FLAG, variable="GPUTOP_READ_ONLY",
        help="Change nothing: no signals, no priorities, no MIG layouts."
    ),
)  # fmt: skip
SETTING_BY_KEY: Final = {setting.key: setting for setting in SETTINGS}
