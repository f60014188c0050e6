"""What drivers say of the MIG geometry of real boards, for tests alone: gputop itself asks the driver."""

from gputop.core.mig.explain import NoPlan, answer
from gputop.core.mig.model import Geometry, MigGpu, PlacedCompute, PlacedInstance, Profile, User
from gputop.core.mig.request import read_request

_MIB = 1024**2
_QUARTERS, _TWELFTHS = 1, 3  # slots of a slice, on boards of four slices


def _eight(names: str, mib: tuple[int, ...], multiprocessors: tuple[int, ...]) -> Geometry:
    """Return the geometry of 8 slots; names and MiB of 1g, 1g with double memory, 2g, 3g, 4g, 7g."""
    n1, n1d, n2, n3, n4, n7 = names.split()
    s1, s1d, s2, s3, s4, s7 = mib
    m1, m1d, m2, m3, m4, m7 = multiprocessors
    ones = tuple(range(7))
    rows = (
        (0, n7, 7, 8, (0,), 1, m7, s7),
        (5, n4, 4, 4, (0,), 1, m4, s4),
        (9, n3, 3, 4, (0, 4), 2, m3, s3),
        (14, n2, 2, 2, (0, 2, 4), 3, m2, s2),
        (15, n1d, 1, 2, (0, 2, 4, 6), 4, m1d, s1d),
        (19, n1, 1, 1, ones, 7, m1, s1),
        (20, f"{n1}+me", 1, 1, ones, 1, m1, s1),
    )
    return Geometry(tuple(_profile(*row) for row in rows))


def _four(slots: int, *rows: tuple[int, str, int, int, int]) -> Geometry:
    """Return the geometry of four slices; id, name, most, multiprocessors and MiB of each profile."""
    profiles = []
    for number, name, most, multiprocessors, mib in rows:
        slices = int(name[0])
        starts = tuple(range(0, 4 * slots, slices * slots))
        profiles.append(_profile(number, name, slices, slices * slots, starts, most, multiprocessors, mib))
    return Geometry(tuple(profiles))


def _profile(  # noqa: PLR0917 - a row of a table
    number: int, name: str, slices: int, size: int, starts: tuple[int, ...], most: int, sms: int, mib: int
) -> Profile:
    return Profile(
        id=number,
        name=name,
        slices=slices,
        size=size,
        starts=starts,
        most=most,
        multiprocessors=sms,
        memory_bytes=mib * _MIB,
    )


_HOPPER = (16, 26, 32, 60, 64, 132)
_GB200 = (18, 32, 38, 74, 76, 152)
A100 = _eight(
    "1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb", (4864, 9856, 9856, 19968, 19968, 40192), (14, 14, 28, 42, 56, 98)
)
H100 = _eight("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb", (9984, 20096, 20096, 40448, 40448, 81152), _HOPPER)
H100_NVL = _eight(
    "1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb", (10880, 22016, 22016, 47232, 47232, 94848), _HOPPER
)
H200 = _eight("1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb", (16384, 33280, 33280, 71424, 71424, 143360), _HOPPER)
GH200 = _eight("1g.18gb 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb", (17920, 36096, 36096, 72704, 72704, 145920), _HOPPER)
_B200_NAMES = "1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb"
B200 = _eight(_B200_NAMES, (22528, 45312, 45312, 90624, 90624, 182272), (18, 30, 36, 70, 72, 148))
B200_LATER = _eight(_B200_NAMES, (20992, 45312, 45312, 90624, 90624, 182272), (18, 30, 36, 70, 72, 148))
GB200 = _eight("1g.23gb 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb", (22528, 46592, 46592, 93184, 93184, 188416), _GB200)
GB200_EARLY = _eight(
    "1g.24gb 1g.47gb 2g.47gb 3g.95gb 4g.95gb 7g.189gb", (20480, 46592, 46592, 93184, 93184, 188416), _GB200
)
A30 = _four(
    _QUARTERS,
    (0, "4g.24gb", 1, 56, 24000),
    (5, "2g.12gb", 2, 28, 11968),
    (6, "2g.12gb+me", 1, 28, 11968),
    (14, "1g.6gb", 4, 14, 5952),
    (21, "1g.6gb+me", 1, 14, 5952),
)
PRO_6000 = _four(
    _TWELFTHS,
    (0, "4g.96gb", 1, 188, 97408),
    (32, "4g.96gb+gfx", 1, 188, 97408),
    (5, "2g.48gb", 2, 94, 48512),
    (35, "2g.48gb+gfx", 2, 94, 48512),
    (64, "2g.48gb+me.all", 1, 94, 48512),
    (66, "2g.48gb-me", 2, 94, 48512),
    (14, "1g.24gb", 4, 46, 24192),
    (21, "1g.24gb+me", 1, 46, 24192),
    (47, "1g.24gb+gfx", 4, 46, 24192),
    (65, "1g.24gb+me.all", 1, 46, 24192),
    (67, "1g.24gb-me", 4, 46, 24192),
)
BOARDS = {
    "A100": A100,
    "A30": A30,
    "H100": H100,
    "H100 NVL": H100_NVL,
    "H200": H200,
    "GH200": GH200,
    "B200": B200,
    "B200 with a later driver": B200_LATER,
    "GB200": GB200,
    "GB200 with an early driver": GB200_EARLY,
    "RTX PRO 6000": PRO_6000,
}


def instance(
    geometry: Geometry, name: str, start: int, *, users: int = 0, computes: tuple[int, ...] | None = None
) -> PlacedInstance:
    """Return an instance with whole or given compute instances; so many users are on the first of them."""
    profile = geometry.profile(name)
    assert profile is not None
    sizes = (profile.slices,) if computes is None else computes
    held, at = [], 0
    for n, size in enumerate(sizes):
        busy = tuple(
            User(pid=1000 + start * 10 + k, user="ann", command="python") for k in range(users if n == 0 else 0)
        )
        held.append(PlacedCompute(id=n, slices=size, start=at, uuid=f"MIG-{name}-{start}-{n}", users=busy))
        at += size
    return PlacedInstance(
        id=100 + start * 10 + profile.id % 10, profile=name, start=start, size=profile.size, computes=tuple(held)
    )


def board(geometry: Geometry, *instances: PlacedInstance, **fields: object) -> MigGpu:
    """Return a GPU in MIG mode with these instances."""
    given: dict[str, object] = {
        "index": 0,
        "uuid": "GPU-0",
        "name": "a board",
        "is_on": True,
        "is_on_next": True,
        "geometry": geometry,
        "instances": instances,
    } | fields
    return MigGpu(**given)  # type: ignore[arg-type]


def ask(gpu: MigGpu, text: str, *, is_forced: bool = False) -> tuple[list[str], list[str], list[str]] | NoPlan:
    """Return what stays, goes and comes, as texts; or why there is no plan."""
    found = answer(gpu, read_request(text, gpu), is_forced=is_forced)
    if isinstance(found, NoPlan):
        return found
    return tuple([target.text for target in part] for part in (found.kept, found.destroyed, found.created))  # type: ignore[return-value]
