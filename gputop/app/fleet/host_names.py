"""The names of hosts that the user lists, also by Slurm."""

import os
from collections.abc import Sequence

from gputop.app.errors import UNKNOWN, BadRequestError, UseCaseError
from gputop.core.fleet.host_list import hosts_in
from gputop.machine.slurm import SlurmError, is_slurm, slurm_hosts


def host_names(lists: Sequence[str]) -> tuple[str, ...]:
    """Return the names in lists such as ``node[01-08],login1`` or ``slurm:PARTITION``, each once.

    Raises BadRequestError for a mistake, and UseCaseError if Slurm does not give its list.
    """
    try:
        return tuple(dict.fromkeys(name for text in lists for name in _names(text)))
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    except SlurmError as error:
        raise UseCaseError(UNKNOWN, str(error)) from None


def _names(text: str) -> tuple[str, ...]:
    return slurm_hosts(text, os.environ) if is_slurm(text) else hosts_in(text)
