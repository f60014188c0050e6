"""Files of the probe: expected figures, baselines, results."""

import os
import re
from typing import Final

from msgspec import DecodeError, ValidationError
from msgspec.json import decode

from gputop.app.settings.config_path import path as config_path
from gputop.core.probing.baseline import Baseline
from gputop.core.probing.reference import Entry, read
from gputop.core.text.text import excerpt
from gputop.machine.small_file import read_small
from gputop.machine.state_directory import state_directory
from gputop.wire.encoder import encode

_OWN_REFERENCE: Final = "probe_reference.toml"


def expected_figures(reference: str) -> tuple[Entry, ...]:
    """Return the user's own table before that of the probe. Raises ValueError for an invalid file."""
    own = os.path.join(os.path.dirname(config_path()), _OWN_REFERENCE)
    return (*_entries(own), *_entries(reference))


def _entries(path: str) -> tuple[Entry, ...]:
    from gputop.app.settings.toml_file import TomlError, loads

    try:
        return read(loads(read_small(path).decode()))
    except FileNotFoundError:
        return ()
    except (OSError, TomlError, ValueError) as error:
        raise ValueError(f"{excerpt(path)}: {error}") from None


def read_baseline(uuid: str) -> Baseline:
    """Return the baseline of a device; an empty one if there is none, or it cannot be read."""
    try:
        return decode(read_small(_path(uuid)), type=Baseline)
    except (OSError, DecodeError, ValidationError, RecursionError):
        return Baseline(uuid=uuid)


def write_baseline(baseline: Baseline) -> None:
    """Write the baseline of a device."""
    path = _path(baseline.uuid)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_file(path, encode(baseline))


def write_file(path: str, content: bytes) -> None:
    """Write a file, atomically if it exists. Raises OSError."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as opened:  # a pipe, or /dev/stdout
            opened.write(content)
        return
    draft = f"{path}.{os.getpid()}.part"
    try:
        with open(draft, "wb") as opened:
            opened.write(content)
        os.replace(draft, path)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def _path(uuid: str) -> str:
    return os.path.join(state_directory(os.environ), "baseline", f"{re.sub('[^A-Za-z0-9-]', '_', uuid)}.json")
