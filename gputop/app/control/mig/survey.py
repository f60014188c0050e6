"""Readings of the MIG layouts, for commands and for the sampler."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_operations
from gputop.app.backend.operations.operations import MigReader, Operations
from gputop.app.errors import NO_DRIVER, BadRequestError, UseCaseError
from gputop.app.terminal import Person
from gputop.core.mig.answers import MigBox
from gputop.core.mig.model import MigGpu
from gputop.core.protocol.command import ReadMig
from gputop.core.query.selection import Selection
from gputop.core.text.text import excerpt
from gputop.machine.nvml.driver import NoDriverError

_ALL: Final = "all"


def open_mig(request: BackendRequest) -> MigReader:
    """Return the reader of MIG layouts. Raises UseCaseError without a driver."""
    try:
        return open_operations(request).mig()
    except NoDriverError as error:
        raise UseCaseError(NO_DRIVER, f"{error} To try it without a GPU: gputop mig status --demo") from None


def survey(operations: Operations) -> Callable[[ReadMig], MigBox]:
    """Return a function that reads the MIG layouts. The first call starts the driver."""
    opened = cache(operations.mig)

    def read(question: ReadMig) -> MigBox:
        try:
            reader = opened()
        except (NoDriverError, UseCaseError) as error:
            return MigBox(id=question.id, problem=str(error))
        holders = reader.holders(question.holders_of) if question.holders_of else None
        return MigBox(id=question.id, gpus=reader.gpus(), warnings=reader.warnings(), holders=holders)

    return read


def chosen(names: Sequence[str], gpus: Sequence[MigGpu]) -> tuple[MigGpu, ...]:
    """Return the GPUs with these names; all if there are no names."""
    for name in names:
        if name != _ALL and not any(_is_named(gpu, name) for gpu in gpus):
            there = ", ".join(str(gpu.index) for gpu in gpus) or "none"
            raise BadRequestError(f"no such GPU: {excerpt(name)}. Available: {there}")
    return tuple(gpu for gpu in gpus if not names or any(name == _ALL or _is_named(gpu, name) for name in names))


def warn_of_rights(gpus: Sequence[MigGpu], person: Person) -> None:
    """Print the missing right to read the layouts, if one is missing."""
    if any(gpu.missing for gpu in gpus):
        from gputop.machine.mig.rights import reading_right

        right = reading_right()
        person.warn(f"! {right.detail}. {right.remedy}")


def _is_named(gpu: MigGpu, name: str) -> bool:
    return Selection(gpus=(name,)).wants_gpu(gpu.index, gpu.uuid, gpu.bus_id)
