"""The layouts that the user requests: as text, as a configuration of mig-parted, or as a checkpoint."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import DecodeError, Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import BadRequestError
from gputop.core.mig.checkpoint import VERSION, Checkpoint, SavedGpu
from gputop.core.mig.explain import NoPlan, answer, answer_layout
from gputop.core.mig.mig_parted import ConfigError, ConfigFile, read_config, requests
from gputop.core.mig.model import MigGpu
from gputop.core.mig.request import RequestError, Wish, read_request
from gputop.core.mig.steps import Plan
from gputop.core.text.text import clean, excerpt
from gputop.machine.small_file import MOST_BYTES, read_small

_MODE_FIRST: Final = Wish(None)

Answers: TypeAlias = list[tuple[MigGpu, Plan | NoPlan]]


class MigRequest(Struct, frozen=True, kw_only=True):
    """Layouts: ``layout`` as text, or a ``file`` of mig-parted; ``config``: the name of its configuration.

    ``checkpoint``: path of one, to restore or to write. ``is_forced``: plan as if no process used a GPU. ``is_dry``:
    show the plan, and end. ``is_sure``: do not ask.
    """

    backend: BackendRequest
    layout: str | None = None
    file: str | None = None
    config: str | None = None
    checkpoint: str | None = None
    is_json: bool = False
    is_forced: bool = False
    is_dry: bool = False
    is_sure: bool = False


def requested(request: MigRequest, gpus: Sequence[MigGpu]) -> Answers:
    """Return an answer for each GPU that the request concerns."""
    if (request.layout is None) == (request.file is None):
        raise BadRequestError("no layout requested: add one, such as 3g.40gb,2x1g.10gb, or a file with -f")
    by_index = _of_file(request.file, request.config, gpus) if request.file else _of_words(request, gpus)
    if not by_index:
        raise BadRequestError("none of the selected GPUs supports MIG")
    is_one = len(by_index) == 1
    return [
        (gpu, _answer(gpu, by_index[gpu.index], is_forced=request.is_forced, is_one=is_one))
        for gpu in gpus
        if gpu.index in by_index
    ]


def restored(request: MigRequest, gpus: Sequence[MigGpu]) -> Answers:
    """Return an answer for each GPU of the checkpoint that is here."""
    saved = {held.uuid: held for held in _checkpoint(request.checkpoint or "").gpus}
    found = [(gpu, _back(gpu, saved[gpu.uuid], request)) for gpu in gpus if gpu.uuid in saved]
    here = {gpu.uuid for gpu in gpus}
    lost = [held for uuid, held in saved.items() if uuid not in here and not request.backend.selection.gpus]
    if lost:
        names = excerpt(", ".join(f"{held.name} {held.uuid}" for held in lost))
        raise BadRequestError(f"no longer in this host: {names}. To restore the others, select them with -i")
    if not found:
        raise BadRequestError("the checkpoint contains none of these GPUs")
    return found


def _answer(gpu: MigGpu, layout: str, *, is_forced: bool, is_one: bool) -> Plan | NoPlan:
    if gpu.is_silent and layout not in ("off", "none"):
        return answer(gpu, _MODE_FIRST, is_forced=is_forced)
    try:
        return answer(gpu, read_request(layout, gpu), is_forced=is_forced)
    except RequestError as error:
        if gpu.is_on is None:
            return NoPlan(gpu=gpu.uuid, index=gpu.index, reason=gpu.why)
        raise BadRequestError(("" if is_one else f"GPU {gpu.index}: ") + clean(str(error))) from None


def _back(gpu: MigGpu, held: SavedGpu, request: MigRequest) -> Plan | NoPlan:
    if gpu.is_silent and held.is_on:
        return answer(gpu, _MODE_FIRST, is_forced=request.is_forced)
    return answer_layout(gpu, held.instances, is_on=held.is_on, is_forced=request.is_forced)


def _of_words(request: MigRequest, gpus: Sequence[MigGpu]) -> dict[int, str]:
    """Return the layout for each GPU that supports MIG, or that the user selected."""
    is_named = bool(request.backend.selection.gpus)
    return {gpu.index: request.layout or "" for gpu in gpus if is_named or gpu.is_on is not None}


def _of_file(path: str, config: str | None, gpus: Sequence[MigGpu]) -> dict[int, str]:
    try:
        return requests(_config(path), config, gpus)
    except ConfigError as error:
        raise BadRequestError(f"{excerpt(path)}: {clean(str(error))}") from None


def _config(path: str) -> ConfigFile:
    from gputop.app import yaml_file  # an import of 20 ms that only this needs

    try:
        return read_config(yaml_file.load(_read(path, yaml_file.MOST_BYTES)))
    except yaml_file.YamlError as error:
        raise ConfigError(str(error)) from None


def _checkpoint(path: str) -> Checkpoint:
    from msgspec.json import decode

    try:
        held = decode(_read(path), type=Checkpoint)
    except (DecodeError, UnicodeDecodeError) as error:
        raise BadRequestError(f"{excerpt(path)} is not a gputop checkpoint: {excerpt(str(error))}") from None
    except RecursionError:
        raise BadRequestError(f"{excerpt(path)} is not a gputop checkpoint: it is nested too deeply") from None
    if held.gputop_mig != VERSION:
        version = excerpt(str(held.gputop_mig))
        raise BadRequestError(f"{excerpt(path)} was written by another gputop (version {version}, not {VERSION})")
    return held


def _read(path: str, most_bytes: int = MOST_BYTES) -> bytes:
    try:
        return read_small(path, most_bytes)
    except OSError as error:
        raise BadRequestError(f"cannot read {excerpt(path)}: {error.strerror}") from None
    except ValueError:
        raise BadRequestError(f"cannot read {excerpt(path)}: a path has no NUL") from None
