"""The MIG model of a GPU: profiles, possible placements, existing instances.

A GPU instance takes adjacent memory slots (of 8, or 4 on an A30), from one of the starts that its profile allows. Its
compute instances share its compute slices. gputop reads all of this from the driver and has no table of GPU models.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.metric import Missing

_WIDEST_ALIGNMENT: Final = 4


class User(Struct, frozen=True, kw_only=True):
    """A process that uses an instance or keeps a device open. ``how``: how to end it."""

    pid: int
    user: str = ""
    command: str = ""
    how: str = ""

    @property
    def text(self) -> str:
        """Return ``4711 (ann) python train.py``."""
        return " ".join(part for part in (str(self.pid), self.user and f"({self.user})", self.command) if part)


class Holders(Struct, frozen=True):
    """The processes that have a GPU's device file open. ``unseen``: processes whose open files are not readable."""

    users: tuple[User, ...] = ()
    unseen: int = 0


class Profile(Struct, frozen=True, kw_only=True):
    """A kind of GPU instance.

    ``size``: memory slots; ``starts``: the slots at which it can start; ``most``: the maximum number on a GPU;
    ``slices``: compute slices, one or more for each compute instance. ``id``: the driver's.
    """

    id: int
    name: str
    slices: int
    size: int
    starts: tuple[int, ...]
    most: int
    multiprocessors: int = 0
    memory_bytes: int = 0

    @property
    def attribute(self) -> str:
        """Return the suffix of the name: ``+me``, ``+gfx``, ``-me``; usually empty."""
        return _attribute(self.name)

    @property
    def short(self) -> str:
        """Return the name without its memory: ``3g``, ``1g+me``."""
        return short_name(self.name)


def short_name(profile: str) -> str:
    """Return the name of a profile without its memory: ``3g``, ``1g+me``."""
    return profile.partition(".")[0] + _attribute(profile)


def _attribute(profile: str) -> str:
    at = min((place for place in (profile.find("+"), profile.find("-")) if place > 0), default=len(profile))
    return profile[at:]


class Geometry(Struct, frozen=True):
    """The profiles of a GPU, largest first."""

    profiles: tuple[Profile, ...] = ()

    @property
    def slots(self) -> int:
        """Return the number of memory slots."""
        return max((start + profile.size for profile in self.profiles for start in profile.starts), default=0)

    @property
    def slices(self) -> int:
        """Return the number of compute slices."""
        return max((profile.slices for profile in self.profiles), default=0)

    def profile(self, name: str) -> Profile | None:
        """Return the profile with a name, or None."""
        return next((profile for profile in self.profiles if profile.name == name), None)


class TargetCompute(Struct, frozen=True, order=True):
    """A compute instance of a planned layout."""

    start: int
    slices: int


class Target(Struct, frozen=True, order=True):
    """A GPU instance of a planned layout."""

    start: int
    size: int
    profile: str
    computes: tuple[TargetCompute, ...] = ()

    @property
    def mask(self) -> int:
        """Return the memory slots as bits."""
        return mask(self.start, self.size)

    @property
    def text(self) -> str:
        """Return ``3g.40gb@4``."""
        return f"{self.profile}@{self.start}"


class PlacedCompute(Struct, frozen=True, kw_only=True):
    """A compute instance. ``start``: its first compute slice; None if not readable."""

    id: int
    slices: int
    start: int | None = None
    uuid: str = ""
    users: tuple[User, ...] = ()

    @property
    def mask(self) -> int:
        """Return the compute slices as bits."""
        return mask(self.start or 0, self.slices)

    @property
    def target(self) -> TargetCompute:
        """Return it as part of a layout."""
        return TargetCompute(self.start or 0, self.slices)


class PlacedInstance(Struct, frozen=True, kw_only=True):
    """A GPU instance. ``start`` and ``size``: its memory slots; None if not readable.

    ``users``: processes that hold the GPU instance but none of its compute instances.
    """

    id: int
    profile: str
    start: int | None = None
    size: int | None = None
    computes: tuple[PlacedCompute, ...] = ()
    users: tuple[User, ...] = ()

    @property
    def mask(self) -> int:
        """Return the memory slots as bits."""
        return mask(self.start or 0, self.size or 0)

    @property
    def everyone(self) -> tuple[User, ...]:
        """Return all processes on it, each once."""
        return tuple({user.pid: user for user in (*self.users, *(u for c in self.computes for u in c.users))}.values())

    @property
    def text(self) -> str:
        """Return ``3g.40gb@4``."""
        return self.profile if self.start is None else f"{self.profile}@{self.start}"

    @property
    def target(self) -> Target:
        """Return it as part of a layout."""
        computes = tuple(sorted(compute.target for compute in self.computes))
        return Target(self.start or 0, self.size or 0, self.profile, computes)


class MigGpu(Struct, frozen=True, kw_only=True):
    """The MIG state of a GPU.

    ``is_on``: None without MIG support, with the reason in ``why``; ``is_on_next``: after the next reset or reboot.
    ``needs_reset``: a mode change takes effect at a reset; ``keeps_mode``: the mode survives a reboot.
    ``remaining``: by profile, how many more fit according to the driver. ``missing``: unreadable parts, such as
    ``placements``. ``users``: processes on no instance. ``device``: PCI device and vendor, ``0x233010DE``.
    """

    index: int
    uuid: str
    name: str
    bus_id: str = ""
    device: str = ""
    subsystem: str = ""
    is_on: bool | None = None
    is_on_next: bool | None = None
    why: str = ""
    needs_reset: bool | None = None
    keeps_mode: bool | None = None
    is_persistent: bool | None = None
    geometry: Geometry = Geometry()
    instances: tuple[PlacedInstance, ...] = ()
    remaining: dict[str, int] = {}
    users: tuple[User, ...] = ()
    missing: dict[str, Missing] = {}

    @property
    def is_silent(self) -> bool:
        """Say whether MIG must be on before the driver reports the profiles."""
        return self.is_on is False and not self.geometry.profiles

    @property
    def occupied(self) -> int:
        """Return the occupied memory slots as bits."""
        return union(instance.mask for instance in self.instances)

    @property
    def busy(self) -> tuple[PlacedInstance, ...]:
        """Return the instances that processes use."""
        return tuple(one for one in self.instances if one.everyone)

    def placed(self, instances: Iterable[PlacedInstance]) -> list[tuple[Profile, int]]:
        """Return the profiles and starts of instances, as far as the driver lists their profiles."""
        known = ((self.geometry.profile(one.profile), one.start or 0) for one in instances)
        return [(profile, start) for profile, start in known if profile is not None]

    @property
    def everyone(self) -> tuple[User, ...]:
        """Return all processes on it, each once."""
        found = (*self.users, *(user for instance in self.instances for user in instance.everyone))
        return tuple({user.pid: user for user in found}.values())


Layout = tuple[Target, ...]  # by start


def named_here(target: Target, geometry: Geometry) -> Target:
    """Return the target under this driver's name for its profile; drivers differ in how they name the memory.

    A profile is the same if slices, attribute and memory slots are; without exactly one such profile nothing changes.
    """
    if geometry.profile(target.profile) is not None:
        return target
    short = short_name(target.profile)
    found = [
        profile.name
        for profile in geometry.profiles
        if (profile.short, profile.size) == (short, target.size) and target.start in profile.starts
    ]
    return replace(target, profile=found[0]) if len(found) == 1 else target


def layout(instances: Iterable[PlacedInstance]) -> Layout:
    """Return instances as a layout, which can be compared, saved and restored."""
    return tuple(sorted(instance.target for instance in instances))


def mask(start: int, size: int) -> int:
    """Return ``size`` bits from ``start`` on."""
    return ((1 << size) - 1) << start


def union(masks: Iterable[int]) -> int:
    """Return the union of bit masks."""
    whole = 0
    for each in masks:
        whole |= each
    return whole


def places(profile: Profile, occupied: int) -> Iterator[int]:
    """Return the starts at which all slots of a profile are free."""
    return (start for start in profile.starts if not mask(start, profile.size) & occupied)


def compute_starts(slices: int, whole: int) -> tuple[int, ...]:
    """Return the starts of a compute instance of ``slices`` slices, aligned as known drivers do."""
    step = min(_WIDEST_ALIGNMENT, 1 << (slices - 1).bit_length()) if slices else 1
    return tuple(range(0, whole - slices + 1, step))


def compute_sizes(whole: int) -> tuple[int, ...]:
    """Return the possible sizes of compute instances in slices, largest first."""
    return tuple(size for size in (7, 4, 3, 2, 1) if size == whole or (size < whole and (size, whole) != (3, 4)))


def refusal(geometry: Geometry, profiles: Iterable[Profile]) -> str:
    """Return why a GPU cannot have all of these profiles in any placement; empty if it can.

    Besides the counts, a rule covers the media engines: only one instance may have the extensions (``+me``), and next
    to one that has all of them (``+me.all``) the others must have none (``-me``).
    """
    chosen = list(profiles)
    for name, count in Counter(profile.name for profile in chosen).items():
        most = next(profile.most for profile in chosen if profile.name == name)
        if count > most:
            return f"a GPU can have at most {most} x {name}"
    slices = sum(profile.slices for profile in chosen)
    if slices > geometry.slices:
        return f"the instances need {slices} compute slices, the GPU has {geometry.slices}"
    media = [profile.name for profile in chosen if "+me" in profile.attribute]
    if len(media) > 1:
        return f"only one instance can have the media engines: {', '.join(media)}"
    others = [p.name for p in chosen if "+me" not in p.attribute and "-me" not in p.attribute]
    if media and ".all" in media[0] and others:
        return f"{media[0]} uses all media engines, so {', '.join(others)} must have none (-me)"
    return ""


def free_slots(slots: int, occupied: int) -> tuple[int, ...]:
    """Return the free memory slots."""
    return tuple(slot for slot in range(slots) if not occupied >> slot & 1)
