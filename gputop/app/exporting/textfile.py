"""A file for the textfile collector of node_exporter, replaced at one stroke so that no reader sees half of it."""

import os
from contextlib import suppress
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.app.exporting.publication import Publication
from gputop.core.text.text import excerpt
from gputop.machine.files.output import PUBLIC, write_output

_NAME: Final = "gputop.prom"
_EVERY_S: Final = 10.0


class TextFile:
    """The file ``gputop.prom`` in a folder of the user's choice, written every few seconds."""

    def __init__(self, folder: str) -> None:
        if not os.path.isdir(folder):
            raise BadRequestError(f"cannot write to {excerpt(folder)}: it is not a directory")
        self._path = os.path.join(folder, _NAME)
        self._written_s = -_EVERY_S
        self.greeting = f"writing {excerpt(self._path)} every {_EVERY_S:g} s; press Ctrl-C to stop"

    def follow(self, publication: Publication, now: float) -> None:
        """Replace the file if it is time to. ``now``: monotonic seconds. Raises BadRequestError."""
        if publication.age_s is None or now - self._written_s < _EVERY_S:
            return
        self._written_s = now
        try:
            write_output(self._path, publication.text().encode(), PUBLIC)
        except OSError as error:
            raise BadRequestError(f"cannot write {excerpt(self._path)}: {error.strerror or error}") from None

    def close(self) -> None:
        """Remove the file: node_exporter would serve its values for ever."""
        with suppress(OSError):
            os.unlink(self._path)
