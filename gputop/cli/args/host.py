"""The option --host, which is taken out before the rest is parsed: the rest may be for a gputop on that host."""

from collections.abc import Sequence
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.core.protocol.host_name import host_name

OPTION: Final = "--host"
_ENDS: Final = ("--", "--exec")


def without_host(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the host, None if there is none, and the other arguments. Raises BadRequestError."""
    hosts: list[str] = []
    others: list[str] = []
    rest = list(arguments)
    while rest and rest[0] not in _ENDS:
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if name != OPTION:
            others.append(word)
        elif sign or rest:
            hosts.append(value if sign else rest.pop(0))
        else:
            raise BadRequestError("--host needs the name of a host. See: gputop --help")
    if len(hosts) > 1:
        raise BadRequestError("--host can be given once. For many hosts: gputop fleet")
    try:
        return (host_name(hosts[0]) if hosts else None), [*others, *rest]
    except ValueError as error:
        raise BadRequestError(f"--host: {error}") from None
