"""Writes into README.md what follows from the code: the table of keys.

python docs/generate.py
"""

from pathlib import Path
from typing import Final

from gputop.ui.actions import ACTIONS, keys_text

README: Final = Path(__file__).parent.parent / "README.md"
_BEGIN, _END = "<!-- keys: written by docs/generate.py -->\n", "<!-- end of keys -->\n"


def keys() -> str:
    """Return the table of keys in Markdown."""
    rows = [f"| {_code(keys_text(action))} | {action.label} | {action.help} |\n" for action in ACTIONS]
    return "| keys | | |\n|---|---|---|\n" + "".join(rows)


def filled(text: str) -> str:
    """Return the README with the table as it is now."""
    before, _, rest = text.partition(_BEGIN)
    return before + _BEGIN + keys() + _END + rest.partition(_END)[2]


def _code(words: str) -> str:
    return " ".join(f"`{word}`" for word in words.split())


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
