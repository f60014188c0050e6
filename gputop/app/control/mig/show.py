"""MIG status, use, export and checkpoint: the current layouts, in several forms."""

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.control.mig.survey import chosen, open_mig, warn_of_rights
from gputop.app.control.person import Person
from gputop.app.errors import NONE, OK, BadRequestError, UseCaseError
from gputop.core.mig.checkpoint import checkpoint as saved
from gputop.core.mig.mig_parted import export_lines
from gputop.core.mig.model import MigGpu
from gputop.core.mig.text import status_lines, use_lines
from gputop.core.text.text import clean


class Status(Struct, frozen=True, kw_only=True):
    """The JSON of `gputop mig status`."""

    gpus: tuple[MigGpu, ...]
    warnings: tuple[str, ...]


def status(request: BackendRequest, person: Person, *, is_json: bool) -> None:
    """Show the MIG layouts."""
    reader = open_mig(request)
    gpus, warnings = chosen(request.selection.gpus, reader.gpus()), reader.warnings()
    if is_json:
        from msgspec.json import encode

        person.show([encode(Status(gpus=gpus, warnings=warnings)).decode()])
        return
    for gpu in gpus:
        person.show(list(status_lines(gpu)))
    if not gpus:
        person.warn("gputop: the driver lists no GPU")
    warn_of_rights(gpus, person)
    for warning in warnings:
        person.warn(f"! {warning}")


def use(request: BackendRequest, person: Person) -> int:
    """Print the settings for programs that use the instances; return the exit status."""
    gpus = chosen(request.selection.gpus, open_mig(request).gpus())
    lines = [line for gpu in gpus for line in use_lines(gpu)]
    person.show(lines or ["# no MIG instance can be used"])
    return OK if lines else NONE


def export(request: BackendRequest, person: Person) -> None:
    """Show the layouts as a configuration of mig-parted."""
    person.show(list(export_lines(_readable(request, person))))


def checkpoint(request: BackendRequest, person: Person) -> bytes:
    """Return the layouts as a checkpoint."""
    from msgspec import json

    return json.format(json.encode(saved(_readable(request, person)))) + b"\n"


def save_checkpoint(request: BackendRequest, person: Person, path: str) -> None:
    """Write a checkpoint to a file."""
    raw = checkpoint(request, person)
    try:
        with open(path, "wb") as file:
            file.write(raw)
    except OSError as error:
        raise BadRequestError(f"cannot write {clean(path)}: {error.strerror}") from None
    person.show([f"wrote {clean(path)}"])


def _readable(request: BackendRequest, person: Person) -> tuple[MigGpu, ...]:
    gpus = chosen(request.selection.gpus, open_mig(request).gpus())
    if any(gpu.missing for gpu in gpus):
        warn_of_rights(gpus, person)
        raise UseCaseError(NONE, "cannot read the MIG layouts")
    return gpus
