"""The man page, from the parser, the keys and the settings.

argparse-manpage would leave out the end of each help text: the exit statuses and examples.
"""

import argparse
from collections.abc import Iterable, Iterator
from typing import Final

from gputop import __version__
from gputop.cli.args.parser import Parser
from gputop.core.settings.settings import SETTINGS
from gputop.ui.input.keymap import keys_text
from gputop.ui.input.replay_actions import EVERY

_SIGNS: Final = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "^": r"\(ha", "~": r"\(ti", ".": r"\&."}
_SUMMARY: Final = "a terminal UI process manager for NVIDIA GPUs"
_COMMON: Final = "input and selection"
_FILTERS: Final = """\
A filter selects processes. All of its terms must match; you can join terms with and, or, not and parentheses. A term is
a column, an operator and a value, such as user:ann, gpu_mem>10GiB, sm<5, time>2h, job:4711, cmd~vllm. A word alone
matches the command line, the user, or the first digits of the PID.

  :            equals; upper and lower case are the same; * matches any text
  = !=         equals exactly, does not
  < <= > >=    less, more
  ~            matches a regular expression anywhere

A list means any of its values: user:ann,bob. A dash means no value: job:- selects processes without a job. If a value
is unknown, neither sm<5 nor not sm<5 selects the process."""
_VARIABLES: Final = {
    "GPUTOP_NO_PLUGINS": "1: load no plugins",
    "GPUTOP_PROBE_PYTHON": "the Python with torch, for gputop probe",
    "GPUTOP_PROGRESS_DIR": "the directory where jobs write their progress",
    "NO_COLOR": "no colours, in tables and on the screen",
}
_FILES: Final = {
    "~/.config/gputop/config.toml": "the configuration; gputop config init creates it, with every setting explained",
    "~/.local/state/gputop/audit.jsonl": "one line before and one after each attempt to change something",
}


def man_page(parser: Parser) -> str:
    """Return the page as roff."""
    lines = [f'.TH GPUTOP 1 "" "gputop {__version__}" "User Commands"']
    lines += [".SH NAME", f"gputop \\- {_SUMMARY}", ".SH SYNOPSIS", _usage(parser)]
    lines += [".SH DESCRIPTION", *_text(parser.description or ""), ".SH OPTIONS", *_options(parser, ".SS")]
    lines += [".SH COMMANDS", *_commands(parser), ".SH KEYS", *_keys(), ".SH FILTERS", *_text(_FILTERS)]
    lines += [".SH ENVIRONMENT", *_variables(), ".SH FILES", *_items(_FILES.items()), *_ending(parser)]
    return "\n".join([*lines, ".SH SEE ALSO", "nvidia\\-smi(1), htop(1), signal(7)", ""])


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for command in _inner(parser):
        yield f".SS {_usage(command)}"
        yield from _text(command.description or "")
        yield from _options(command, ".PP")
        yield from (".PP", *_text(command.epilog or ""))
        yield from _commands(command)


def _options(parser: argparse.ArgumentParser, head: str) -> Iterator[str]:
    """Yield the arguments of a parser; one line names the common options if the page has explained them before."""
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if _is_told(action)]
        if actions and group.title == _COMMON and head == ".PP":
            names = " ".join(action.option_strings[0] for action in actions)
            yield from (".PP", _plain(f"As above: {names}"))
        elif actions:
            is_of_root = head == ".SS" and group.title != "options"
            yield from (f"{head} {_plain(group.title or '')}",) if is_of_root else ()
            yield from _items((_invocation(action), _help(parser, action)) for action in actions)


def _is_told(action: argparse.Action) -> bool:
    is_other = isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
    return not is_other and action.help != argparse.SUPPRESS


def _inner(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _usage(parser: argparse.ArgumentParser) -> str:
    return _plain(parser.format_usage().removeprefix("usage: ").strip())


def _invocation(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar)
    value = f"[{value}]" if value and action.nargs == "?" and action.option_strings else value
    return " ".join((", ".join(action.option_strings), value)).strip()


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return parser._get_formatter()._expand_help(action)


def _keys() -> Iterator[str]:
    for group in dict.fromkeys(action.group for action in EVERY):
        yield f".SS {group}"
        yield from _items((keys_text(each), each.label) for each in EVERY if each.group == group and each.keys)


def _variables() -> Iterator[str]:
    settings = {each.variable: f"sets {each.key}" for each in SETTINGS if each.variable}
    return _items((settings | _VARIABLES).items())


def _ending(parser: Parser) -> Iterator[str]:
    examples, _, status = (parser.epilog or "").partition("\n\nexit status: ")
    yield from (".SH EXIT STATUS", *_text(status), ".SH EXAMPLES", *_text(examples.partition("\n")[2]))


def _items(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, about in items:
        yield from (".TP", rf"\fB{_plain(name)}\fR", _plain(about))


def _text(text: str) -> Iterator[str]:
    """Yield a text; keep the layout of lines that start with spaces."""
    for line in text.splitlines():
        if line.startswith(" "):
            yield from (".nf", ".RS 4", _plain(line.strip()), ".RE", ".fi")
        else:
            yield _plain(line) or ".PP"


def _plain(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)
