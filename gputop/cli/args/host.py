"""The option --host, which is taken out before the rest is parsed: the rest may be for a gputop on that host."""

from collections.abc import Sequence
from typing import Final

from gputop.app.errors import BadRequestError

OPTION: Final = "--host"
ALL: Final = "all"
_ENDS: Final = ("--", "--exec")


def without_host(arguments: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the hosts, and the other arguments. Raises BadRequestError."""
    lists: list[str] = []
    others: list[str] = []
    rest = list(arguments)
    while rest and rest[0] not in _ENDS:
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if name != OPTION:
            others.append(word)
        elif sign or rest:
            lists.append(value if sign else rest.pop(0))
        else:
            raise BadRequestError("--host needs the name of a host. See: gputop --help")
    try:
        return tuple(dict.fromkeys(name for each in lists for name in _names(each))), [*others, *rest]
    except ValueError as error:
        raise BadRequestError(f"--host: {error}") from None


def _names(text: str) -> tuple[str, ...]:
    """Return the names of a list, or of the list that the user keeps. Raises ValueError."""
    if text == ALL:
        from gputop.app.remote.host_list import listed

        return listed()
    from gputop.core.protocol.host_name import host_names

    return host_names(text)
