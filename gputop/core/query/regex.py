"""Regular expressions that cannot hang: RE2 searches in time linear in the text, for every pattern.

Command lines come from other users, and `re` never ends on (a+)+$ or .*a.*b.*c with a crafted text.
"""

import re
import warnings
from typing import Any, Final

_LONGEST: Final = 200
_MESSAGES: Final = {
    "missing )": "unclosed (",
    "unexpected )": "unmatched )",
    "missing ]": "unclosed [",
    "no argument for repetition operator": "nothing to repeat",
    "bad repetition operator": "a repeat cannot be repeated: put parentheses around the first",
    "invalid repetition size": "a count must be ascending and at most 1000; nested counts multiply",
    "invalid perl operator": "this kind of group is not supported; (?: and (?P<name> are",
    "invalid named capture group": "this group needs a name of letters and digits",
    "invalid escape sequence": "this escape is not supported",
    "invalid character class range": "a range must be ascending",
    "trailing \\": "a character is missing after \\",
    "expression nests too deeply": "parentheses are nested too deeply",
    "pattern too large - compile failed": "the pattern is too large",
}


class PatternError(ValueError):
    """What is wrong with a pattern. ``position``: of the character, from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class Pattern:
    r"""A pattern for `search`, in RE2's syntax, regardless of case; \w, \d, \s and \b mean ASCII characters.

    Raises `PatternError` if the text is not a pattern.
    """

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise PatternError(f"the pattern is longer than {_LONGEST} characters", _LONGEST)
        self.text = text
        self._compiled = _compiled(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def search(self, text: str) -> bool:
        """Say whether the pattern matches anywhere in the text."""
        return self._compiled.search(_encoded(text)) is not None


def _compiled(text: str) -> Any:  # noqa: ANN401 - google-re2 has no types
    import re2  # noqa: PLC0415 - only few filters have a pattern

    options = re2.Options()
    options.log_errors, options.case_sensitive, options.never_capture = False, False, True
    try:
        return re2.compile(_encoded(text), options)
    except re2.error as error:
        said = error.args[0].decode(errors="replace")
    kind, _, part = said.partition(": ")
    raise PatternError(_MESSAGES.get(kind, said), _position(text, part))


def _encoded(text: str) -> bytes:
    """Return UTF-8; a byte of a command line that is not text becomes a question mark."""
    return text.encode(errors="replace")


def _position(text: str, part: str) -> int:
    """Return the position of a fault: RE2 reports only the part of the pattern, `re` knows where most faults are."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except re.error as error:
        return error.pos or 0
    except (OverflowError, RecursionError):
        pass
    return max(0, text.find(part))
