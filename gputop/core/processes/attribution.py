"""The attribution of a process to an `Owner`: first by its cgroup, then by its environment, which is never trusted."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.processes.cgroup import Cgroup
from gputop.core.processes.environ import first_number
from gputop.core.processes.program import LAUNCHERS, program

_RUNTIMES: Final = {"cri-containerd": "containerd", "libpod": "podman"}
_RANKS: Final = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
_WORLDS: Final = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")
_OF_ENVIRON: Final = ("session", "environment", "rank", "world_size", "run_id", "master")
_OF_CGROUP: Final = ("container", "pod", "slurm", "unit")
_NO_RUN_ID: Final = {"", "none"}  # torchrun's name for every run without an ID
_HERE: Final = {"localhost", "127.0.0.1", "::1"}
_GENERIC: Final = {".venv", "venv", ".env", "env"}  # the parent directory has the name
_SYSTEM: Final = {"", "/", "/usr", "/usr/local"}
_SESSIONS: Final = (("TMUX", "tmux"), ("STY", "screen"), ("VSCODE_PID", "VS Code"), ("SSH_CONNECTION", "ssh"))
_PTS_MAJOR: Final = range(136, 144)
_TTY_MAJOR: Final = 4
_SERIAL_MINOR: Final = 64


class Evidence(Struct, frozen=True, kw_only=True):
    """The readings of a process. ``variables``: the allowed ones; ``terminal``: tty_nr of its stat."""

    cgroup: Cgroup | Missing
    variables: dict[str, str] | Missing
    arguments: Sequence[str] = ()
    name: str = ""
    terminal: int = 0


def attribute(evidence: Evidence) -> Owner:
    """Return the owner. Values from unreadable files are missing, with the reason."""
    cgroup = Cgroup() if type(evidence.cgroup) is Missing else evidence.cgroup
    variables = {} if type(evidence.variables) is Missing else evidence.variables
    container = _container(cgroup, variables)
    slurm = _slurm(cgroup, variables)
    owner = Owner(
        container=container,
        pod=_pod(cgroup, variables),
        slurm=slurm,
        unit=cgroup.unit,
        session=_session(
            cgroup, {} if slurm or container else variables
        ),  # theirs are of the host that submitted the job
        terminal=terminal_name(evidence.terminal),
        environment=_environment(variables, evidence.arguments),
        framework=framework(evidence.arguments, variables, evidence.name),
        rank=first_number(variables, _RANKS),
        world_size=first_number(variables, _WORLDS),
        run_id=_run_id(variables),
        master=_master(variables, container),
        trusted=cgroup.trusted,
    )
    missing = _missing(evidence, owner)
    return replace(owner, missing=missing) if missing else owner


def framework(arguments: Sequence[str], variables: dict[str, str], name: str = "") -> str | None:
    """Return the kind of a process: torchrun rank 3/8, vLLM, Jupyter kernel; None for a plain program.

    ``name``: of the process; data loaders set it.
    """
    if name.startswith("pt_data_"):
        return "data loader"
    if "--multiprocessing-fork" in arguments:
        return "worker process"
    known = program(arguments).known
    if known in LAUNCHERS:
        return f"{known} launcher"
    rank, world_size = first_number(variables, _RANKS), first_number(variables, _WORLDS)
    if rank is None or world_size is None or world_size < 2:
        return known
    return f"{known or _starter(variables)} rank {rank}/{world_size}".strip()


def terminal_name(number: int) -> str | None:
    """Return ``pts/3`` or ``tty2`` for the tty_nr of a stat line; None without a terminal."""
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    if major in _PTS_MAJOR:
        return f"pts/{(major - _PTS_MAJOR.start) * 256 + minor}"
    if major == _TTY_MAJOR:
        return f"tty{minor}" if minor < _SERIAL_MINOR else f"ttyS{minor - _SERIAL_MINOR}"
    return None


def _starter(variables: dict[str, str]) -> str:
    if "TORCHELASTIC_RUN_ID" in variables:
        return "torchrun"
    if "RANK" in variables:
        return ""
    if "OMPI_COMM_WORLD_RANK" in variables or "PMI_RANK" in variables:
        return "MPI"
    return "Slurm"


def _container(cgroup: Cgroup, variables: dict[str, str]) -> Container | None:
    if cgroup.runtime or cgroup.id:
        runtime = cgroup.runtime or "container"
        return Container(runtime=_RUNTIMES.get(runtime, runtime), id=cgroup.id, name=cgroup.name)
    image = variables.get("APPTAINER_CONTAINER") or variables.get("SINGULARITY_CONTAINER")
    return Container(runtime="apptainer", name=_last(image)) if image else None


def _pod(cgroup: Cgroup, variables: dict[str, str]) -> Pod | None:
    if not cgroup.pod:
        return None
    name = variables.get("HOSTNAME") if "KUBERNETES_SERVICE_HOST" in variables else None
    return Pod(uid=cgroup.pod, name=name)


def _slurm(cgroup: Cgroup, variables: dict[str, str]) -> SlurmStep | None:
    job = cgroup.job or variables.get("SLURM_JOB_ID")
    if not job and not cgroup.sluid:
        return None
    step = cgroup.step if "slurm" in cgroup.trusted else cgroup.step or variables.get("SLURM_STEP_ID")
    return SlurmStep(job=job, step=step, sluid=cgroup.sluid)


def _session(cgroup: Cgroup, variables: dict[str, str]) -> str | None:
    for key, session in _SESSIONS:
        if variables.get(key):
            return session
    if cgroup.unit and cgroup.unit.startswith("tmux-spawn-"):
        return "tmux"
    return f"login {cgroup.login}" if cgroup.login else None


def _environment(variables: dict[str, str], arguments: Sequence[str]) -> str | None:
    """Return the name of the conda environment or venv, or else of the interpreter's directory."""
    path = variables.get("VIRTUAL_ENV")
    if not path and variables.get("CONDA_DEFAULT_ENV"):
        return _last(variables["CONDA_DEFAULT_ENV"])
    if not path and arguments:
        place, _, name = arguments[0].rpartition("/bin/")
        path = place if name.startswith("python") and place not in _SYSTEM else None
    if not path:
        return None
    above, _, name = path.rstrip("/").rpartition("/")
    return f"{_last(above)}/{name}" if name in _GENERIC and above else name


def _run_id(variables: dict[str, str]) -> str | None:
    run_id = variables.get("TORCHELASTIC_RUN_ID", "")
    return None if run_id in _NO_RUN_ID else run_id


def _master(variables: dict[str, str], container: Container | None) -> str | None:
    """Return address and port of rank 0; a local address also names the container."""
    address, port = variables.get("MASTER_ADDR"), variables.get("MASTER_PORT")
    if not address or not port:
        return None
    inside = f" in {container.text}" if container and address in _HERE else ""
    return f"{address}:{port}{inside}"


def _missing(evidence: Evidence, owner: Owner) -> dict[str, Missing]:
    missing: dict[str, Missing] = {}
    for reason, names in ((evidence.cgroup, _OF_CGROUP), (evidence.variables, _OF_ENVIRON)):
        if type(reason) is Missing:
            missing |= dict.fromkeys((name for name in names if getattr(owner, name) is None), reason)
    return missing


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
