"""Why a file of /proc could not be read, as a reason."""

from typing import Final

from gputop.core.model.metric import Missing

GONE: Final = (FileNotFoundError, ProcessLookupError)  # a process that ends between open and read gives the second


def reason(error: OSError) -> Missing:
    """Return FORBIDDEN where somebody else may read it, else UNSUPPORTED: this kernel does not offer it."""
    return Missing.FORBIDDEN if isinstance(error, PermissionError) else Missing.UNSUPPORTED
