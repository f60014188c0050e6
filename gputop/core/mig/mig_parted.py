"""The configuration file of NVIDIA's mig-parted: several configurations, each for GPUs by index and device.

The format counts instances and has no placements; the planner chooses those. Another module parses the YAML.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct, ValidationError, convert

from gputop.core.mig.model import MigGpu
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt

VERSION: Final = "v1"
CURRENT: Final = "current"
_MOST: Final = 1000


class ConfigError(Exception):
    """An unusable file; the message says why."""


class Spec(Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """The configuration of some GPUs. ``device_filter``: ``0x233010DE``, optionally with ``:`` and the subsystem."""

    devices: Literal["all"] | tuple[int, ...]
    mig_enabled: bool
    mig_devices: dict[str, int] | None = None
    device_filter: str | int | tuple[str | int, ...] = ()


class ConfigFile(Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """The file: configurations by name."""

    version: str
    mig_configs: dict[str, tuple[Spec, ...]]


def read_config(raw: object) -> ConfigFile:
    """Convert the parsed YAML into a file. Raises ConfigError."""
    try:
        read = convert(raw, ConfigFile)
    except ValidationError as error:
        raise ConfigError(f"not a mig-parted configuration: {excerpt(str(error))}") from None
    if read.version != VERSION:
        raise ConfigError(f"version {excerpt(read.version)!r} is not supported, only {VERSION}")
    for name, specs in read.mig_configs.items():
        for spec in specs:
            _check(name, spec)
    return read


def requests(file: ConfigFile, name: str | None, gpus: Sequence[MigGpu]) -> dict[int, str]:
    """Return a request for each GPU that a configuration names, by index; the last entry for a GPU applies.

    ``name`` may be None if the file has only one configuration. Raises ConfigError.
    """
    chosen: dict[int, str] = {}
    for spec in file.mig_configs[_chosen(file, name)]:
        if spec.devices != "all":
            unknown = set(spec.devices) - {gpu.index for gpu in gpus}
            if unknown:
                raise ConfigError(f"no such GPU: {excerpt(', '.join(str(index) for index in sorted(unknown)))}")
        for gpu in gpus:
            if (spec.devices == "all" or gpu.index in spec.devices) and _applies_to(spec, gpu):
                chosen[gpu.index] = _request(spec)
    return chosen


def export_lines(gpus: Iterable[MigGpu], name: str = CURRENT) -> Iterator[str]:
    """Return the layouts as lines of a file. Comments note what the format cannot express."""
    yield f"version: {VERSION}"
    yield "mig-configs:"
    yield f"  {name}:"
    groups: dict[tuple[bool, tuple[tuple[str, int], ...]], list[MigGpu]] = {}
    for gpu in gpus:
        if gpu.is_on is not None:
            groups.setdefault((bool(gpu.is_on), tuple(_counts(gpu).items())), []).append(gpu)
    for (is_on, counts), alike in groups.items():
        yield f"  - devices: [{', '.join(str(gpu.index) for gpu in alike)}]"
        yield f"    mig-enabled: {'true' if is_on else 'false'}"
        if is_on:
            yield "    mig-devices:" + ("" if counts else " {}")
            yield from (f'      "{device}": {count}' for device, count in counts)
        for gpu in alike:
            yield from (f"    # GPU {gpu.index}: {text}" for text in _lost_in_format(gpu))
    if not groups:
        yield "    []"


def _check(name: str, spec: Spec) -> None:
    if spec.mig_enabled and spec.mig_devices is None:
        raise ConfigError(f"{excerpt(name)}: mig-devices is missing; write {{}} for no instances")
    if spec.mig_devices and not spec.mig_enabled:
        raise ConfigError(f"{excerpt(name)}: mig-devices needs mig-enabled: true")
    wrong = [device for device, count in (spec.mig_devices or {}).items() if not 0 <= count < _MOST]
    if wrong:
        raise ConfigError(f"{excerpt(name)}: {excerpt(wrong[0])}: the count must be from 0 to {_MOST - 1}")
    odd = [device for device in spec.mig_devices or {} if any(sign in device for sign in ",=@/ ")]
    if odd:
        raise ConfigError(f"{excerpt(name)}: {excerpt(odd[0])!r} is not a MIG device such as 1g.10gb or 1c.2g.20gb")


def _chosen(file: ConfigFile, name: str | None) -> str:
    names = list(file.mig_configs)
    if name is None and len(names) == 1:
        return names[0]
    if name is None:
        raise ConfigError(f"choose a configuration with -c: {excerpt(', '.join(names)) or 'the file has none'}")
    if name not in file.mig_configs:
        guess = nearest(name, names)
        hint = f"; did you mean {excerpt(guess)}?" if guess else ""
        raise ConfigError(f"no configuration {excerpt(name)!r}{hint}")
    return name


def _applies_to(spec: Spec, gpu: MigGpu) -> bool:
    if not spec.device_filter:
        return True
    filters = spec.device_filter if isinstance(spec.device_filter, tuple) else (spec.device_filter,)
    return any(_matches(each, gpu) for each in filters)


def _matches(wanted: str | int, gpu: MigGpu) -> bool:
    text = f"0x{wanted:08X}" if isinstance(wanted, int) else wanted
    device, _, subsystem = text.lower().partition(":")
    return device == gpu.device.lower() and subsystem in ("", gpu.subsystem.lower())


def _request(spec: Spec) -> str:
    if not spec.mig_enabled:
        return "off"
    return ",".join(f"{count}x{device}" for device, count in (spec.mig_devices or {}).items() if count) or "none"


def _counts(gpu: MigGpu) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for instance in gpu.instances:
        profile = gpu.geometry.profile(instance.profile)
        for compute in instance.computes:
            is_whole = profile is None or compute.slices == profile.slices
            counts[instance.profile if is_whole else f"{compute.slices}c.{instance.profile}"] += 1
    return dict(sorted(counts.items()))


def _lost_in_format(gpu: MigGpu) -> Iterator[str]:
    for instance in gpu.instances:
        if not instance.computes:
            yield f"{instance.text} has no compute instance, which this format cannot express"
