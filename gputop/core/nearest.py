"""The right word that is nearest to a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(wrong: str, right: Iterable[str]) -> str | None:
    """Return the word that was probably meant; None where none is near."""
    found = get_close_matches(wrong.lower()[:40], list(right), n=1, cutoff=0.55)
    return found[0] if found else None
