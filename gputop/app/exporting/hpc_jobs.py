"""The job mapping of HPC clusters, as for dcgm-exporter: a directory in which a prolog writes the jobs of each GPU.

A file has the name of a GPU (``0``) or of a MIG instance (``0.7``), and a job per line.
"""

import os
import re
import time
from collections.abc import Mapping
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.core.text.text import excerpt
from gputop.machine.files.walk import danger
from gputop.machine.small_file import read_small
from gputop.machine.worker import Worker

VARIABLE: Final = "DCGM_HPC_JOB_MAPPING_DIR"
_NAME: Final = re.compile(r"\d{1,4}(\.\d{1,4})?")
_MOST_FILES: Final = 1024
_MOST_JOBS: Final = 16  # of a GPU: each repeats all of its series
_MOST_BYTES: Final = 4096

Jobs = Mapping[str, tuple[str, ...]]


class HpcJobs:
    """The jobs by GPU. They are read in a thread of their own: a network file system may hang."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._jobs: Jobs = {}
        self._worker = Worker(self._read)
        if not folder:
            return
        why = danger(f"{folder}/0") or ("" if os.path.isdir(folder) else "it is not a directory")
        if why:
            raise BadRequestError(f"cannot read jobs from {excerpt(folder)}: {why}")

    def latest(self, patience_s: float = 0.1) -> Jobs:
        """Return the jobs, and begin to read them again."""
        if self._folder:
            self._worker.ask(time.monotonic())
            found = self._worker.take(patience_s)
            self._jobs = self._jobs if found is None else found
        return self._jobs

    def _read(self, _: float) -> Jobs:
        try:
            with os.scandir(self._folder) as entries:
                names = [entry.name for entry, _ in zip(entries, range(_MOST_FILES), strict=False)]
        except OSError:
            return {}
        return {name: _jobs(f"{self._folder}/{name}") for name in names if _NAME.fullmatch(name)}


def _jobs(path: str) -> tuple[str, ...]:
    try:
        text = read_small(path, _MOST_BYTES).decode(errors="replace")
    except OSError:
        return ()  # the epilog has removed it
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))[:_MOST_JOBS]
