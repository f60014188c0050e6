"""What MIG makes of a GPU, as values: the profiles that it offers, where each may be placed, the instances that it has.

A GPU instance takes some of the GPU's memory slots (8, or 4 on an A30), side by side, from one of the starts that its
profile allows. Inside of it compute instances share its compute slices. All of this is read from the driver; there is
no table of models here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing

_WIDEST_ALIGNMENT: Final = 4


class User(Struct, frozen=True, kw_only=True):
    """A process that uses an instance, or keeps a device open. ``how``: what makes it let go."""

    pid: int
    user: str = ""
    command: str = ""
    how: str = ""

    @property
    def text(self) -> str:
        """Return ``4711 (ann) python train.py``."""
        return " ".join(part for part in (str(self.pid), self.user and f"({self.user})", self.command) if part)


class Holders(Struct, frozen=True):
    """Who has a GPU's device file open; ``unseen``: processes whose open files may not be read."""

    users: tuple[User, ...] = ()
    unseen: int = 0


class Profile(Struct, frozen=True, kw_only=True):
    """A kind of GPU instance.

    ``size``: memory slots; ``starts``: the slots at which it may begin; ``most``: how many of it a GPU may have;
    ``slices``: compute slices, of which its compute instances take one or more each. ``id`` is the driver's.
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
        """Return what follows the size in its name: ``+me``, ``+gfx``, ``-me``; mostly nothing."""
        at = min((place for place in (self.name.find("+"), self.name.find("-")) if place > 0), default=len(self.name))
        return self.name[at:]

    @property
    def short(self) -> str:
        """Return ``3g``, ``1g+me``: the name without its memory."""
        return self.name.partition(".")[0] + self.attribute


class Geometry(Struct, frozen=True):
    """The profiles of a GPU, largest first."""

    profiles: tuple[Profile, ...] = ()

    @property
    def slots(self) -> int:
        """Return how many memory slots there are."""
        return max((start + profile.size for profile in self.profiles for start in profile.starts), default=0)

    @property
    def slices(self) -> int:
        """Return how many compute slices there are."""
        return max((profile.slices for profile in self.profiles), default=0)

    def profile(self, name: str) -> Profile | None:
        """Return the profile of a name."""
        return next((profile for profile in self.profiles if profile.name == name), None)


class PlacedCompute(Struct, frozen=True, kw_only=True):
    """A compute instance. ``start``: its first compute slice; None where it may not be read."""

    id: int
    slices: int
    start: int | None = None
    uuid: str = ""
    users: tuple[User, ...] = ()

    @property
    def mask(self) -> int:
        """Return its compute slices as bits."""
        return mask(self.start or 0, self.slices)


class PlacedInstance(Struct, frozen=True, kw_only=True):
    """A GPU instance. ``start`` and ``size``: its memory slots; None where they may not be read.

    ``users``: processes that hold it and no compute instance of it.
    """

    id: int
    profile: str
    start: int | None = None
    size: int | None = None
    computes: tuple[PlacedCompute, ...] = ()
    users: tuple[User, ...] = ()

    @property
    def mask(self) -> int:
        """Return its memory slots as bits."""
        return mask(self.start or 0, self.size or 0)

    @property
    def everyone(self) -> tuple[User, ...]:
        """Return all processes on it."""
        return tuple({user.pid: user for user in (*self.users, *(u for c in self.computes for u in c.users))}.values())

    @property
    def text(self) -> str:
        """Return ``3g.40gb@4``."""
        return self.profile if self.start is None else f"{self.profile}@{self.start}"


class MigGpu(Struct, frozen=True, kw_only=True):
    """A GPU as MIG sees it.

    ``is_on``: None where it has no MIG, and ``why`` says why not; ``is_on_next``: after the next reset or reboot.
    ``needs_reset``: a change of the mode waits for a reset; ``keeps_mode``: the mode outlives a reboot. ``remaining``:
    by profile, how many more the driver says that there is room for. ``missing``: what could not be read, as
    ``placements``. ``users``: processes that are on no instance. ``device``: PCI device and vendor, ``0x233010DE``.
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
        """Say whether MIG must be on before the driver tells the profiles."""
        return self.is_on is False and not self.geometry.profiles

    @property
    def occupied(self) -> int:
        """Return the memory slots that are taken, as bits."""
        return union(instance.mask for instance in self.instances)

    @property
    def everyone(self) -> tuple[User, ...]:
        """Return all processes on it."""
        found = (*self.users, *(user for instance in self.instances for user in instance.everyone))
        return tuple({user.pid: user for user in found}.values())


class TargetCompute(Struct, frozen=True, order=True):
    """A compute instance as it is to be."""

    start: int
    slices: int


class Target(Struct, frozen=True, order=True):
    """A GPU instance as it is to be."""

    start: int
    size: int
    profile: str
    computes: tuple[TargetCompute, ...] = ()

    @property
    def mask(self) -> int:
        """Return its memory slots as bits."""
        return mask(self.start, self.size)

    @property
    def text(self) -> str:
        """Return ``3g.40gb@4``."""
        return f"{self.profile}@{self.start}"


Layout = tuple[Target, ...]  # by start


def layout(instances: Iterable[PlacedInstance]) -> Layout:
    """Return instances as a layout: what can be compared, kept in a file and made again."""
    return tuple(sorted(_target(instance) for instance in instances))


def mask(start: int, size: int) -> int:
    """Return so many bits from ``start`` on."""
    return ((1 << size) - 1) << start


def union(masks: Iterable[int]) -> int:
    """Return all bits of them."""
    whole = 0
    for each in masks:
        whole |= each
    return whole


def places(profile: Profile, occupied: int) -> Iterator[int]:
    """Return the starts at which a profile finds all its slots free."""
    return (start for start in profile.starts if not mask(start, profile.size) & occupied)


def compute_starts(slices: int, whole: int) -> tuple[int, ...]:
    """Return where a compute instance of so many slices may begin: as the drivers that are known align them."""
    step = min(_WIDEST_ALIGNMENT, 1 << (slices - 1).bit_length()) if slices else 1
    return tuple(range(0, whole - slices + 1, step))


def compute_sizes(whole: int) -> tuple[int, ...]:
    """Return how many slices the compute instances of a GPU instance may have, largest first."""
    return tuple(size for size in (7, 4, 3, 2, 1) if size == whole or (size < whole and (size, whole) != (3, 4)))


def refusal(geometry: Geometry, profiles: Iterable[Profile]) -> str:
    """Return why a GPU cannot have all of these, wherever they are placed; nothing where it can.

    Beside the numbers there is a rule for the engines of media: one instance may have the extensions (``+me``), and
    beside one that has all of them (``+me.all``) the others must do without (``-me``).
    """
    held = list(profiles)
    for name, count in Counter(profile.name for profile in held).items():
        most = next(profile.most for profile in held if profile.name == name)
        if count > most:
            return f"a GPU has room for {most} x {name} at the most"
    slices = sum(profile.slices for profile in held)
    if slices > geometry.slices:
        return f"together they take {slices} compute slices of {geometry.slices}"
    media = [profile.name for profile in held if "+me" in profile.attribute]
    if len(media) > 1:
        return f"only one instance can have the media engines: {', '.join(media)}"
    others = [p.name for p in held if "+me" not in p.attribute and "-me" not in p.attribute]
    if media and ".all" in media[0] and others:
        return f"{media[0]} takes all media engines, so {', '.join(others)} must be without (-me)"
    return ""


def free_slots(slots: int, occupied: int) -> tuple[int, ...]:
    """Return the memory slots that are free."""
    return tuple(slot for slot in range(slots) if not occupied >> slot & 1)


def _target(instance: PlacedInstance) -> Target:
    computes = tuple(sorted(TargetCompute(compute.start or 0, compute.slices) for compute in instance.computes))
    return Target(instance.start or 0, instance.size or 0, instance.profile, computes)
