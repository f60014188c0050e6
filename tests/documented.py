"""What documents tell people to type: the calls of gputop in their code, and the headings that can be linked to."""

import re
import shlex
from collections.abc import Iterator
from typing import Final

_FENCED: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_IN_LINE: Final = re.compile(r"(?<!`)`([^`\n]+)`")
_DRAWN: Final = re.compile(r"[─│┘]")
_SHELLS: Final = ("", "sh", "bash", "console")
_PUNCTUATION: Final = "|;&()<>"


def calls(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each gputop that a document calls, in blocks of code and in its lines."""
    for language, block in _FENCED.findall(text):
        if language in _SHELLS:
            yield from (call for line in _whole_lines(block) for call in _of(line) if not _DRAWN.search(line))
    for code in _IN_LINE.findall(_FENCED.sub("", text)):
        if code.startswith("gputop ") and "…" not in code:
            yield from _of(re.sub(r"[\[\]]", "", code))


def anchors(text: str) -> set[str]:
    """Return what a link may point to within a document, as GitHub makes it of headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def examples(text: str) -> Iterator[list[str]]:
    """Yield the calls at the end of a help; what explains one stands behind several blanks."""
    for line in text.partition("\nexample")[2].splitlines():
        if line.startswith(("  gputop ", "  env ")):
            yield from _of(re.split(r"\s{2,}", line.strip())[0])


def _whole_lines(block: str) -> Iterator[str]:
    """Yield the lines of a shell: those whose quotation is still open go on in the next."""
    held = ""
    for line in block.splitlines():
        held += re.sub(r"(^|\s)# .*$", "", line.removeprefix("$ ")) + "\n"
        if _is_whole(held):
            yield held
            held = ""


def _is_whole(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return False
    return not line.endswith("\\\n")


def _of(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line.replace("$(", "("), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.commenters = ""
    lexer.whitespace_split = True
    found: list[str] | None = None
    for word in [*lexer, ";"]:
        if set(word) <= set(_PUNCTUATION):
            yield from () if found is None else (found,)
            found = None
        elif found is not None:
            found.append(word)
        elif word.split("/")[-1] == "gputop":
            found = []
