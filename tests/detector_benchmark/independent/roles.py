"""Roles: the processes of a training job, a server, a notebook or a program, with their parents and children."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from detector_benchmark.independent.activity import IDLE, Activity
from detector_benchmark.independent.actors import SSH, TERMINAL, Actor, Use, slurm
from detector_benchmark.independent.scripts import Curve, Part, level, script
from msgspec.structs import replace

RankPart = Callable[[int], Part]
TRAIN: Final = "python -u train.py --config configs/base.yaml"
_LOADER: Final = Activity(cpu=34.0)


def loaders(parent: Actor, count: int, does: Part = _LOADER) -> list[Actor]:
    """Return data loader workers of a process."""
    return [
        Actor(
            name=f"{parent.name}.loader{n}",
            command=parent.command,
            parent=parent.name,
            user=parent.user,
            host=script(does),
            age_s=parent.age_s - 20,
            from_s=parent.from_s,
            until_s=parent.until_s,
            threads=3,
            resident_mib=900,
            variables=parent.variables,
            cgroup=parent.cgroup,
            title="pt_data_worker",
        )
        for n in range(count)
    ]


def program(name: str, command: str, gpu: int, does: Part, memory: Curve, **more: Any) -> Actor:
    """Return a process on one GPU, started at a terminal."""
    use = Use(gpu, script(does), memory, more.pop("instance", None), more.pop("type", "C"))
    given: dict[str, Any] = {"variables": SSH, "terminal": TERMINAL} | more
    return Actor(name=name, command=command, uses=(use,), **given)


def shell(name: str = "shell", command: str = "-bash", **more: Any) -> Actor:
    """Return a process without a GPU that starts others."""
    return Actor(name=name, command=command, host=script(IDLE.but(cpu=0.0)), threads=1, resident_mib=5, **more)


def ranks(
    gpus: Sequence[int],
    does: RankPart,
    memory: Curve | None = None,
    memory_of: Callable[[int], Curve] | None = None,
    *,
    command: str = TRAIN,
    launcher: str = "torchrun",
    name: str = "rank",
    **more: Any,
) -> list[Actor]:
    """Return a launcher and one rank per GPU. ``does``: the script of each rank.

    ``launcher``: torchrun, mpirun, srun (a Slurm job, in its cgroup), spawn (by a Python program), or a command line.
    """
    size = len(gpus)
    job = f"{name}.job"
    lead, variables_of, cgroup = _launch(launcher, command, size)
    curve = memory_of or (lambda rank: memory or level(40000))
    shared: dict[str, Any] = {"cgroup": cgroup} | more if cgroup else more
    head = Actor(name=job, command=lead, host=script(IDLE.but(cpu=0.0)), resident_mib=350, **shared)
    return [
        head,
        *(
            Actor(
                name=f"{name}{rank}",
                command=command,
                parent=job,
                threads=42,
                resident_mib=9000,
                uses=(Use(gpu, script(does(rank)), curve(rank)),),
                **shared | {"variables": variables_of(rank)},
            )
            for rank, gpu in enumerate(gpus)
        ),
    ]


def _launch(launcher: str, command: str, size: int) -> tuple[str, Callable[[int], Mapping[str, str]], Any]:
    script_of = command.partition("python")[2].removeprefix(" -u ").strip() or command
    match launcher:
        case "torchrun":
            lead = f"/opt/env/bin/python /opt/env/bin/torchrun --nproc_per_node={size} {script_of}"
            return lead, lambda rank: {**_torch(rank, size), "TORCHELASTIC_RUN_ID": "none"}, None
        case "mpirun":
            return f"mpirun -np {size} {command}", lambda rank: _mpi(rank, size), None
        case "srun":
            return f"srun --ntasks={size} {command}", lambda rank: _slurm(rank, size), slurm(58210)
        case "spawn":
            return command, lambda rank: {}, None
        case _:
            return launcher, lambda rank: _torch(rank, size), None


def _torch(rank: int, size: int) -> dict[str, str]:
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def _mpi(rank: int, size: int) -> dict[str, str]:
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size)}


def _slurm(rank: int, size: int) -> dict[str, str]:
    return {"SLURM_JOB_ID": "58210", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank), "SLURM_NTASKS": str(size)}


def with_loaders(actors: Sequence[Actor], each: int, does: Part = _LOADER) -> list[Actor]:
    """Add loader workers to every process on a GPU."""
    return [one for actor in actors for one in (actor, *(loaders(actor, each, does) if actor.uses else ()))]


def but(actors: Sequence[Actor], name: str, **changes: Any) -> list[Actor]:
    """Change one of the actors."""
    return [replace(actor, **changes) if actor.name == name else actor for actor in actors]


_WINDOWS: Final = Activity(util=2, mc=2, share=0.01, sm=1, dram=1, cpu=6, noise=0.4)


def desktop(gpu: int = 0, does: Part = _WINDOWS) -> list[Actor]:
    """Return the desktop of a workstation."""
    use = Use(gpu, script(does), level(430), None, "G")
    return [Actor(name="Xorg", command="/usr/lib/xorg/Xorg vt2 -displayfd 3", uses=(use,), user="root", age_s=30000)]
