"""What is asked of the GPUs: on the command line, in a configuration of mig-parted, or in a checkpoint."""

import argparse
from collections.abc import Sequence
from typing import Final

from msgspec import DecodeError

from gputop.cli.args.exits import BAD_INPUT, fail
from gputop.core.mig.checkpoint import VERSION, Checkpoint, SavedGpu
from gputop.core.mig.explain import NoPlan, answer, answer_layout
from gputop.core.mig.mig_parted import ConfigError, ConfigFile, read_config, requests
from gputop.core.mig.model import MigGpu
from gputop.core.mig.request import RequestError, Wish, read_request
from gputop.core.mig.steps import Plan
from gputop.core.text.text import clean

_LONGEST: Final = 1 << 20
_MODE_FIRST: Final = Wish(None)


def requested(options: argparse.Namespace, gpus: Sequence[MigGpu]) -> list[tuple[MigGpu, Plan | NoPlan]]:
    """Return an answer for each GPU that something is asked of. Ends the program where that makes no sense."""
    if (options.request is None) == (options.file is None):
        fail(BAD_INPUT, "what? Give a request, as 3g.40gb,2x1g.10gb, or a file with -f")
    by_index = (
        _of_file(options, gpus) if options.file else {gpu.index: options.request for gpu in _meant(options, gpus)}
    )
    if not by_index:
        fail(BAD_INPUT, "this concerns no GPU that has MIG")
    meant = [gpu for gpu in gpus if gpu.index in by_index]
    return [(gpu, _answer(gpu, by_index[gpu.index], options, is_one=len(meant) == 1)) for gpu in meant]


def restored(options: argparse.Namespace, gpus: Sequence[MigGpu]) -> list[tuple[MigGpu, Plan | NoPlan]]:
    """Return an answer for each GPU of a checkpoint that is here."""
    saved = {held.uuid: held for held in _checkpoint(options.file).gpus}
    found = [(gpu, _back(gpu, saved[gpu.uuid], options)) for gpu in gpus if gpu.uuid in saved]
    here = {gpu.uuid for gpu in gpus}
    lost = [held for uuid, held in saved.items() if uuid not in here and not options.gpu]
    if lost:
        names = ", ".join(clean(f"{held.name} {held.uuid}") for held in lost)
        fail(BAD_INPUT, f"not here any more: {names}. To restore the others name them with -i")
    if not found:
        fail(BAD_INPUT, "the checkpoint has none of these GPUs")
    return found


def _meant(options: argparse.Namespace, gpus: Sequence[MigGpu]) -> list[MigGpu]:
    """Return the GPUs of a request: those that have MIG, unless others are named."""
    return [gpu for gpu in gpus if gpu.is_on is not None or options.gpu]


def _answer(gpu: MigGpu, request: str, options: argparse.Namespace, *, is_one: bool) -> Plan | NoPlan:
    if gpu.is_silent and request not in ("off", "none"):
        return answer(gpu, _MODE_FIRST, is_forced=options.force)
    try:
        return answer(gpu, read_request(request, gpu), is_forced=options.force)
    except RequestError as error:
        if gpu.is_on is None:
            return NoPlan(gpu=gpu.uuid, index=gpu.index, reason=gpu.why)
        fail(BAD_INPUT, ("" if is_one else f"GPU {gpu.index}: ") + clean(str(error)))


def _back(gpu: MigGpu, held: SavedGpu, options: argparse.Namespace) -> Plan | NoPlan:
    if gpu.is_silent and held.is_on:
        return answer(gpu, _MODE_FIRST, is_forced=options.force)
    return answer_layout(gpu, held.instances, is_on=held.is_on, is_forced=options.force)


def _of_file(options: argparse.Namespace, gpus: Sequence[MigGpu]) -> dict[int, str]:
    try:
        return requests(_config(options.file), options.config, gpus)
    except ConfigError as error:
        fail(BAD_INPUT, clean(f"{options.file}: {error}"))


def _config(path: str) -> ConfigFile:
    import yaml  # 20 ms that only this needs

    try:
        return read_config(yaml.safe_load(_read(path)))
    except yaml.YAMLError as error:
        raise ConfigError(" ".join(str(error).split())) from None
    except RecursionError:
        raise ConfigError("nested too deeply") from None


def _checkpoint(path: str) -> Checkpoint:
    from msgspec.json import decode

    try:
        held = decode(_read(path), type=Checkpoint)
    except (DecodeError, UnicodeDecodeError) as error:
        fail(BAD_INPUT, clean(f"{path} is not a checkpoint of gputop: {error}"))
    except RecursionError:
        fail(BAD_INPUT, clean(f"{path} is not a checkpoint of gputop: it is nested too deeply"))
    if held.gputop_mig != VERSION:
        fail(BAD_INPUT, clean(f"{path} was written by another gputop (version {held.gputop_mig}, not {VERSION})"))
    return held


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            raw = file.read(_LONGEST + 1)
    except OSError as error:
        fail(BAD_INPUT, clean(f"{path} cannot be read: {error.strerror}"))
    if len(raw) > _LONGEST:
        fail(BAD_INPUT, clean(f"{path} is longer than 1 MiB"))
    return raw
