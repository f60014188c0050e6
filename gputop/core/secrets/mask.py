"""The mask: command lines and values without their secrets.

A mask shows that a secret was there, and not how long it is. Names are judged by `names`, values by `shapes`.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gputop.core.secrets.names import Suspicion, names_secret, suspicion
from gputop.core.secrets.shapes import FIRST, GAP, LAST, MASK, Shape

_BETWEEN: Final = "\0"  # arguments
# Parts of all names that `suspicion` knows: most command lines have none, and need no search for names.
_SIGNS: Final = (
    "pass", "pw", "token", "secret", "key", "auth", "cred", "bearer", "cookie", "jwt", "webhook", "sig", "otp", "sas",
    "dsn", "pat", "private", "psk", "hmac", "session", "conn", "pin", "mnemonic", "seed", "proxy",
    "recovery", "backup", "verification", "salt", "community",
)  # fmt: skip
_NAME: Final = (
    r"(?<![\w.-])(?P<dashes>-{0,2})(?P<name>[A-Za-z_][\w.-]{0,127})"
    r"(?:(?P<sign>\\{0,3}[\"']?[ \t]{0,2}(?::=|={1,3}>?|:(?!:|//))[ \t]{0,2})"
    r"|(?P<gap>\0|[\s\u2409\u240a\u240d]+)(?!-))"
)
_WORD: Final = r"[\w.-]+"  # each name is one; `_NAME` takes eight times as long to compile
_QUOTE: Final = r"[\[(]{0,2}\\{0,3}[\"']"
_IN_QUERY: Final = rf"[^{GAP}\"';&#]*"
_BARE: Final = rf"[^{GAP}\"';]*"
# A value that FIRST has masked well: an address, a header, a private key. Of another one it may have missed a part.
_DONE: Final = rf"[\w.+-]+://|\w* ?{MASK}|-----BEGIN "
_SCRIPT: Final = r"(?:\A|\0)-[a-z]{0,6}c\0\Z"  # the argument before the script of a shell


def is_secret(name: str, value: str) -> bool:
    """Say whether an environment variable holds a secret: by its name, or by the shape of its value."""
    return bool(value) and (names_secret(name, value) or masked(value) != value)


def masked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments of a command with its secrets masked."""
    return tuple(masked(_BETWEEN.join(arguments)).split(_BETWEEN)) if arguments else ()


def masked(text: str) -> str:
    """Return a text with its secrets masked; NUL characters separate arguments."""
    text = _without(FIRST, text)
    low = text.lower()
    if any(sign in low for sign in _SIGNS) and any(map(_is_suspect, re.findall(_WORD, text))):
        text = _without_named(text)
    return _without(LAST, text)


def _is_suspect(word: str) -> bool:
    return suspicion(word.lstrip("-")) is not Suspicion.NONE


def _without(shapes: Iterable[Shape], text: str) -> str:
    for sign, pattern, shown in shapes:
        if sign in text:
            text = re.sub(pattern, shown, text)
    return text


def _without_named(text: str) -> str:
    """Mask the values that follow the name of a secret: NAME=value, "name": "value", --name value."""
    parts, at = [], 0
    for found in re.finditer(_NAME, text):
        is_pair = found["sign"] is not None or bool(found["dashes"])
        if found.start() < at or not is_pair or suspicion(found["name"]) is Suspicion.NONE:
            continue
        start, end = _value(text, found)
        value = text[start:end]
        is_done = value[:1] == "{" or (MASK in value and re.match(_DONE, value))  # a dictionary has names of its own
        if not is_done and names_secret(found["name"], value):
            parts += [text[at:start], MASK]
            at = end
    return "".join([*parts, text[at:]])


def _value(text: str, found: re.Match[str]) -> tuple[int, int]:
    """Return where the value behind a name begins and ends."""
    start = found.end()
    last = text.find(_BETWEEN, start)
    last = len(text) if last < 0 else last
    if _fills_argument(text, found):
        return start, last
    quote = re.compile(_QUOTE).match(text, start)
    if quote:
        end = text.find(quote.group(), quote.end(), last)
        return quote.end(), last if end < 0 else end
    is_query = text[found.start() - 1 : found.start()] in {"?", "&"}
    bare = re.compile(_IN_QUERY if is_query else _BARE).match(text, start)
    return start, bare.end() if bare else start


def _fills_argument(text: str, found: re.Match[str]) -> bool:
    """Return whether a value is the rest of an argument, blanks and quotes included; a script has more in it."""
    if found["gap"] is not None:
        return found["gap"] == _BETWEEN
    start = found.start()
    begins = start == 0 or text[start - 1] == _BETWEEN
    return begins and _BETWEEN in text and not re.search(_SCRIPT, text[max(0, start - 9) : start])
