"""Limits of the system that end gputop, each as a line for the user."""

from errno import EMFILE, ENFILE
from typing import Final

_NO_THREAD: Final = "can't start new thread"  # Python has no class for it
_THREADS: Final = (
    "cannot start a thread: your limit of processes or memory is reached. Raise it with ulimit -u or ulimit -v"
)
_MEMORY: Final = "out of memory. Raise your limit with ulimit -v, or end other programs"
_FILES: Final = "cannot open a file: your limit of open files is reached. Raise it with ulimit -n"
_ALL_FILES: Final = "cannot open a file: the limit of open files of this host is reached (fs.file-max)"


def limit_text(error: BaseException | None) -> str:
    """Return the limit that an error means, and what to do; empty for all other errors."""
    match error:
        case MemoryError():
            return _MEMORY
        case OSError():
            return {EMFILE: _FILES, ENFILE: _ALL_FILES}.get(error.errno or 0, "")
        case RuntimeError():
            return _THREADS if str(error) == _NO_THREAD else ""
    return ""
