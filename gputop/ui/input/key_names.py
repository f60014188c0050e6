"""Keys as they are printed on a keyboard."""

from typing import Final

from gputop.ui.input.actions import Action

_NAMES: Final = {
    "question_mark": "?", "plus": "+", "minus": "-", "colon": ":", "comma": ",", "full_stop": ".",
    "less_than_sign": "<", "greater_than_sign": ">", "circumflex_accent": "^", "dollar_sign": "$", "escape": "Esc",
    "enter": "Enter", "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "PgUp", "pagedown": "PgDn",
    "home": "Home", "end": "End", "space": "Space", "left_square_bracket": "[",
    "right_square_bracket": "]", "slash": "/", "backslash": "\\", "percent_sign": "%", "tab": "Tab",
    "left_parenthesis": "(", "right_parenthesis": ")", "exclamation_mark": "!",
}  # fmt: skip


def key_name(key: str) -> str:
    """Return a key as it is printed on a keyboard."""
    if key.startswith("ctrl+"):
        return "Ctrl-" + (_NAMES.get(key[5:]) or key[5:].upper())
    if key.startswith("shift+"):
        return "Shift-" + key_name(key[6:])
    if key.startswith("alt+"):
        return "Alt-" + key[4:]
    return _NAMES.get(key) or (key.upper() if len(key) > 1 else key)


def keys_text(action: Action) -> str:
    """Return all keys of an action."""
    if action.id == "focus-gpu":
        return "0-9" if action.keys == tuple("0123456789") else " ".join(map(key_name, action.keys))
    return " ".join(key_name(key) for key in action.keys)
