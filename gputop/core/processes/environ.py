"""The allowed variables of the environment of a process. Others may contain secrets and are never read."""

from collections.abc import Iterable
from typing import Final

from gputop.core.secrets.names import Suspicion, suspicion
from gputop.core.text.text import decode

_ALLOWED: Final = frozenset({
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
    "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS",
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "CUDA_MPS_PIPE_DIRECTORY",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION", "TF_FORCE_GPU_ALLOW_GROWTH",
    "CONDA_DEFAULT_ENV", "VIRTUAL_ENV",
    "JPY_PARENT_PID", "JUPYTERHUB_USER", "VSCODE_PID", "TMUX", "STY", "SSH_CONNECTION",
    "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST", "HOSTNAME",
})  # fmt: skip
_GROUPS: Final = ("NCCL_", "TORCH_NCCL_", "VLLM_")
_ALLOWED_BYTES: Final = frozenset(name.encode() for name in _ALLOWED)
_GROUPS_BYTES: Final = tuple(prefix.encode() for prefix in _GROUPS)
_STARTS: Final = frozenset(name[:3] for name in (*_ALLOWED_BYTES, *_GROUPS_BYTES))
_LONGEST: Final = 512


def parse_environ(raw: bytes) -> dict[str, str]:
    """Return the allowed variables of /proc/PID/environ, cleaned, as of the start of the program.

    A name that suggests a secret is never allowed, even in an allowed group. The first value of a repeated variable
    counts, as for getenv.
    """
    found: dict[str, str] = {}
    for entry in raw.split(b"\0"):
        if entry[:3] not in _STARTS:  # a cheap test, which rejects most
            continue
        name, equals, value = entry.partition(b"=")
        if equals and (name in _ALLOWED_BYTES or name.startswith(_GROUPS_BYTES)):
            key = name.decode("ascii", "replace")
            if key not in found and is_allowed(key):
                found[key] = decode(value[: _LONGEST * 4])[:_LONGEST]
    return found


def is_allowed(name: str) -> bool:
    """Return whether gputop may show a variable."""
    if name in _ALLOWED:
        return True
    return name.startswith(_GROUPS) and suspicion(name) is Suspicion.NONE


def first_number(variables: dict[str, str], names: Iterable[str]) -> int | None:
    """Return the value of the first of these variables that is a number of at least 0."""
    for name in names:
        text = variables.get(name)
        if text and text.isascii() and text.isdecimal() and len(text) < 10:
            return int(text)
    return None
