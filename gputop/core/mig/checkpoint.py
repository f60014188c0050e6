"""The checkpoint file: MIG layouts with placements and compute instances."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from gputop.core.mig.model import Layout, MigGpu, layout

VERSION: Final = 1


class SavedGpu(Struct, frozen=True, kw_only=True):
    """The layout of a GPU, identified by its uuid."""

    uuid: str
    index: int
    name: str
    is_on: bool
    instances: Layout = ()


class Checkpoint(Struct, frozen=True, kw_only=True):
    """The layouts of GPUs."""

    gputop_mig: int = VERSION
    gpus: tuple[SavedGpu, ...]


def checkpoint(gpus: Iterable[MigGpu]) -> Checkpoint:
    """Return the layouts of the GPUs that support MIG."""
    return Checkpoint(
        gpus=tuple(
            SavedGpu(
                uuid=gpu.uuid, index=gpu.index, name=gpu.name, is_on=bool(gpu.is_on), instances=layout(gpu.instances)
            )
            for gpu in gpus
            if gpu.is_on is not None
        )
    )
