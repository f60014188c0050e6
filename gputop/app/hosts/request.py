"""The request for a command on many hosts."""

from msgspec import Struct


class HostsRequest(Struct, frozen=True, kw_only=True):
    """A command on many hosts. ``hosts``: lists of them; ``words``: the command and its arguments there.

    ``over``: ssh or srun; None: srun if it is installed. ``is_batch``: print the batch script in place of running it;
    ``results``: the file that such a script wrote. ``slurm``: further options of srun or sbatch. ``limit_s``: for each
    host. ``json``: the file for all reports, or - for standard output.
    """

    command: str
    hosts: tuple[str, ...]
    words: tuple[str, ...]
    over: str | None = None
    is_batch: bool = False
    results: str | None = None
    slurm: tuple[str, ...] = ()
    limit_s: float
    json: str | None = None
