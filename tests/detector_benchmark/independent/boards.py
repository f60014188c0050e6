"""The boards of the physical world: their levels of power, their clocks, and the readings that their driver has.

Levels of H100 and TITAN X are those of recordings of real boards, those of V100, L40S and A100 those of reports of
users. The others lie between.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

GPM: Final = "gpm"
PCIE: Final = "pcie"
POWER: Final = "power"
NVLINK: Final = "nvlink"
REASONS: Final = "reasons"
COUNTERS: Final = "counters"  # of the time with lowered clocks
UTILIZATION: Final = "utilization"
PROCESS_UTILIZATION: Final = "process utilization"
PROCESS_MEMORY: Final = "process memory"

_DATACENTRE: Final = frozenset({PCIE, POWER, REASONS, COUNTERS, UTILIZATION, PROCESS_UTILIZATION, PROCESS_MEMORY})
_HOPPER: Final = _DATACENTRE | {GPM, NVLINK}
_CONSUMER: Final = _DATACENTRE - {COUNTERS}


class Slice(Struct, frozen=True):
    """A MIG instance of a board."""

    id: int
    profile: str
    memory_mib: int
    multiprocessors: int


class Board(Struct, frozen=True, kw_only=True):
    """A kind of board. ``context_w``: with an idle CUDA context; ``spin_w``: with a kernel that only polls.

    ``kelvin_per_w``: of the cooler. ``tau_s``: the time in which the temperature follows the power.
    """

    name: str
    architecture: str
    memory_mib: int
    reserved_mib: int = 500
    empty_w: float
    context_w: float
    spin_w: float
    limit_w: float
    boost_mhz: int
    idle_mhz: int
    memory_mhz: int
    slowdown_c: int = 87
    ambient_c: float = 27.0
    kelvin_per_w: float = 0.06
    tau_s: float = 25.0
    has: frozenset[str] = _DATACENTRE
    slices: tuple[Slice, ...] = ()

    def without(self, *names: str) -> "Board":
        """Return the board with a driver that lacks readings."""
        return replace(self, has=self.has - set(names))


H100: Final = Board(
    name="NVIDIA H100 80GB HBM3",
    architecture="Hopper",
    memory_mib=81559,
    reserved_mib=551,
    empty_w=71.0,
    context_w=120.5,
    spin_w=152.0,
    limit_w=700.0,
    boost_mhz=1980,
    idle_mhz=345,
    memory_mhz=2619,
    kelvin_per_w=0.055,
    has=_HOPPER,
)
H200: Final = replace(H100, name="NVIDIA H200", memory_mib=143771, context_w=118.0, spin_w=147.0, memory_mhz=3201)
B200: Final = replace(
    H100,
    name="NVIDIA B200",
    architecture="Blackwell",
    memory_mib=183359,
    empty_w=141.0,
    context_w=187.0,
    spin_w=236.0,
    limit_w=1000.0,
    boost_mhz=1965,
    kelvin_per_w=0.04,
)
A100: Final = Board(
    name="NVIDIA A100-SXM4-80GB",
    architecture="Ampere",
    memory_mib=81920,
    reserved_mib=617,
    empty_w=58.0,
    context_w=76.0,
    spin_w=97.0,
    limit_w=400.0,
    boost_mhz=1410,
    idle_mhz=210,
    memory_mhz=1593,
    kelvin_per_w=0.09,
    has=_DATACENTRE | {NVLINK},
)
A100_40: Final = replace(
    A100,
    name="NVIDIA A100-PCIE-40GB",
    memory_mib=40960,
    empty_w=33.0,
    context_w=37.0,
    spin_w=62.0,
    limit_w=250.0,
    has=_DATACENTRE,
    kelvin_per_w=0.14,
)
V100: Final = Board(
    name="Tesla V100-SXM2-16GB",
    architecture="Volta",
    memory_mib=16160,
    reserved_mib=120,
    empty_w=40.0,
    context_w=54.0,
    spin_w=66.0,
    limit_w=300.0,
    boost_mhz=1530,
    idle_mhz=135,
    memory_mhz=877,
    kelvin_per_w=0.11,
    has=_DATACENTRE - {COUNTERS},
)
L4: Final = Board(
    name="NVIDIA L4",
    architecture="Ada",
    memory_mib=23034,
    reserved_mib=434,
    empty_w=16.4,
    context_w=27.8,
    spin_w=33.5,
    limit_w=72.0,
    boost_mhz=2040,
    idle_mhz=210,
    memory_mhz=6251,
    kelvin_per_w=0.62,
    ambient_c=30.0,
)
L40S: Final = Board(
    name="NVIDIA L40S",
    architecture="Ada",
    memory_mib=46068,
    reserved_mib=577,
    empty_w=33.0,
    context_w=80.0,
    spin_w=103.0,
    limit_w=350.0,
    boost_mhz=2520,
    idle_mhz=210,
    memory_mhz=9001,
    kelvin_per_w=0.13,
)
T4: Final = Board(
    name="Tesla T4",
    architecture="Turing",
    memory_mib=15360,
    reserved_mib=445,
    empty_w=9.5,
    context_w=26.5,
    spin_w=33.0,
    limit_w=70.0,
    boost_mhz=1590,
    idle_mhz=300,
    memory_mhz=5001,
    kelvin_per_w=0.68,
    ambient_c=30.0,
    has=_DATACENTRE - {COUNTERS},
)
RTX_4090: Final = Board(
    name="NVIDIA GeForce RTX 4090",
    architecture="Ada",
    memory_mib=24564,
    reserved_mib=350,
    empty_w=14.0,
    context_w=56.0,
    spin_w=98.0,
    limit_w=450.0,
    boost_mhz=2790,
    idle_mhz=210,
    memory_mhz=10501,
    kelvin_per_w=0.1,
    has=_CONSUMER,
)
RTX_3090: Final = replace(
    RTX_4090,
    name="NVIDIA GeForce RTX 3090",
    architecture="Ampere",
    memory_mib=24576,
    empty_w=22.0,
    context_w=101.0,
    spin_w=131.0,
    limit_w=350.0,
    boost_mhz=1980,
    memory_mhz=9751,
    kelvin_per_w=0.13,
    slowdown_c=90,
)
A6000: Final = Board(
    name="NVIDIA RTX A6000",
    architecture="Ampere",
    memory_mib=49140,
    reserved_mib=454,
    empty_w=16.0,
    context_w=68.0,
    spin_w=92.0,
    limit_w=300.0,
    boost_mhz=1950,
    idle_mhz=210,
    memory_mhz=8001,
    kelvin_per_w=0.17,
    slowdown_c=90,
)
TITAN_X: Final = Board(
    name="NVIDIA TITAN X (Pascal)",
    architecture="Pascal",
    memory_mib=12189,
    reserved_mib=90,
    empty_w=16.5,
    context_w=58.0,
    spin_w=74.0,
    limit_w=250.0,
    boost_mhz=1911,
    idle_mhz=139,
    memory_mhz=5005,
    kelvin_per_w=0.2,
    has=_CONSUMER - {PROCESS_UTILIZATION},
)
A100_MIG: Final = replace(
    A100,
    has=_DATACENTRE - {UTILIZATION, PROCESS_UTILIZATION, PCIE},
    slices=(Slice(1, "3g.40gb", 40192, 42), Slice(2, "2g.20gb", 19968, 28), Slice(3, "1g.10gb", 9728, 14)),
)
H100_MIG: Final = replace(
    H100,
    has=_HOPPER - {UTILIZATION, PROCESS_UTILIZATION, PCIE, NVLINK},
    slices=(Slice(1, "3g.40gb", 40448, 60), Slice(2, "3g.40gb", 40448, 60)),
)

GB200: Final = replace(B200, name="NVIDIA GB200", memory_mib=189471, empty_w=150.0, context_w=196.0, limit_w=1200.0)
H100_PCIE: Final = replace(
    H100,
    name="NVIDIA H100 PCIe",
    memory_mib=81559,
    empty_w=45.0,
    context_w=78.0,
    spin_w=101.0,
    limit_w=350.0,
    boost_mhz=1755,
    kelvin_per_w=0.11,
    has=_HOPPER - {NVLINK},
)
PRO_6000: Final = Board(
    name="NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
    architecture="Blackwell",
    memory_mib=97887,
    reserved_mib=640,
    empty_w=17.0,
    context_w=84.0,
    spin_w=120.0,
    limit_w=600.0,
    boost_mhz=2617,
    idle_mhz=180,
    memory_mhz=14001,
    kelvin_per_w=0.08,
    slowdown_c=90,
)
GTX_1080_TI: Final = replace(
    TITAN_X,
    name="NVIDIA GeForce GTX 1080 Ti",
    memory_mib=11264,
    empty_w=11.0,
    context_w=54.0,
    spin_w=69.0,
    kelvin_per_w=0.19,
    has=_CONSUMER - {PROCESS_UTILIZATION, PCIE},
)
LAPTOP_4070: Final = replace(
    RTX_4090,
    name="NVIDIA GeForce RTX 4070 Laptop GPU",
    memory_mib=8188,
    empty_w=3.0,
    context_w=14.0,
    spin_w=27.0,
    limit_w=100.0,
    boost_mhz=2175,
    kelvin_per_w=0.5,
    has=_CONSUMER - {PCIE},
)
A30_MIG: Final = replace(
    A100_MIG,
    name="NVIDIA A30",
    memory_mib=24576,
    reserved_mib=600,
    empty_w=28.0,
    context_w=34.0,
    spin_w=52.0,
    limit_w=165.0,
    kelvin_per_w=0.2,
    slices=(Slice(3, "2g.12gb", 11672, 28), Slice(5, "1g.6gb", 5836, 14), Slice(6, "1g.6gb", 5836, 14)),
)
B200_MIG: Final = replace(
    B200,
    has=_HOPPER - {UTILIZATION, PROCESS_UTILIZATION, PCIE, NVLINK},
    slices=(Slice(1, "3g.90gb", 88000, 70), Slice(2, "2g.45gb", 44000, 36), Slice(9, "1g.23gb", 20992, 18)),
)
RTX_5090: Final = replace(
    RTX_4090,
    name="NVIDIA GeForce RTX 5090",
    architecture="Blackwell",
    memory_mib=32607,
    reserved_mib=480,
    empty_w=17.0,
    context_w=69.0,
    spin_w=109.0,
    limit_w=575.0,
    boost_mhz=2850,
    memory_mhz=14001,
    kelvin_per_w=0.085,
    slowdown_c=90,
)
A10G: Final = replace(
    L4,
    name="NVIDIA A10G",
    architecture="Ampere",
    memory_mib=23028,
    reserved_mib=420,
    empty_w=15.0,
    context_w=57.0,
    spin_w=71.0,
    limit_w=300.0,
    boost_mhz=1710,
    kelvin_per_w=0.17,
)
GH200: Final = replace(
    H100,
    name="NVIDIA GH200 96GB HBM3",
    memory_mib=97871,
    empty_w=78.0,
    context_w=109.0,
    spin_w=141.0,
    limit_w=700.0,
)
