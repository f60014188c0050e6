"""The sizes of MIG profiles, as nvidia-smi mig -lgip prints them: memory in MiB, SMs and slices by model."""

from typing import Final

from msgspec import Struct


class Profile(Struct, frozen=True):
    """A GPU instance profile."""

    memory_mib: int
    multiprocessors: int
    slices: int


_A100_40: Final = {
    "1g.5gb": Profile(4_864, 14, 1), "1g.10gb": Profile(9_856, 14, 1), "2g.10gb": Profile(9_984, 28, 2),
    "3g.20gb": Profile(19_968, 42, 3), "4g.20gb": Profile(19_968, 56, 4), "7g.40gb": Profile(40_192, 98, 7),
}  # fmt: skip
_H100_80: Final = {
    "1g.10gb": Profile(9_984, 16, 1), "1g.20gb": Profile(20_096, 26, 1), "2g.20gb": Profile(20_096, 32, 2),
    "3g.40gb": Profile(40_448, 60, 3), "4g.40gb": Profile(40_448, 64, 4), "7g.80gb": Profile(81_152, 132, 7),
}  # fmt: skip
PROFILES: Final = {"NVIDIA A100-SXM4-40GB": _A100_40, "NVIDIA H100 80GB HBM3": _H100_80}


def compute_slices(compute_profile: str, whole: Profile) -> int:
    """Return the compute slices of a compute instance: those that its name gives, as 2c.4g.40gb, or all."""
    head, _, rest = compute_profile.partition("c.")
    return int(head) if rest else whole.slices
