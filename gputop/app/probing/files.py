"""Files of the probe: expected figures and baselines."""

import os
import re
from collections.abc import Callable
from typing import Final

from msgspec import DecodeError, ValidationError
from msgspec.json import decode

from gputop.core.probing.baseline import Baseline
from gputop.core.probing.reference import Entry, read
from gputop.core.text.text import excerpt
from gputop.machine.files.places import config_directory, state_directory
from gputop.machine.files.private import read_file, replace_file
from gputop.machine.small_file import read_small
from gputop.wire.encoder import encode

_OWN_REFERENCE: Final = "probe_reference.toml"


def expected_figures(reference: str) -> tuple[Entry, ...]:
    """Return the user's own table before that of the probe. Raises ValueError for an invalid file."""
    own = os.path.join(config_directory(), _OWN_REFERENCE)
    return (*_entries(own, read_file), *_entries(reference, read_small))


def _entries(path: str, reader: Callable[[str], bytes]) -> tuple[Entry, ...]:
    from gputop.app.settings.toml_file import TomlError, loads

    try:
        return read(loads(reader(path).decode()))
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
    """Write the baseline of a device. Raises OSError."""
    replace_file(_path(baseline.uuid), encode(baseline))


def _path(uuid: str) -> str:
    return os.path.join(state_directory(os.environ), "baseline", f"{re.sub('[^A-Za-z0-9-]', '_', uuid)}.json")
