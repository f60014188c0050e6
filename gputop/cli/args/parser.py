"""The argument parser: one line for a mistake, with the nearest word, and help in short lines."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NoReturn

from gputop.app.errors import BAD_INPUT
from gputop.core.text.text import excerpt

USAGE: Final = 64  # the status of bad input for a command that uses 2 as a verdict
_WIDEST: Final = 100  # longer lines are hard to read
_LONGEST: Final = 1000  # of an error's line: some messages of argparse contain what was given


class Help(argparse.HelpFormatter):
    """Help as wide as the terminal; for the width, argparse would import shutil at each argument's definition.

    The usage omits options, because the list below it has them. Each line of a text is wrapped by itself, and a line
    that begins with blanks stays unchanged.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(_WIDEST, _columns() or 80))

    def _format_usage(
        self, _usage: str | None, actions: Iterable[argparse.Action], _groups: Iterable[Any], prefix: str | None
    ) -> str:
        words = [self._place(action) for action in actions if not action.option_strings]
        if prefix == "":  # how the usage of a command's subcommands begins
            return " ".join((self._prog, *words))
        return f"usage: {' '.join((self._prog, '[OPTION ...]', *words))}\n\n"

    def _place(self, action: argparse.Action) -> str:
        word = self._format_args(action, action.dest)
        return f"[{word}]" if action.nargs == argparse.PARSER and not action.required else word

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n".join(line if line[:1] == " " else fill(line, width, indent) for line in text.splitlines())


class Parser(argparse.ArgumentParser):
    """A parser with errors of one line. ``usage_status``: the exit status of an error, shared by all parsers."""

    usage_status = BAD_INPUT

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - what argparse takes
        super().__init__(formatter_class=Help, **options)

    def error(self, message: str) -> NoReturn:
        """Print the message and end the program. The first line names the help; further lines point at the mistake."""
        first, *others = (excerpt(line, _LONGEST) for line in message.split("\n"))
        end = "" if first.endswith("?") else "."
        lines = (f"gputop: {first}{end} See: {self.prog} --help", *others)
        self.exit(self.usage_status, "".join(f"{line}\n" for line in lines))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """Parse; end the program if a word is left over, in the parser of the command instead of the outermost one."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._left_over(rest))
        return known, rest

    def _left_over(self, rest: Sequence[str]) -> str:
        word = rest[0]
        if not word.startswith("-"):
            return f"unexpected argument {excerpt(word)!r}"
        return f"unknown option {excerpt(word.partition('=')[0])}{_meant(word, self._option_string_actions)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse calls it
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = _meant(str(value), choices) or _all(choices)
        raise argparse.ArgumentError(action, f"unknown value {excerpt(str(value))!r}{hint}")


@lru_cache(1)
def _columns() -> int | None:
    """Return the width of the terminal behind stdout; None without one."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except OSError:
        return None


def _meant(word: str, words: Iterable[str]) -> str:
    from gputop.core.text.suggest import nearest

    found = nearest(word.partition("=")[0], words)
    return f". Did you mean {found}?" if found else ""


def _all(words: Sequence[str]) -> str:
    return f". Available: {', '.join(words)}"
