"""The parser of arguments: mistakes in one line with the word that was probably meant, help in short lines."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

from gputop.cli.args.exits import BAD_INPUT
from gputop.cli.args.options import columns

_WIDEST: Final = 100  # longer lines are hard to read


class Help(argparse.HelpFormatter):
    """Takes the width from the terminal; argparse would import shutil for it, at each argument's definition.

    Options stand in the list below the usage and not in it. A text may have several lines: each is filled by itself,
    and one that begins with blanks is left as it is.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(_WIDEST, columns(sys.stdout.fileno()) or 80))

    def _format_usage(
        self, _usage: str | None, actions: Iterable[argparse.Action], _groups: Iterable[Any], prefix: str | None
    ) -> str:
        words = [self._place(action) for action in actions if not action.option_strings]
        if prefix == "":  # how the usage of a command's commands begins
            return " ".join((self._prog, *words))
        return f"usage: {' '.join((self._prog, '[OPTION ...]', *words))}\n\n"

    def _place(self, action: argparse.Action) -> str:
        word = self._format_args(action, action.dest)
        return f"[{word}]" if action.nargs == argparse.PARSER and not action.required else word

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n".join(line if line[:1] == " " else fill(line, width, indent) for line in text.splitlines())


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line. ``usage_status``: the exit status then, of all parsers."""

    usage_status = BAD_INPUT

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - what argparse takes
        super().__init__(formatter_class=Help, **options)

    def error(self, message: str) -> NoReturn:
        """End the program with a line on stderr."""
        end = "" if message.endswith("?") else "."
        self.exit(self.usage_status, f"gputop: {message}{end} See: {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401
        """Parse; end the program where a word is left over: in the parser of the command, not in the outermost."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._left_over(rest))
        return known, rest

    def _left_over(self, rest: Sequence[str]) -> str:
        word = rest[0]
        if not word.startswith("-"):
            return f"{word!r} is one word too many"
        return f"there is no option {word.partition('=')[0]}{_meant(word, self._option_string_actions)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as argparse calls it
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(action, f"there is no {value!r}{_meant(str(value), choices) or _all(choices)}")


def _meant(word: str, words: Iterable[str]) -> str:
    from gputop.core.text.suggest import nearest

    found = nearest(word.partition("=")[0], words)
    return f". Did you mean {found}?" if found else ""


def _all(words: Sequence[str]) -> str:
    return f". There are: {', '.join(words)}"
