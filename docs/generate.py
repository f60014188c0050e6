"""Writes into README.md what follows from the code: the table of keys.

python docs/generate.py
"""

from pathlib import Path
from typing import Final

from gputop.ui.key_names import keys_text
from gputop.ui.tape_actions import EVERY

README: Final = Path(__file__).parent.parent / "README.md"
_BEGIN, _END = "<!-- keys: written by docs/generate.py -->\n", "<!-- end of keys -->\n"


def keys() -> str:
    """Return the table of keys in Markdown, a row for each group; the help page says more of each key."""
    groups: dict[str, list[str]] = {}
    for action in EVERY:
        groups.setdefault(action.group, []).append(f"{_code(keys_text(action))} {_small(action.label)}")
    rows = [f"| {group} | {' · '.join(parts)} |\n" for group, parts in groups.items()]
    return "| | |\n|---|---|\n" + "".join(rows)


def _small(label: str) -> str:
    return label[0].lower() + label[1:] if not label[1:2].isupper() else label


def filled(text: str) -> str:
    """Return the README with the table as it is now."""
    before, _, rest = text.partition(_BEGIN)
    return before + _BEGIN + keys() + _END + rest.partition(_END)[2]


def _code(words: str) -> str:
    return " ".join(f"`{word}`" for word in words.split())


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
