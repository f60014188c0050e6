"""Suggestions for mistyped words."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_LEAST: Final = 3


def nearest(wrong: str, right: Iterable[str]) -> str | None:
    """Return the closest word, or None if none is close. A prefix suggests the shortest word that starts with it."""
    words = list(right)
    begun = [word for word in words if len(wrong) >= _LEAST and word.startswith(wrong.lower())]
    if begun:
        return min(begun, key=len)
    found = get_close_matches(wrong.lower()[:40], words, n=1, cutoff=0.55)
    return found[0] if found else None
