"""What drivers say of the MIG geometry of real boards, for tests alone: gputop itself asks the driver."""

from gputop.core.mig.explain import NoPlan, answer
from gputop.core.mig.model import Geometry, MigGpu, PlacedCompute, PlacedInstance, Profile, User
from gputop.core.mig.request import read_request

_GIB = 1024**3


def _eight(names: str, sizes: tuple[float, ...], multiprocessors: tuple[int, ...]) -> Geometry:
    """Return the geometry of 8 slots; names and GiB of 1g, 1g with double memory, 2g, 3g, 4g, 7g."""
    n1, n1d, n2, n3, n4, n7 = names.split()
    s1, s1d, s2, s3, s4, s7 = (int(size * _GIB) for size in sizes)
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


def _profile(  # noqa: PLR0917 - a row of a table
    number: int, name: str, slices: int, size: int, starts: tuple[int, ...], most: int, sms: int, memory: int
) -> Profile:
    return Profile(
        id=number,
        name=name,
        slices=slices,
        size=size,
        starts=starts,
        most=most,
        multiprocessors=sms,
        memory_bytes=memory,
    )


_HOPPER = (16, 26, 32, 60, 64, 132)
A100 = _eight(
    "1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb", (4.75, 9.62, 9.75, 19.5, 19.5, 39.25), (14, 14, 28, 42, 56, 98)
)
H100 = _eight("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb", (9.75, 19.62, 19.62, 39.5, 39.5, 79.25), _HOPPER)
H200 = _eight("1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb", (16.0, 32.25, 32.25, 69.5, 69.5, 140.0), _HOPPER)
B200 = _eight(
    "1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb", (22.0, 44.25, 44.25, 89, 89, 178), (18, 30, 36, 54, 72, 148)
)
A30 = Geometry(
    (
        _profile(0, "4g.24gb", 4, 4, (0,), 1, 56, int(23.44 * _GIB)),
        _profile(5, "2g.12gb", 2, 2, (0, 2), 2, 28, int(11.69 * _GIB)),
        _profile(6, "2g.12gb+me", 2, 2, (0, 2), 1, 28, int(11.69 * _GIB)),
        _profile(14, "1g.6gb", 1, 1, (0, 1, 2, 3), 4, 14, int(5.81 * _GIB)),
        _profile(21, "1g.6gb+me", 1, 1, (0, 1, 2, 3), 1, 14, int(5.81 * _GIB)),
    )
)
BOARDS = {"A100": A100, "A30": A30, "H100": H100, "H200": H200, "B200": B200}


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
