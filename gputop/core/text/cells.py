"""Number of terminal cells that text takes, as rich counts them, which draws the screen.

Importing rich costs 25 ms, more than a snapshot may take for it, so the few places where its Unicode 17 differs from
Python's own tables are rows here. A test compares every character.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_MARKS: Final = frozenset({"Mn", "Me", "Mc"})  # drawn on the character before them
_ARE_NARROW: Final = re.compile(  # Latin, punctuation, arrows, lines, blocks, braille
    "[ -~\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u2319\u2500-\u25fc\u2800-\u28ff]*"
).fullmatch
_JOINED: Final = (  # no cell of their own: later parts of a Hangul syllable, fillers, skin tones
    range(0x1160, 0x1200), range(0x3164, 0x3165), range(0xD7B0, 0xD7FC), range(0xFFA0, 0xFFA1), range(0x1F3FB, 0x1F400),
)  # fmt: skip
_WIDE: Final = (  # wide since Unicode 16; Python's tables may be older
    range(0x2630, 0x2638), range(0x268A, 0x2690), range(0x4DC0, 0x4E00), range(0x1D300, 0x1D357),
    range(0x1D360, 0x1D377),
)  # fmt: skip
_EMOJI_SELECTOR: Final = "\ufe0f"  # makes these characters emojis of two cells
_EMOJIS: Final = frozenset(
    "#*0123456789\xa9\xae\u203c\u2049\u2122\u2139\u2194\u2195\u2196\u2197\u2198\u2199\u21a9\u21aa\u2328\u23cf\u23ed"
    "\u23ee\u23ef\u23f1\u23f2\u23f8\u23f9\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb\u25fc\u2600\u2601\u2602\u2603"
    "\u2604\u260e\u2611\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638\u2639\u263a\u2640\u2642\u265f"
    "\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u2692\u2694\u2695\u2696\u2697\u2699\u269b\u269c\u26a0\u26a7\u26b0"
    "\u26b1\u26c8\u26cf\u26d1\u26d3\u26e9\u26f0\u26f1\u26f4\u26f7\u26f8\u26f9\u2702\u2708\u2709\u270c\u270d\u270f"
    "\u2712\u2714\u2716\u271d\u2721\u2733\u2734\u2744\u2747\u2763\u2764\u27a1\u2934\u2935\u2b05\u2b06\u2b07"
    "\U0001f170\U0001f171\U0001f17e\U0001f17f\U0001f321\U0001f324\U0001f325\U0001f326\U0001f327\U0001f328\U0001f329"
    "\U0001f32a\U0001f32b\U0001f32c\U0001f336\U0001f37d\U0001f396\U0001f397\U0001f399\U0001f39a\U0001f39b\U0001f39e"
    "\U0001f39f\U0001f3cb\U0001f3cc\U0001f3cd\U0001f3ce\U0001f3d4\U0001f3d5\U0001f3d6\U0001f3d7\U0001f3d8\U0001f3d9"
    "\U0001f3da\U0001f3db\U0001f3dc\U0001f3dd\U0001f3de\U0001f3df\U0001f3f3\U0001f3f5\U0001f3f7\U0001f43f\U0001f441"
    "\U0001f4fd\U0001f549\U0001f54a\U0001f56f\U0001f570\U0001f573\U0001f574\U0001f575\U0001f576\U0001f577\U0001f578"
    "\U0001f579\U0001f587\U0001f58a\U0001f58b\U0001f58c\U0001f58d\U0001f590\U0001f5a5\U0001f5a8\U0001f5b1\U0001f5b2"
    "\U0001f5bc\U0001f5c2\U0001f5c3\U0001f5c4\U0001f5d1\U0001f5d2\U0001f5d3\U0001f5dc\U0001f5dd\U0001f5de\U0001f5e1"
    "\U0001f5e3\U0001f5e8\U0001f5ef\U0001f5f3\U0001f5fa\U0001f6cb\U0001f6cd\U0001f6ce\U0001f6cf\U0001f6e0\U0001f6e1"
    "\U0001f6e2\U0001f6e3\U0001f6e4\U0001f6e5\U0001f6e9\U0001f6f0\U0001f6f3"
)


def is_narrow(text: str) -> bool:
    """Return whether each character certainly takes one cell."""
    return text.isascii() or _ARE_NARROW(text) is not None


def width(text: str) -> int:
    """Return the number of terminal cells that cleaned text takes."""
    if text.isascii() or _ARE_NARROW(text):
        return len(text)
    return sum(map(_own_cells, text)) if _EMOJI_SELECTOR not in text else sum(cells_of(text))


def cells_of(text: str) -> Iterator[int]:
    """Yield the number of cells that each character adds to those before it."""
    before = ""  # the last character with a cell of its own
    for character in text:
        if character == _EMOJI_SELECTOR:
            yield int(before in _EMOJIS)
            before = ""
            continue
        taken = _own_cells(character)
        before = character if taken else before
        yield taken


@lru_cache(maxsize=4096)
def _own_cells(character: str) -> int:
    code = ord(character)
    if unicodedata.category(character) in _MARKS or any(code in codes for codes in _JOINED):
        return 0
    is_wide = unicodedata.east_asian_width(character) in "WF" or any(code in codes for codes in _WIDE)
    return 2 if is_wide else 1
