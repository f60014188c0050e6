"""Requests for a MIG layout, as text and as values.

``3g.40gb,2x1g.10gb``  exactly these instances               ``3g,all=1g``       and as many more of a profile as fit
``+1x2g.20gb``         these in addition                     ``-1g.10gb``        one fewer
``3g.40gb@4``          at this memory slot                   ``2g.20gb/1c+1c``   with these compute instances
``1c.3g.40gb``         a compute instance; equal ones share a GPU instance, as in mig-parted
``1g>=20gb``           the smallest of these slices with that much memory: drivers name profiles in different ways
``none``               no instances                          ``on``, ``off``     MIG mode only
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gputop.core.mig.model import Geometry, MigGpu, PlacedInstance, Profile, compute_sizes
from gputop.core.mig.placement import compute_piece, fits, place
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt

_ITEM: Final = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<count>\d{1,3})[x*])?(?:(?P<part>\d)c\.)?(?P<name>\d+g[^@/\s]*)"
    r"(?:@(?P<start>\d{1,2}))?(?:/(?P<computes>none|\d+c(?:\+\d+c)*))?"
)
_ALL: Final = re.compile(r"(?P<sign>[+-]?)all=(?P<name>\d+g\S*)")
_AT_LEAST: Final = re.compile(r"(?P<slices>\d+g)>=(?P<gigabytes>\d{1,4})(?:gb)?")
_MOST: Final = 64
_GRAMMAR: Final = "write it as 3g.40gb,2x1g.10gb or all=1g or +1x2g.20gb or none, on, off"


class RequestError(Exception):
    """An invalid request; the message says why."""


class Item(Struct, frozen=True):
    """A requested GPU instance. ``computes``: slices of its compute instances, largest first; ``start``: optional."""

    profile: str
    computes: tuple[int, ...]
    start: int | None = None

    @property
    def text(self) -> str:
        """Return ``3g.40gb@4``, without the compute instances."""
        return self.profile if self.start is None else f"{self.profile}@{self.start}"


class Wish(Struct, frozen=True):
    """A request for a GPU. ``items``: None leaves the instances unchanged."""

    items: tuple[Item, ...] | None
    is_on: bool = True


def read_request(text: str, gpu: MigGpu) -> Wish:
    """Read a request for a GPU. Raises RequestError."""
    parts = [part.strip() for part in text.strip().lower().split(",")]
    if parts in (["on"], ["off"], ["none"]):
        return Wish(None if parts == ["on"] else (), is_on=parts != ["off"])
    if not gpu.geometry.profiles:
        turn_on = "" if gpu.is_on else "; turn MIG on first: gputop mig apply on"
        raise RequestError(f"GPU {gpu.index} reports no profiles{f': {gpu.why}' if gpu.why else turn_on}")
    signs = {part[:1] if part[:1] in "+-" else "" for part in parts if part}
    if "" in signs and len(signs) > 1:
        raise RequestError("either every part has a sign (+1x2g.20gb,-1g.10gb changes the layout) or none")
    items = list(() if "" in signs else (item_of(instance, gpu.geometry) for instance in gpu.instances))
    fractions: dict[str, list[int]] = {}
    fills = [every for part in parts if (every := _ALL.fullmatch(part))]
    for part in parts:
        if not _ALL.fullmatch(part):
            _read_part(part, gpu.geometry, items, fractions)
    for name, slices in fractions.items():
        items += _packed(_profile(name, gpu.geometry), slices)
    for every in fills:
        items += _filling(every, gpu, items)
    return Wish(tuple(sorted(items, key=item_order)))


def item_of(instance: PlacedInstance, geometry: Geometry) -> Item:
    """Return an existing instance as a requested one, without its placement."""
    profile = geometry.profile(instance.profile)
    if profile is None:
        raise RequestError(f"the driver does not list the profile of {instance.text}")
    return Item(instance.profile, tuple(sorted((compute.slices for compute in instance.computes), reverse=True)))


def wish_text(items: Sequence[Item], geometry: Geometry) -> str:
    """Return items as the text of a request."""
    counts = Counter(item.text + _computes_text(item, geometry) for item in sorted(items, key=item_order))
    return ",".join(word if count == 1 else f"{count}x{word}" for word, count in counts.items()) or "none"


def whole(profile: Profile, start: int | None = None) -> Item:
    """Return an instance with one compute instance that spans it."""
    return Item(profile.name, (profile.slices,), start)


def _read_part(part: str, geometry: Geometry, items: list[Item], fractions: dict[str, list[int]]) -> None:
    match = _ITEM.fullmatch(part)
    if match is None:
        raise RequestError(f"invalid request: {excerpt(part) or 'nothing between commas'!r}; {_GRAMMAR}")
    profile = _profile(match["name"], geometry)
    count = int(match["count"] or 1)
    if not 0 < count <= _MOST:
        raise RequestError(f"{excerpt(part)}: the count must be from 1 to {_MOST}")
    if match["part"] and int(match["part"]) != profile.slices:
        _read_fraction(match, profile, count, fractions)
        return
    item = Item(profile.name, _computes(match, profile), _start(match, profile))
    if match["sign"] == "-":
        _remove(item, count, items)
    else:
        items += [item] * count


def _filling(every: "re.Match[str]", gpu: MigGpu, items: Sequence[Item]) -> list[Item]:
    """Return as many of a profile as fit next to the items, with busy instances kept in place."""
    if every["sign"] == "-":
        raise RequestError(f"{excerpt(every[0])}: to remove all instances, request none")
    profile = _profile(every["name"], gpu.geometry)
    used = gpu.placed(gpu.busy)
    for count in range(profile.most, 0, -1):
        names = Counter([*(item.profile for item in items), *[profile.name] * count])
        stays = Counter(held.name for held, _ in used)
        is_there = not stays - names  # else an instance in use is in the way; the planner reports it
        rest = [_profile(name, gpu.geometry) for name in (names - stays if is_there else names).elements()]
        if fits(gpu.geometry, rest, used if is_there else ()):
            return [whole(profile)] * count
    return []


def _read_fraction(match: "re.Match[str]", profile: Profile, count: int, fractions: dict[str, list[int]]) -> None:
    slices = int(match["part"])
    if match["sign"] == "-" or match["start"] or match["computes"]:
        raise RequestError(f"{excerpt(match[0])}: write it as part of the GPU instance: {profile.name}/1c+1c")
    if slices not in compute_sizes(profile.slices):
        raise RequestError(
            f"{excerpt(match[0])}: {profile.name} has compute instances of {_sizes_text(profile)} slices"
        )
    fractions.setdefault(profile.name, []).extend([slices] * count)


def _computes(match: "re.Match[str]", profile: Profile) -> tuple[int, ...]:
    if not match["computes"]:
        return (profile.slices,)
    if match["computes"] == "none":
        return ()
    computes = tuple(sorted((int(word[:-1]) for word in match["computes"].split("+")), reverse=True))
    wrong = [slices for slices in computes if slices not in compute_sizes(profile.slices)]
    if wrong or place([compute_piece(slices, profile.slices) for slices in computes], 0) is None:
        raise RequestError(
            f"{excerpt(match[0])}: {profile.name} has {profile.slices} compute slices, for compute instances of "
            f"{_sizes_text(profile)}"
        )
    return computes


def _start(match: "re.Match[str]", profile: Profile) -> int | None:
    if match["start"] is None:
        return None
    if int(match["start"]) not in profile.starts:
        starts = ", ".join(str(start) for start in profile.starts)
        raise RequestError(f"{excerpt(match[0])}: {profile.name} can only start at memory slot {starts}")
    return int(match["start"])


def _remove(item: Item, count: int, items: list[Item]) -> None:
    for _ in range(count):
        found = next((held for held in items if held.profile == item.profile), None)
        if found is None:
            raise RequestError(f"no {item.profile} left to remove")
        items.remove(found)


def _packed(profile: Profile, slices: Sequence[int]) -> list[Item]:
    """Return the fewest GPU instances that hold these compute instances, largest first."""
    instances: list[list[int]] = []
    for each in sorted(slices, reverse=True):
        for held in instances:
            if place([compute_piece(one, profile.slices) for one in (*held, each)], 0) is not None:
                held.append(each)
                break
        else:
            instances.append([each])
    return [Item(profile.name, tuple(held)) for held in instances]


def _profile(name: str, geometry: Geometry) -> Profile:
    """Return the profile with a name; 1g, 1g+me and 1g>=20gb mean the one with the least memory."""
    exact = geometry.profile(name)
    if exact is not None:
        return exact
    bounded = _AT_LEAST.fullmatch(name)
    short, least = (bounded["slices"], int(bounded["gigabytes"]) * 10**9) if bounded else (name, 0)
    found = [profile for profile in geometry.profiles if profile.short == short and profile.memory_bytes >= least]
    if found:
        return min(found, key=lambda profile: (profile.size, profile.memory_bytes))
    names = [profile.name for profile in geometry.profiles]
    guess = None if bounded else _guess(name, names)
    raise RequestError(
        f"this GPU has no profile {excerpt(name)!r}"
        + (f"; did you mean {guess}? " if guess else ". ")
        + f"It has: {', '.join(names)}"
    )


def _guess(name: str, names: Sequence[str]) -> str | None:
    """Return the profile that was probably meant; other boards pair the same slices with more or less memory."""
    alike = [each for each in names if each.partition("g")[0] == name.partition("g")[0]]
    return min(alike, key=lambda each: abs(_gigabytes(each) - _gigabytes(name)), default=nearest(name, names))


def _gigabytes(name: str) -> int:
    digits = name.partition(".")[2].partition("gb")[0]
    return int(digits) if digits.isdecimal() else 0


def _computes_text(item: Item, geometry: Geometry) -> str:
    profile = geometry.profile(item.profile)
    if profile is not None and item.computes == (profile.slices,):
        return ""
    return "/" + ("+".join(f"{slices}c" for slices in item.computes) or "none")


def _sizes_text(profile: Profile) -> str:
    return ", ".join(str(size) for size in reversed(compute_sizes(profile.slices)))


def item_order(item: Item) -> tuple[int, str, tuple[int, ...], int]:
    """Return the sort key of items, largest first."""
    slices = int(item.profile.partition("g")[0] or 0)
    return -slices, item.profile, item.computes, -1 if item.start is None else item.start
