"""Lists of hosts as Slurm and ClusterShell write them: node[001-040,050],login1."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

from gputop.core.text.text import excerpt

MOST_HOSTS: Final = 10_000
_NAME: Final = re.compile(r"[A-Za-z0-9_.:@\[\]-]+", re.ASCII)
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def hosts_in(text: str) -> tuple[str, ...]:
    """Return the names that a list describes, in its order and each once. Raises ValueError, with a sentence."""
    found: dict[str, None] = {}
    for item in _items(text):
        for name in _expanded(item):
            if not name.strip("[]:") or not _NAME.fullmatch(name):
                raise ValueError(f"{excerpt(name)!r} is not the name of a host")
            found[name] = None
            if len(found) > MOST_HOSTS:
                raise ValueError(f"{excerpt(text)!r} has more than {MOST_HOSTS:,} hosts")
    return tuple(found)


def _items(text: str) -> list[str]:
    """Split at commas and blanks outside of brackets."""
    items, depth = [""], 0
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if depth not in {0, 1}:
            raise ValueError(f"the brackets of {excerpt(text)!r} do not match")
        if not depth and (sign == "," or sign.isspace()):
            items.append("")
        else:
            items[-1] += sign
    if depth:
        raise ValueError(f"the brackets of {excerpt(text)!r} do not match")
    return [item for item in items if item]


def _expanded(item: str) -> Iterator[str]:
    """Yield the names of one item, node[1-2]-gpu[0-1]. Brackets around an IPv6 address stay."""
    parts = re.split(r"\[([^\[\]]*)\]", item)
    if len(parts) == 3 and ":" in parts[1] and not parts[0]:
        yield item
        return
    choices: list[list[str]] = [[part] if place % 2 == 0 else _numbers(part, item) for place, part in enumerate(parts)]
    size = 1
    for choice in choices:
        size *= len(choice)
    if size > MOST_HOSTS:
        raise ValueError(f"{excerpt(item)!r} has more than {MOST_HOSTS:,} hosts")
    yield from map("".join, product(*choices))


def _numbers(text: str, item: str) -> list[str]:
    """Return the numbers of 001-003,007, with their zeros."""
    found: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"[{excerpt(text)}] in {excerpt(item)!r} is not a list of numbers such as [01-08,12]")
        first, last = match[1], match[2] or match[1]
        if not 0 <= int(last) - int(first) < MOST_HOSTS:
            raise ValueError(f"{excerpt(part)!r} in {excerpt(item)!r} is not a range such as 01-08")
        found += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return found
