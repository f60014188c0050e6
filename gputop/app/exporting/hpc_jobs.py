"""The job mapping of HPC clusters, as for dcgm-exporter: a directory in which a prolog writes the jobs of each GPU.

A file has the name of a GPU (``0``) or of a MIG instance (``0.7``), and a job per line.
"""

import os
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from gputop.machine.files.walk import danger
from gputop.machine.small_file import read_small

VARIABLE: Final = "DCGM_HPC_JOB_MAPPING_DIR"
EVERY_S: Final = 1.0
_NAME: Final = re.compile(r"\d{1,4}(\.\d{1,4})?")
_MOST_FILES: Final = 1024
_MOST_JOBS: Final = 16  # of a GPU: each repeats all of its series
_MOST_BYTES: Final = 4096

Jobs: TypeAlias = Mapping[str, tuple[str, ...]]


def why_not(folder: str) -> str:
    """Return why a folder cannot be a job mapping; empty if it can."""
    return danger(f"{folder}/0") or ("" if os.path.isdir(folder) else "it is not a directory")


def jobs_in(folder: str) -> Jobs:
    """Return the jobs by GPU. It may hang on a network file system. Raises OSError."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry, _ in zip(entries, range(_MOST_FILES), strict=False)]
    return {name: _jobs(f"{folder}/{name}") for name in names if _NAME.fullmatch(name)}


def _jobs(path: str) -> tuple[str, ...]:
    try:
        text = read_small(path, _MOST_BYTES).decode(errors="replace")
    except OSError:
        return ()  # the epilog has removed it
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))[:_MOST_JOBS]
