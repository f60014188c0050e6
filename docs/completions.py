"""Shell completion of gputop: shtab writes it from the parser, this module adds the values."""

import argparse
from collections.abc import Iterable, Iterator
from typing import Final

import shtab

from gputop.cli.args.parser import Parser
from gputop.core.protocol.signals import SIGNALS
from gputop.simulator import BOXES

SHELLS: Final = ("bash", "zsh", "fish")
_SNAPSHOT: Final = "snapshot --wait 0 --format"
_LISTS: Final = {  # what prints values, a line each; nothing where there is no driver, or no plugin
    "gpus": f"{_SNAPSHOT} csv 2>/dev/null | tail -n +2 | cut -d, -f2 | sort -un",
    "pids": f"{_SNAPSHOT} csv-processes 2>/dev/null | tail -n +2 | cut -d, -f2 | sort -un",
    "tests": "probe --list 2>/dev/null | cut -d' ' -f1",
}
_FUNCTIONS: Final = {  # run the gputop of the command line, which may be a path
    "bash": """_gputop_{name}() {{
  compgen -W "$("${{COMP_WORDS[0]/#~/$HOME}}" {command})" -- "$1"
}}""",
    "zsh": """_gputop_{name}() {{
  local own=${{${{(z)BUFFER}}[(r)*gputop]}}
  local -a found=(${{(f)"$(${{~own}} {command})"}})
  compadd -a found
}}""",
    "fish": """function _gputop_{name}
  set -l own (commandline -opc)[1]
  eval $own {command}
end""",
}
_PREAMBLES: Final = {
    shell: "\n".join(text.format(name=name, command=command) for name, command in _LISTS.items())
    for shell, text in _FUNCTIONS.items()
}
_USERS: Final = {"bash": "_gputop_users", "zsh": "_users", "fish": "(__fish_complete_users)"}
_COMMANDS: Final = {"bash": "_gputop_commands", "zsh": "_command_names -e", "fish": "(__fish_complete_command)"}
_OF_BASH: Final = """
_gputop_users() {
  compgen -u -- "$1"
}
_gputop_commands() {
  [[ ${COMP_WORDS[COMP_CWORD-1]} = --exec ]] && compgen -c -- "$1"
  compgen -f -- "$1"
}"""
_CHOICES: Final = {
    "MACHINE": tuple(BOXES),
    "SIGNAL": tuple(signal.name for signal in SIGNALS if signal.name != "SIGSTKFLT"),  # not known to every Python
    "REQUEST": ("none", "on", "off"),
    "cpu:N": ("cpu",),
}


def completion(shell: str, parser: Parser) -> str:
    """Return the completion file for a shell; do not use the parser afterwards."""
    for action in _actions(parser):
        _tell(action)
    preamble = _PREAMBLES[shell] + (_OF_BASH if shell == "bash" else "")
    return shtab.complete(parser, shell, preamble=preamble).rstrip() + "\n"


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from _of_all(action.choices.values())
        elif action.help != argparse.SUPPRESS:
            yield action


def _of_all(parsers: Iterable[argparse.ArgumentParser]) -> Iterator[argparse.Action]:
    for parser in parsers:
        yield from _actions(parser)


def _tell(action: argparse.Action) -> None:
    """Give an option or argument its values: words, or the output of a shell function."""
    metavar = str(action.metavar)
    if action.dest == "exec":
        found: object = _COMMANDS
    elif metavar in ("GPU", "PID", "TEST"):
        found = _function({"GPU": "gpus", "PID": "pids", "TEST": "tests"}[metavar])
    else:
        found = {"FILE": shtab.FILE, "PYTHON": shtab.FILE, "USER": _USERS}.get(metavar)
    if found:
        vars(action)["complete"] = found
    else:
        action.choices = action.choices or _CHOICES.get(metavar)
    if metavar == "MACHINE":
        action.nargs = None  # for bash every word after an option that may have a value would be one


def _function(name: str) -> dict[str, str]:
    return {"bash": f"_gputop_{name}", "zsh": f"_gputop_{name}", "fish": f"(_gputop_{name})"}
