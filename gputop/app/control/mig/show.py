"""MIG status, use, export and checkpoint: the current layouts, in several forms."""

import sys

from msgspec import Struct, json

from gputop.app.control.mig.requested import MigRequest
from gputop.app.control.mig.survey import chosen, open_mig, warn_of_rights
from gputop.app.errors import NONE, OK, BadRequestError, UseCaseError
from gputop.app.terminal import Person
from gputop.core.mig.checkpoint import checkpoint as saved
from gputop.core.mig.mig_parted import export_lines
from gputop.core.mig.model import MigGpu
from gputop.core.mig.text import status_lines, use_lines
from gputop.core.text.text import clean, excerpt
from gputop.machine.files.output import write_output


class Status(Struct, frozen=True, kw_only=True):
    """The JSON of `gputop mig status`."""

    gpus: tuple[MigGpu, ...]
    warnings: tuple[str, ...]


def status(request: MigRequest, person: Person) -> int:
    """Show the MIG layouts."""
    reader = open_mig(request.backend)
    gpus, warnings = chosen(request.backend.selection.gpus, reader.gpus()), reader.warnings()
    if request.is_json:
        person.show([json.encode(Status(gpus=gpus, warnings=warnings)).decode()])
        return OK
    for gpu in gpus:
        person.show(list(status_lines(gpu)))
    if not gpus:
        person.warn("gputop: the driver lists no GPU")
    warn_of_rights(gpus, person)
    for warning in warnings:
        person.warn(f"! {warning}")
    return OK


def use(request: MigRequest, person: Person) -> int:
    """Print the settings for programs that use the instances; return the exit status."""
    gpus = chosen(request.backend.selection.gpus, open_mig(request.backend).gpus())
    lines = [line for gpu in gpus for line in use_lines(gpu)]
    person.show(lines or ["# no MIG instance can be used"])
    return OK if lines else NONE


def export(request: MigRequest, person: Person) -> int:
    """Show the layouts as a configuration of mig-parted."""
    person.show(list(export_lines(_readable(request, person))))
    return OK


def checkpoint(request: MigRequest, person: Person) -> int:
    """Write the layouts as a checkpoint, to a file if the request names one."""
    raw = json.format(json.encode(saved(_readable(request, person)))) + b"\n"
    path = request.checkpoint
    if path is None:
        sys.stdout.buffer.write(raw)
        return OK
    try:
        write_output(path, raw)
    except OSError as error:
        raise BadRequestError(f"cannot write {excerpt(path)}: {error.strerror}") from None
    person.show([f"wrote {clean(path)}"])
    return OK


def _readable(request: MigRequest, person: Person) -> tuple[MigGpu, ...]:
    gpus = chosen(request.backend.selection.gpus, open_mig(request.backend).gpus())
    if any(gpu.missing for gpu in gpus):
        warn_of_rights(gpus, person)
        raise UseCaseError(NONE, "cannot read the MIG layouts")
    return gpus
