"""The names of hosts as ssh takes them: NAME or USER@NAME, and lists of them."""

import re
from typing import Final

from gputop.core.text.text import excerpt

_NAME: Final = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}@)?[A-Za-z0-9_:][A-Za-z0-9_.:%-]{0,252}", re.ASCII)


def host_name(text: str) -> str:
    """Return the name of a host, an alias of the ssh configuration, or an address. Raises ValueError.

    ssh gets it as one word; a name that it could take for an option is refused.
    """
    if not _NAME.fullmatch(text):
        raise ValueError(f"{excerpt(text)!r} is not a host such as node7, ann@node7 or 10.0.0.7")
    return text


def host_names(text: str) -> tuple[str, ...]:
    """Return the names of a list such as ``node[01-08],ann@login``. Raises ValueError."""
    if "," not in text and "[" not in text:
        return (host_name(text),)
    from gputop.core.fleet.host_list import hosts_in  # noqa: PLC0415 - few names are lists

    return tuple(map(host_name, hosts_in(text)))
