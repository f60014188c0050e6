"""gputop mig status, use, export and checkpoint: what is, in several forms."""

import argparse
import sys
from collections.abc import Sequence

from msgspec import Struct

from gputop.cli.args.exits import BAD_INPUT, OK, fail
from gputop.cli.commands.mig_machine import partitioned
from gputop.core.mig.checkpoint import checkpoint as saved
from gputop.core.mig.mig_parted import export_lines
from gputop.core.mig.model import MigGpu
from gputop.core.mig.text import status_lines, use_lines
from gputop.core.query.selection import Selection
from gputop.core.text.text import clean
from gputop.machine.mig.rights import reading_right

NOTHING = 4
_ALL = "all"


class Status(Struct, frozen=True, kw_only=True):
    """The JSON of `gputop mig status`."""

    gpus: tuple[MigGpu, ...]
    warnings: tuple[str, ...]


def status(options: argparse.Namespace) -> int:
    """Show how GPUs are split."""
    held = partitioned(options)
    gpus, warnings = chosen(options, held.reader.all()), held.warnings()
    if options.json:
        from msgspec.json import encode

        print(encode(Status(gpus=gpus, warnings=warnings)).decode())
        return OK
    for gpu in gpus:
        print("\n".join(status_lines(gpu)))
    if not gpus:
        print("gputop: the driver lists no GPU", file=sys.stderr)
    tell_rights(gpus)
    for warning in warnings:
        print(f"! {warning}", file=sys.stderr)
    return OK


def use(options: argparse.Namespace) -> int:
    """Print what uses the instances."""
    lines = [line for gpu in chosen(options, partitioned(options).reader.all()) for line in use_lines(gpu)]
    print("\n".join(lines) if lines else "# there is no MIG instance that could be used")
    return OK if lines else NOTHING


def export(options: argparse.Namespace) -> int:
    """Print the layouts as mig-parted has them."""
    gpus = _readable(options)
    print("\n".join(export_lines(gpus)))
    return OK


def checkpoint(options: argparse.Namespace) -> int:
    """Write the layouts to a file, or print them."""
    from msgspec import json

    raw = json.format(json.encode(saved(_readable(options)))) + b"\n"
    if options.output is None:
        sys.stdout.buffer.write(raw)
        return OK
    try:
        with open(options.output, "wb") as file:
            file.write(raw)
    except OSError as error:
        fail(BAD_INPUT, f"{clean(options.output)} cannot be written: {error.strerror}")
    print(f"wrote {clean(options.output)}")
    return OK


def chosen(options: argparse.Namespace, gpus: Sequence[MigGpu]) -> tuple[MigGpu, ...]:
    """Return the GPUs that the options name; all if they name none. Ends the program where one is not there."""
    names = [word for group in options.gpu or () for word in group]
    for name in names:
        if name != _ALL and not any(_wants(name, gpu) for gpu in gpus):
            there = ", ".join(str(gpu.index) for gpu in gpus) or "none"
            fail(BAD_INPUT, f"no such GPU: {clean(name)}. There are: {there}")
    return tuple(gpu for gpu in gpus if not names or any(name == _ALL or _wants(name, gpu) for name in names))


def tell_rights(gpus: Sequence[MigGpu]) -> None:
    """Say on stderr which right is missing, where one is."""
    if any(gpu.missing for gpu in gpus):
        right = reading_right()
        print(f"! {right.detail}. {right.remedy}", file=sys.stderr)


def _readable(options: argparse.Namespace) -> tuple[MigGpu, ...]:
    gpus = chosen(options, partitioned(options).reader.all())
    if any(gpu.missing for gpu in gpus):
        tell_rights(gpus)
        fail(NOTHING, "the layouts cannot be read")
    return gpus


def _wants(name: str, gpu: MigGpu) -> bool:
    return Selection(gpus=(name,)).wants_gpu(gpu.index, gpu.uuid, gpu.bus_id)
