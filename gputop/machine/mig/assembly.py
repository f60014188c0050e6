"""Assembly of the parts that read and change MIG layouts."""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from msgspec import Struct

from gputop.core.mig.checkpoint import checkpoint
from gputop.core.mig.model import Holders, MigGpu, User
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.text.text import clean
from gputop.machine.files.places import state_directory
from gputop.machine.files.private import create_file
from gputop.machine.mig.holders import HolderReader
from gputop.machine.mig.instance_holders import instance_holders
from gputop.machine.mig.layout import LayoutReader
from gputop.machine.mig.lock import mig_lock
from gputop.machine.mig.managers import overseers
from gputop.machine.mig.partitioner import Partitioner, Surroundings
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.patient import PatientProc
from gputop.machine.proc.procfs import Proc, RealProc
from gputop.machine.processes.reader import resolve_user


class Partitioning(Struct, frozen=True):
    """The MIG parts of a host. ``holders``: the processes that have a GPU open; ``warnings``: other MIG managers."""

    reader: LayoutReader
    partitioner: Partitioner
    holders: Callable[[str], Holders | None]
    warnings: Callable[[], tuple[str, ...]]

    def gpus(self) -> tuple[MigGpu, ...]:
        """Return the layouts of all GPUs."""
        return self.reader.all()


class Around(Struct, frozen=True):
    """Parts of the host that a simulated box replaces. ``exists``: says whether a file exists."""

    lock: Callable[[str], AbstractContextManager[None]]
    keep: Callable[[MigGpu], str]
    exists: Callable[[str], bool]


def partitioning_of_this_machine() -> Partitioning:
    """Start the driver of this host, and return its MIG parts. Raises NoDriverError."""
    from gputop.machine.nvml.binding import Binding  # noqa: PLC0415 - 20 ms that only some need

    driver = Driver(Binding())
    driver.start()
    return partitioning(
        driver, PatientProc(RealProc()), resolve_user, Around(lock=mig_lock, keep=_keep, exists=os.path.exists)
    )


def partitioning(driver: Driver, proc: Proc, users: Callable[[int], str | None], around: Around) -> Partitioning:
    """Return the parts that read and change MIG layouts, over a driver that has started."""
    from gputop.machine.processes.owners import OwnerReader  # noqa: PLC0415 - only if a process is in the way

    owners = OwnerReader(proc)

    def owner(pid: int) -> Owner:
        try:
            return owners.read(pid, proc.read(f"{pid}/stat"), proc.read(f"{pid}/comm").strip(), ())
        except OSError:
            return Owner()

    found = HolderReader(proc, users, owner, os.getpid())

    def holders(uuid: str) -> Holders | None:
        handle = driver.ask("nvmlDeviceGetHandleByUUID", uuid)
        minor = handle if isinstance(handle, Missing) else driver.ask("nvmlDeviceGetMinorNumber", handle)
        return None if isinstance(minor, Missing) else found.of_gpu(minor)

    def in_the_way(uuid: str) -> tuple[User, ...]:
        known = holders(uuid)
        return known.users if known is not None else ()

    reader = LayoutReader(driver, found.named, lambda: instance_holders(proc))
    partitioner = Partitioner(driver, reader, Surroundings(lock=around.lock, holders=in_the_way, keep=around.keep))
    return Partitioning(reader, partitioner, holders, lambda: overseers(proc, around.exists))


def _keep(gpu: MigGpu) -> str:
    """Save the layout before a change to a private file; return its path, or an empty string if that failed."""
    from msgspec.json import encode  # noqa: PLC0415 - likewise

    name = f"mig-before-{clean(gpu.uuid).replace('/', '_')}-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.json"
    path = f"{state_directory(os.environ)}/{name}"
    try:
        create_file(path, encode(checkpoint([gpu])) + b"\n")
    except OSError:
        return ""
    return path
