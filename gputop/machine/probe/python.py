"""The Python that has torch, and the environment of its workers."""

import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from gputop.machine.files.walk import danger, program

VARIABLE: Final = "GPUTOP_PROBE_PYTHON"
_PATIENCE_S: Final = 20.0
_DROPPED: Final = (  # variables that would change the measured values
    "NVIDIA_TF32_OVERRIDE", "CUDA_LAUNCH_BLOCKING", "CUDA_FORCE_PTX_JIT", "CUDA_DISABLE_PTX_JIT", "CUBLAS_LOGINFO_DBG",
    "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_INJECTION64_PATH", "TORCH_CUDA_SANITIZER", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_AUTO_BOOST", "LD_PRELOAD",
)  # fmt: skip
_SET: Final = {
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    "CUDA_MODULE_LOADING": "LAZY",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",
}


def candidates(chosen: str | None, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the interpreters to try: only the configured one, or else the usual ones.

    As root, gputop itself chooses none that another user can replace.
    """
    named = chosen or environment.get(VARIABLE)
    if named:
        return (named,)
    active = [f"{environment[key]}/bin/python" for key in ("VIRTUAL_ENV", "CONDA_PREFIX") if environment.get(key)]
    found = (program(name, environment) for name in ("python3", "python"))
    safe = (python for python in active if not danger(python))
    return tuple(dict.fromkeys((sys.executable, *safe, *filter(None, found))))


def with_package(pythons: Iterable[str], package: str, environment: Mapping[str, str]) -> str | None:
    """Return the first interpreter that has a package; None if none has. The package is found, but not imported."""
    script = (
        "import sys, importlib.util as u; sys.path[:] = filter(None, sys.path); "
        f"sys.exit(u.find_spec({package!r}) is None)"
    )
    for python in pythons:
        with suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                [python, "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=dict(environment) | {"PYTHONDONTWRITEBYTECODE": "1"}, timeout=_PATIENCE_S, check=False,
            )  # fmt: skip
            if done.returncode == 0:
                return python
    return None


def worker_environment(environment: Mapping[str, str], visible: str, folder: str) -> dict[str, str]:
    """Return the environment of a worker. ``visible``: UUIDs for CUDA; ``folder``: for temporary files."""
    kept = {name: value for name, value in environment.items() if name not in _DROPPED}
    return kept | _SET | {"CUDA_VISIBLE_DEVICES": visible, "TMPDIR": folder}


def dropped(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables that a worker does not inherit."""
    return tuple(name for name in _DROPPED if environment.get(name))
