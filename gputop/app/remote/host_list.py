"""The list of hosts that the user keeps, a setting: `gputop --host all` and `gputop hosts` read it."""

from collections.abc import Sequence
from typing import Final

from gputop.app.errors import BAD_INPUT, OK, BadRequestError, UseCaseError
from gputop.app.remote.consent import Consents
from gputop.app.settings.settings_file import load, save
from gputop.core.protocol.host_name import host_names
from gputop.core.settings.settings import SETTING_BY_KEY, Wrong
from gputop.core.text.text import clean
from gputop.machine.files.places import config_file

_KEY: Final = "hosts"


def listed() -> tuple[str, ...]:
    """Return the hosts of the list. Raises BadRequestError if it is empty or wrong."""
    names = _names(_written())
    if not names:
        raise BadRequestError("the list of hosts is empty. Add some: gputop hosts add node1 'node[02-08]'")
    return names


def print_list() -> int:
    """Print the hosts of the list, one a line."""
    for name in _names(_written()):
        print(name)
    return OK


def add(hosts: Sequence[str], may_copy: bool | None) -> int:  # noqa: FBT001 - a value to store, not a switch
    """Add hosts to the list, and store whether gputop may copy itself there; None: it asks."""
    held = _written()
    known = set(_names(held))
    new = [name for name in hosts if name not in known]
    if new:
        _save((*held, *new))
    problem = Consents().keep(hosts, may_copy)
    if problem:
        raise UseCaseError(BAD_INPUT, problem)
    print(f"added {_counted(len(new))}; the list has {_counted(len(known) + len(new))}: gputop --host all")
    return OK


def remove(hosts: Sequence[str]) -> int:
    """Remove hosts from the list, and forget the user's answers about them."""
    held = _written()
    missing = [name for name in hosts if name not in set(_names(held))]
    if missing:
        raise BadRequestError(f"{missing[0]} is not on the list. To see the list: gputop hosts list")
    problem = Consents().keep(hosts, None)  # first: without it, the list stays, and the user can try again
    if problem:
        raise UseCaseError(BAD_INPUT, problem)
    _save([word for each in held for word in _without(each, hosts)])
    print(f"removed {_counted(len(hosts))}")
    print("If gputop copied itself to a host, remove the copy with: gputop hosts clean NAME")
    return OK


def _without(word: str, hosts: Sequence[str]) -> Sequence[str]:
    """Return a word of the list without these hosts: unchanged if it names none of them, else by name."""
    names = host_names(word)
    return [name for name in names if name not in hosts] if set(names) & set(hosts) else [word]


def _names(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for word in words for name in host_names(word)))


def _written() -> tuple[str, ...]:
    """Return the list as it is written. Raises BadRequestError for a file that cannot be understood."""
    file = config_file()
    settings, problems = load(file)
    for problem in problems:
        if problem.path in ("", _KEY):
            raise BadRequestError(f"{clean(file)}: {problem}. Correct the file first")
    return settings.hosts


def _save(words: Sequence[str]) -> None:
    checked = SETTING_BY_KEY[_KEY].read(words)
    problem = f"the list {checked.message}" if isinstance(checked, Wrong) else save({_KEY: tuple(words) or None})
    if problem:
        raise BadRequestError(problem)


def _counted(count: int) -> str:
    return f"{count} host{'' if count == 1 else 's'}"
