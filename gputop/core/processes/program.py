"""The program of a command line, the script or module under an interpreter, and its common name."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

_MOST_REMEMBERED: Final = 8192  # command lines: more than a crowded host has, or each reading would forget them all
_PYTHON: Final = ("python", "pypy")
_SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh", "ksh", "fish", "tcsh", "csh"})
_INTERPRETERS: Final = _SHELLS | {"perl", "ruby", "node", "julia", "Rscript"}
_TAKES_A_VALUE: Final = frozenset({"-W", "-X", "--check-hash-based-pycs"})

_KNOWN: Final = {  # program, script or module: its common name
    "vllm": "vLLM", "sglang": "SGLang", "text-generation-launcher": "TGI", "text-generation-server": "TGI",
    "text-generation-router": "TGI", "text-embeddings-router": "TEI", "tritonserver": "Triton",
    "triton_python_backend_stub": "Triton", "trtllm-serve": "TensorRT-LLM", "tensorrt_llm": "TensorRT-LLM",
    "tensorflow_model_server": "TF Serving", "torchserve": "TorchServe", "ollama": "Ollama",
    "ollama_llama_server": "Ollama", "llama-server": "llama.cpp", "llama-cli": "llama.cpp", "comfyui": "ComfyUI",
    "ipykernel_launcher": "Jupyter kernel", "ipykernel": "Jupyter kernel", "jupyter": "Jupyter server",
    "jupyter-lab": "Jupyter server", "jupyter-notebook": "Jupyter server", "jupyterlab": "Jupyter server",
    "jupyterhub": "Jupyter server", "jupyterhub-singleuser": "Jupyter server",
    "torchrun": "torchrun", "torch.distributed.run": "torchrun", "torch.distributed.launch": "torchrun",
    "deepspeed": "DeepSpeed", "accelerate": "Accelerate", "horovodrun": "Horovod", "mpirun": "MPI", "mpiexec": "MPI",
    "mpiexec.hydra": "MPI", "hydra_pmi_proxy": "MPI", "orterun": "MPI", "orted": "MPI", "prterun": "MPI",
    "prted": "MPI", "srun": "Slurm", "raylet": "Ray", "lm_eval": "lm-eval", "lm-eval": "lm-eval", "uvicorn": "uvicorn",
    "gunicorn": "gunicorn", "nvidia-cuda-mps-server": "MPS server", "Xorg": "desktop", "Xwayland": "desktop",
    "gnome-shell": "desktop", "kwin_x11": "desktop", "kwin_wayland": "desktop", "plasmashell": "desktop",
    "blender": "Blender", "gmx": "GROMACS", "gmx_mpi": "GROMACS",
}  # fmt: skip
_TITLES: Final = {"vllm::": "vLLM", "sglang::": "SGLang", "ray::": "Ray worker", "ray_": "Ray worker"}
LAUNCHERS: Final = frozenset({"torchrun", "DeepSpeed", "Accelerate", "Horovod", "MPI", "Slurm", "Ray"})
_SERVERS_OF_MANY: Final = frozenset({"Jupyter server", "desktop"})  # their children have nothing in common


_BORDERS: Final = frozenset(  # parents of processes that have nothing else in common
    {
        "init", "systemd", "sshd", "sshd:", "sshd-session", "sshd-session:", "mosh-server", "login", "su", "sudo",
        "doas", "tmux", "tmux:", "screen", "SCREEN", "zellij", "dtach", "abduco",
        "slurmd", "slurmstepd", "slurmstepd:", "pbs_mom", "sge_shepherd", "condor_starter",
        "conmon", "crun", "runc", "docker-init", "tini", "dumb-init", "catatonit", "dockerd", "containerd",
        "containerd-shim", "containerd-shim-runc-v2", "kubelet", "lxc-start",
        "cron", "crond", "CRON", "atd", "supervisord", "runsv", "s6-supervise", "celery", "airflow",
        "lightdm", "gdm-session-worker", "gnome-session-binary", "gnome-terminal-server", "konsole", "xterm", "kitty",
        "alacritty", "code", "code-server", "node",
    }
)  # fmt: skip


class Program(Struct, frozen=True):
    """A program. ``name``: executable without its directory. ``script``: script or module that an interpreter runs.

    ``known``: its common name, by the program itself and never by its arguments; None if unknown.
    ``is_border``: it and its ancestors do not belong to the job that it started: init, sshd, a shell. ``leads``: its
    children belong together: a launcher, or a program in Python.
    """

    name: str
    script: str | None = None
    known: str | None = None
    is_border: bool = False
    leads: bool = False

    @property
    def text(self) -> str:
        """Return its short name."""
        return self.known or _base(self.script or self.name)


def program(arguments: Sequence[str]) -> Program:
    """Return the program of the arguments. A title that setproctitle wrote is one argument."""
    if not arguments:
        return Program("")
    title = arguments[0]
    first = title.split(" ")[0] if len(arguments) == 1 else title
    name = _base(first)
    low = title.lower()
    for prefix, of_title in _TITLES.items():
        if low.startswith(prefix):
            return Program(name, None, of_title, leads=True)
    script = _script(arguments[1:], name) if name.startswith(_PYTHON) or name.lstrip("-") in _INTERPRETERS else None
    known = _known(script or name) or _comfy(first, script)
    return Program(name, script, known, _is_border(name.lstrip("-"), script, known), _leads(name, known))


@lru_cache(_MOST_REMEMBERED)
def program_of(command: str) -> Program:
    """Return the program of a command line joined by blanks; wrong if a path contains a blank."""
    return program(arguments_of(command))


def arguments_of(command: str) -> list[str]:
    """Return the arguments of a command line joined by blanks; wrong if a path contains a blank."""
    return command.split(" ")


def _is_border(name: str, script: str | None, known: str | None) -> bool:
    if name in _SHELLS:
        return script is None
    return name in _BORDERS or _base(script or "") in _BORDERS or known in _SERVERS_OF_MANY


def _leads(name: str, known: str | None) -> bool:
    return known not in _SERVERS_OF_MANY if known else name.startswith(_PYTHON)


def _script(arguments: Sequence[str], name: str) -> str | None:
    is_value = False
    for at, argument in enumerate(arguments):
        if is_value:
            is_value = False
        elif argument == "-m" and name.startswith(_PYTHON):
            return arguments[at + 1] if at + 1 < len(arguments) else None
        elif argument == "-c":
            return "-c"
        elif argument in _TAKES_A_VALUE:
            is_value = True
        elif argument and not argument.startswith("-"):
            return argument
    return None


def _known(what: str) -> str | None:
    """Return the common name of a program, a script without suffix or a module: ``vllm.entrypoints.openai`` is vLLM."""
    name = _base(what)
    if name.endswith((".py", ".sh")):
        return None
    while name:
        if name in _KNOWN:
            return _KNOWN[name]
        name = name.rpartition(".")[0]
    return None


def _comfy(first: str, script: str | None) -> str | None:
    folders = f"{first}/{script}".lower().split("/")[:-1]
    return "ComfyUI" if "comfyui" in folders else None


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
