"""What documents tell people to type: the calls of gputop in their code, and the headings that can be linked to."""

import argparse
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from gputop.cli.main import whole

_FENCED: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_IN_LINE: Final = re.compile(r"(?<!`)`([^`\n]+)`")
_DRAWN: Final = re.compile(r"[─│┘]")
_SHELLS: Final = ("", "sh", "bash", "console")
_PUNCTUATION: Final = "|;&()<>"

ROOT = Path(__file__).parents[2]
DOCUMENTS = [path for path in ROOT.glob("**/*.md") if not {".venv", "node_modules"} & set(path.parts)]


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from commands(inner)


HELPS = {parser.prog: parser.format_help() for parser in commands(whole())}


def calls(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each gputop that a document calls, in blocks of code and in its lines."""
    yield from (call for line in _blocks(text) for call in _of(line))
    for code in _IN_LINE.findall(_FENCED.sub("", text)):
        if code.startswith("gputop ") and "…" not in code:
            yield from _of(re.sub(r"[\[\]]", "", code))


def settings(text: str) -> str:
    """Return what a document shows of the configuration file; a project's own file is not that."""
    return "\n".join(
        block for language, block in _FENCED.findall(text) if language == "toml" and "[project]" not in block
    )


def recipes(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the arguments of each gputop in a block of code that jq reads, and those of that jq."""
    for line in _blocks(text):
        commands = _commands(line)
        for before, after in pairwise(commands):
            if before[:1] == ["gputop"] and after[:1] == ["jq"]:
                yield before[1:], after[1:]


def anchors(text: str) -> set[str]:
    """Return what a link may point to within a document, as GitHub makes it of headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def examples(text: str) -> str:
    """Return the examples at the end of a help as a block of code; what explains one stands behind several blanks."""
    lines = text.partition("\nexample")[2].partition("\nexit status")[0].splitlines()[1:]
    return "".join(("```\n", *(re.split(r"\s{2,}", line.strip())[0] + "\n" for line in lines), "```\n"))


def _blocks(text: str) -> Iterator[str]:
    for language, block in _FENCED.findall(text):
        if language in _SHELLS:
            yield from (line for line in _whole_lines(block) if not _DRAWN.search(line))


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
    """Yield the arguments of each gputop that a line calls."""
    yield from (command[1:] for command in _commands(line) if command[:1] == ["gputop"])


def _commands(line: str) -> list[list[str]]:
    """Return the commands of a line, each with its arguments; one in which gputop stands begins there."""
    lexer = shlex.shlex(line.replace("$(", "("), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.commenters = ""
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in lexer:
        if word and set(word) <= set(_PUNCTUATION):
            found.append([])
        elif word.split("/")[-1] == "gputop":
            found[-1] = ["gputop"]
        else:
            found[-1].append(word)
    return found
