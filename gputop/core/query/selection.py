"""The selection of GPUs and processes to show."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.process_id import pids_text
from gputop.core.model.sample import Gpu, HostProcess, Presence, Sample
from gputop.core.processes.gpu_use import why_incomplete

NO_ANSWER: Final = "the driver has not responded since gputop started. Check the kernel log: sudo dmesg | tail"
_UUID_LEAST = 8  # signs of a uuid that are enough to name a GPU: GPU-4fa2


class Selection(Struct, frozen=True, kw_only=True):
    """The GPUs and users to show; empty means all. ``gpus``: indices, uuids (or prefixes) and PCI bus ids."""

    gpus: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    only_compute: bool = False

    def wants_gpu(self, index: int, uuid: str, bus_id: str) -> bool:
        """Say whether the selection includes a GPU."""
        return not self.gpus or any(_names(wish, index, uuid, bus_id) for wish in self.gpus)

    def unknown(self, gpus: Iterable[Gpu]) -> tuple[str, ...]:
        """Return the entries that match none of these GPUs."""
        held = list(gpus)
        return tuple(w for w in self.gpus if not any(_names(w, g.index, g.uuid, g.bus_id) for g in held))

    def processes(self, processes: Iterable[HostProcess]) -> tuple[HostProcess, ...]:
        """Return the selected processes, each with its selected uses."""
        kept = (p for p in processes if not self.users or p.user in self.users)
        if not self.only_compute:
            return tuple(kept)
        bare = (replace(p, gpus=tuple(use for use in p.gpus if use.type != "G")) for p in kept)
        return tuple(p for p in bare if p.gpus)

    def undecided(self, processes: Iterable[HostProcess]) -> tuple[str, ...]:
        """Return a sentence about the processes whose user is unknown, if the selection is by user."""
        unknown = (p for p in processes if p.user is None or "user" in p.missing) if self.users else ()
        return undecided_text("--user", tuple(unknown))


def undecided_text(option: str, processes: Collection[HostProcess]) -> tuple[str, ...]:
    """Return a sentence about processes of which a selection cannot tell whether they match; none without them.

    A PID that the driver still lists after its process exited is no process.
    """
    left = [p.pid for p in processes if p.presence not in {Presence.GONE, Presence.REUSED}]
    if not left:
        return ()
    them, match, pid = ("process", "matches", "PID") if len(left) == 1 else ("processes", "match", "PIDs")
    return (f"cannot tell whether {len(left)} {them} {match} {option}: unknown values of {pid} {pids_text(left)}",)


def why_no_processes(sample: Sample) -> str:
    """Return why no process is shown: none exists, none is selected, or the driver lists none."""
    whys = {gpu.missing["processes"] for gpu in sample.gpus if "processes" in gpu.missing}
    if not whys:
        return "; ".join(("no processes to show", *why_incomplete(sample)))
    return f"the driver lists no processes: {', '.join(sorted(why.text for why in whys))}"


def why_no_gpus(sample: Sample) -> str:
    """Return why no GPU is shown."""
    if sample.driver.missing.get("version") is Missing.HUNG:
        return NO_ANSWER
    return "the driver lists no GPU. To pass GPUs to a container: docker run --gpus all"


def _names(wish: str, index: int, uuid: str, bus_id: str) -> bool:
    if wish.isdecimal():
        return int(wish) == index
    if ":" in wish:
        return bus_id != "" and _short_bus_id(wish) == _short_bus_id(bus_id)
    return len(wish) >= _UUID_LEAST and uuid.lower().startswith(wish.lower())


def _short_bus_id(text: str) -> str:
    """Return a bus id in one spelling: 0:1b:00.0 for 00000000:1B:00.0, 0000:1b:00.0 and 1b:00.0."""
    domain, _, rest = text.lower().rpartition(":")[0].rpartition(":")
    return f"{domain.lstrip('0') or '0'}:{rest}:{text.lower().rpartition(':')[2]}"
