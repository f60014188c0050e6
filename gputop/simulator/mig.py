"""The MIG profiles of the simulated boards, as printed by nvidia-smi mig -lgip and -lgipp."""

from typing import Final

from msgspec import Struct


class Shape(Struct, frozen=True):
    """A kind of profile, the same on every board of 8 memory slots. ``id``: the driver's; ``size``: its slots."""

    id: int
    size: int
    starts: tuple[int, ...]
    most: int


class Profile(Struct, frozen=True):
    """A GPU instance profile. ``kind``: its number in driver calls."""

    memory_mib: int
    multiprocessors: int
    slices: int
    kind: int

    @property
    def shape(self) -> Shape:
        """Return the size and the possible placements."""
        return _SHAPES[self.kind]


_ANYWHERE: Final = (0, 1, 2, 3, 4, 5, 6)
_SHAPES: Final = {
    0x0: Shape(19, 1, _ANYWHERE, 7), 0x1: Shape(14, 2, (0, 2, 4), 3), 0x2: Shape(9, 4, (0, 4), 2),
    0x3: Shape(5, 4, (0,), 1), 0x4: Shape(0, 8, (0,), 1), 0x7: Shape(20, 1, _ANYWHERE, 1),
    0x9: Shape(15, 2, (0, 2, 4, 6), 4),
}  # fmt: skip
_A100_40: Final = {
    "1g.5gb": Profile(4_864, 14, 1, 0x0), "1g.5gb+me": Profile(4_864, 14, 1, 0x7),
    "1g.10gb": Profile(9_856, 14, 1, 0x9), "2g.10gb": Profile(9_984, 28, 2, 0x1),
    "3g.20gb": Profile(19_968, 42, 3, 0x2), "4g.20gb": Profile(19_968, 56, 4, 0x3),
    "7g.40gb": Profile(40_192, 98, 7, 0x4),
}  # fmt: skip
_H100_80: Final = {
    "1g.10gb": Profile(9_984, 16, 1, 0x0), "1g.10gb+me": Profile(9_984, 16, 1, 0x7),
    "1g.20gb": Profile(20_096, 26, 1, 0x9), "2g.20gb": Profile(20_096, 32, 2, 0x1),
    "3g.40gb": Profile(40_448, 60, 3, 0x2), "4g.40gb": Profile(40_448, 64, 4, 0x3),
    "7g.80gb": Profile(81_152, 132, 7, 0x4),
}  # fmt: skip
_H200_141: Final = {
    "1g.18gb": Profile(16_384, 16, 1, 0x0), "1g.18gb+me": Profile(16_384, 16, 1, 0x7),
    "1g.35gb": Profile(33_280, 26, 1, 0x9), "2g.35gb": Profile(33_280, 32, 2, 0x1),
    "3g.71gb": Profile(71_424, 60, 3, 0x2), "4g.71gb": Profile(71_424, 64, 4, 0x3),
    "7g.141gb": Profile(143_360, 132, 7, 0x4),
}  # fmt: skip
PROFILES: Final = {
    "NVIDIA A100-SXM4-40GB": _A100_40, "NVIDIA H100 80GB HBM3": _H100_80, "NVIDIA H200": _H200_141,
}  # fmt: skip
COMPUTE_SLICES: Final = {0: 1, 1: 2, 2: 3, 3: 4, 4: 7}  # by the number of the kind, which is also the id


def compute_slices(compute_profile: str, whole: Profile) -> int:
    """Return the compute slices of a compute instance: the number in its name, such as 2c.4g.40gb, or all."""
    head, _, rest = compute_profile.partition("c.")
    return int(head) if rest else whole.slices
