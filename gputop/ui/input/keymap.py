"""The keys of actions: a preset, then the user's own keys. A preset changes keys, never a confirmation."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from textual.keys import KEY_NAME_REPLACEMENTS

from gputop.ui.input.actions import ACTIONS, Action, Place

Keys: TypeAlias = Mapping[str, tuple[str, ...]]
ALWAYS_QUITS: Final = "ctrl+c"
_CONFIRM: Final = "yes"
_EASILY_PRESSED: Final = frozenset({"enter", "space", "escape", "q", ALWAYS_QUITS})
_DIGITS: Final = tuple("0123456789")
_MOVES: Final[Keys] = {
    "up": ("up", "k", "alt+k"), "down": ("down", "j", "alt+j"), "left": ("left", "h", "alt+h"),
    "right": ("right", "l", "alt+l"), "help": ("f1", "question_mark"), "signal": ("f9", "s"), "open-files": ("L",),
    "scope-job": ("J",), "secrets": ("z",),
}  # fmt: skip
_PRESETS: Final[Mapping[str, Keys]] = {
    "gputop": {},
    "htop": {
        "sort-menu": ("f6", "greater_than_sign", "less_than_sign", "comma", "full_stop"), "sort-before": ("alt+comma",),
        "sort-next": ("alt+full_stop",), "io-class": ("i", "d"), "detail": ("alt+i",), "findings": ("alt+f",),
        "command-line": ("w",), "why": ("alt+w",),
        "type-pid": _DIGITS, "focus-gpu": tuple(f"alt+{digit}" for digit in _DIGITS),
    },
    "nvitop": {
        "quit": ("q", "Q", "f10", ALWAYS_QUITS), "density-auto": ("a",), "density-full": ("f",),
        "density-compact": ("c",), "affinity": ("alt+a",), "filter": ("f4", "backslash"), "tag-job": ("alt+c",),
        "terminate-one": ("T",), "kill-one": ("K", "k"), "interrupt-one": ("I",), "signal": ("f9", "alt+s"),
        "kill": ("ctrl+k",), "invert": ("slash",), "search": ("f3", "ctrl+f"), "sort-time": ("alt+t",),
        "sort-before": ("comma", "less_than_sign"), "sort-next": ("full_stop", "greater_than_sign"),
        "sort-menu": ("f6", "alt+o"), "read-now": ("ctrl+r", "f5", "r", "R"), "tree": ("t",), "renice": ("alt+r",),
        "page-up": ("pageup", "left_square_bracket", "alt+K"),
        "page-down": ("pagedown", "right_square_bracket", "alt+J"), "up": ("up", "alt+k", "shift+tab"),
        "down": ("down", "alt+j", "tab"), "view-next": ("v",), "view-before": ("V",), "past-findings": ("p",),
        "nice-down": ("f7", "alt+u"), "nice-up": ("f8", "alt+d"), "pick-term": ("t", "T"), "pick-kill": ("k", "K"),
        "pick-int": ("i", "I"), "refuse": ("n", "N", "c", "C"), "mig-copy": ("ctrl+y",), "scope-tree": ("alt+t",),
    },
    "nvtop": {
        **_MOVES, "redraw": ("ctrl+l", "f5"), "tree": ("t",), "ascending": ("plus",), "descending": ("minus",),
        "slower": ("equals_sign",), "faster": ("underscore",),
    },
    "vim": {
        **_MOVES, "signal": ("f9", "s", "d d"), "io-class": ("alt+d",), "home": ("home", "g g"), "density": ("z",),
        "search-before": ("N", "alt+n", "shift+f3", "f15"), "sort-pid": ("alt+p",),
        "page-down": ("pagedown", "ctrl+f", "ctrl+d"), "page-up": ("pageup", "ctrl+b", "ctrl+u"),
        "end": ("end", "G"), "sort-gpu-memory": ("alt+g",), "undo": ("alt+u",),
    },
}  # fmt: skip
_HINTS: Final = {
    "s": "gputop does not trace system calls; in a shell: strace -p PID",
    "F": "the cursor follows its process without a key",
}
_NAMES: Final = {
    "question_mark": "?", "plus": "+", "minus": "-", "colon": ":", "comma": ",", "full_stop": ".",
    "less_than_sign": "<", "greater_than_sign": ">", "circumflex_accent": "^", "dollar_sign": "$", "escape": "Esc",
    "enter": "Enter", "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "PgUp", "pagedown": "PgDn",
    "home": "Home", "end": "End", "space": "Space", "left_square_bracket": "[",
    "right_square_bracket": "]", "slash": "/", "backslash": "\\", "percent_sign": "%", "tab": "Tab",
    "left_curly_bracket": "{", "right_curly_bracket": "}",
    "left_parenthesis": "(", "right_parenthesis": ")", "exclamation_mark": "!", "equals_sign": "=", "underscore": "_",
}  # fmt: skip
_SPOKEN: Final = {"esc": "escape", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"}


class Keymap(Struct, frozen=True):
    """The table of actions with the keys in use, and a line about each problem."""

    actions: tuple[Action, ...]
    problems: tuple[str, ...] = ()

    def runs(self) -> dict[str, str]:
        """Return the action that each key of the main screen runs."""
        mains = [action for action in self.actions if action.place is Place.MAIN]
        return {key: action.run.format(key=key[-1]) for action in mains for key in action.keys}

    def unused(self, key: str) -> str:
        """Return that a key has no meaning here, and what to do."""
        setup = self.name("setup") or "F2"
        if key in _HINTS:
            return f"{key_name(key)}: {_HINTS[key]}"
        presets = [name for name in _PRESETS if key in keymap(name).runs() and key not in self.runs()]
        way = f"{setup} offers {' and '.join(presets)} keys" if presets else f"{setup} changes keys"
        return f"{key_name(key)} does nothing here; {way}"

    def taken(self, takes: Mapping[str, str]) -> dict[str, str]:
        """Return the methods of a dialog or page by key; ``takes``: the methods by action, as ``run`` of an action.

        Its own actions win.
        """
        own_last = sorted(self.actions, key=lambda action: action.place is not Place.MAIN)
        taken = ((key, one.id) for one in own_last if one.id in takes for key in one.keys if key != ALWAYS_QUITS)
        return {key: takes[action].format(key=key) for key, action in taken}

    def keys_of(self, action: str) -> tuple[str, ...]:
        """Return the keys of an action."""
        return next((one.keys for one in self.actions if one.id == action), ())

    def name(self, action: str) -> str:
        """Return the first key of an action as printed on a keyboard; empty if it has none."""
        return next(map(key_name, self.keys_of(action)), "")


def presets(name: str) -> Keys:
    """Return the keys by action that a preset changes; gputop and unknown presets change none."""
    return _PRESETS.get(name, {})


def keymap(preset: str, overrides: Keys = {}, actions: Iterable[Action] = ACTIONS) -> Keymap:  # noqa: B006 - never changed
    """Return the actions with the keys of a preset and of the user."""
    held = {action.id: action for action in actions}
    _put(held, presets(preset))
    settled = {action: tuple(map(key_of, keys)) for action, keys in overrides.items() if action in held}
    wanted = {action: tuple(key for key in keys if _may_have(action, key)) for action, keys in settled.items()}
    problems = [f"keys.{action}: {_why_not(action)}" for action in settled if wanted[action] != settled[action]]
    problems += _put(held, wanted)
    return Keymap(tuple(held.values()), tuple(problems))


def key_of(text: str) -> str:
    """Return Textual's name of a key: ? is question_mark, Ctrl-R is ctrl+r, F3 is f3."""
    if " " in text.strip():
        return " ".join(map(key_of, text.split()))
    if len(text) == 1:
        if text.isalnum():
            return text
        name = unicodedata.name(text, text).lower().replace("-", "_").replace(" ", "_")
        return KEY_NAME_REPLACEMENTS.get(name, name)
    first, sign, rest = text.replace("-", "+", 1).partition("+") if len(text) > 2 else (text, "", "")
    if sign and first.lower() in {"ctrl", "alt", "shift"}:
        key = key_of(rest)
        return f"{first.lower()}+{key if first.lower() == 'alt' else key.lower()}"
    return _SPOKEN.get(text.lower(), text.lower())


def key_name(key: str) -> str:
    """Return a key as printed on a keyboard; keys that follow each other without a blank."""
    if " " in key:
        return "".join(map(key_name, key.split()))
    if key.startswith("ctrl+"):
        return "Ctrl-" + (_NAMES.get(key[5:]) or key[5:].upper())
    if key.startswith("shift+"):
        return "Shift-" + key_name(key[6:])
    if key.startswith("alt+"):
        return "Alt-" + _NAMES.get(key[4:], key[4:])
    return _NAMES.get(key) or (key.upper() if len(key) > 1 else key)


def keys_text(action: Action) -> str:
    """Return all keys of an action."""
    if action.id == "focus-gpu":
        return "0-9" if action.keys == tuple("0123456789") else " ".join(map(key_name, action.keys))
    return " ".join(key_name(key) for key in action.keys)


def _may_have(action: str, key: str) -> bool:
    return key not in _EASILY_PRESSED if action == _CONFIRM else (key != ALWAYS_QUITS or action == "quit")


def _why_not(action: str) -> str:
    return "a key that is easily pressed never sends SIGKILL" if action == _CONFIRM else "Ctrl-C always quits"


def _put(held: dict[str, Action], keys: Keys) -> list[str]:
    """Give actions their keys; return a line for each action that loses its keys and gets no others."""
    lost: list[str] = []
    for id_, new in keys.items():
        if id_ not in held:
            continue
        for other in held.values():
            if other.id == id_ or other.place is not held[id_].place:
                continue
            taken = [key for key in other.keys if key in new and key not in keys.get(other.id, ())]
            if taken:
                held[other.id] = replace(other, keys=tuple(key for key in other.keys if key not in taken))
                if other.id not in keys:
                    names = " ".join(map(key_name, taken))
                    lost.append(f"keys.{id_}: {names} no longer does “{other.label}”")
        held[id_] = replace(held[id_], keys=new)
    return lost
