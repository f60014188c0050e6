"""The role of a process: a server may wait for ever, a notebook for its owner, a rank for its peers.

Command line and framework decide, never listening sockets: the ranks of torchrun listen too, for each other.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from gputop.core.model.sample import HostProcess
from gputop.core.processes.program import arguments_of, program_of

SERVERS: Final = (
    "vLLM", "SGLang", "TGI", "TEI", "Triton", "TensorRT-LLM", "TF Serving", "TorchServe", "Ollama", "llama.cpp",
    "ComfyUI", "uvicorn", "gunicorn", "MPS server", "Jupyter server", "Blender", "desktop",
)  # fmt: skip
_NOT_SERVING: Final = ("llama-cli", "llama-bench")
_SERVING_ACTORS: Final = ("ray::serve", "ray::idle", "ray::vllm", "ray::engine")
_SERVING_FLAGS: Final = frozenset(  # with an address, which the rendezvous of a job has under other names
    {"--listen", "--port", "--http-port", "--http_port", "--grpc-port", "--grpc_port", "--server-port", "--server_port",
     "--server-name", "--rest_api_port", "--uds", "--bind"}
)  # fmt: skip
_SERVING_NAMES: Final = (  # in the name of a script, module or program
    "serve", "webui", "gradio", "api_server", "inference_server", "text_generation_launcher", "streamlit", "fastapi",
    "flask", "celery", "bentoml", "trtllm", "lmdeploy", "aphrodite", "koboldcpp", "xinference", "tabbyapi",
)  # fmt: skip
_SERVING_FOLDERS: Final = ("webui", "fooocus", "invokeai", "swarmui")  # of the script: tools with a page in a browser
_NOTEBOOKS: Final = ("Jupyter kernel",)
_PROMPTS: Final = frozenset({"shell", "console", "repl", "prompt", "interactive"})  # words of the name of a script
_SHELLS_OF_PYTHON: Final = ("ipython", "bpython", "ptpython", "IPython")
_DEBUGGERS: Final = frozenset({"pdb", "ipdb", "pudb", "pdbpp", "debugpy", "pydevd", "gdb", "cuda-gdb", "lldb"})
_SESSIONS: Final = frozenset(  # a person works with them, unless their arguments name the work
    {"r", "rstudio", "rsession", "matlab", "octave", "octave-cli", "octave-gui", "julia", "sage", "maple",
     "mathematica", "wolfram", "wolframkernel", "mathkernel", "idl", "gnuplot", "spyder", "paraview", "vmd", "pymol",
     "chimerax", "ovito", "houdini", "maya.bin", "nuke", "resolve", "unity", "unrealeditor", "ghci", "lua", "root.exe"}
)  # fmt: skip
_WORK_FLAGS: Final = frozenset(
    {"-batch", "--batch", "-r", "-e", "-f", "-c", "--eval", "--file", "--script", "--command"}
)
_LOADERS: Final = ("data loader", "worker process")
_DAEMONS: Final = ("nvidia-cuda-mps", "nv-hostengine", "dcgm", "nvidia-persistenced")
_DRAWS: Final = "C+G"
_DEEPEST: Final = 8  # ancestors to check


class Role(Struct, frozen=True, gc=False):
    """The role of a process.

    ``is_daemon``: it belongs to the driver or the desktop. ``is_interactive``: a notebook or a prompt.
    ``is_attended``: a person may sit before it: it has a terminal or draws. ``world``: number of ranks of its job.
    """

    is_server: bool = False
    is_daemon: bool = False
    is_interactive: bool = False
    is_attended: bool = False
    world: int | None = None


def role_of(process: HostProcess, by_pid: Mapping[int, HostProcess]) -> Role:
    """Return the role of a process. A child of a server is part of the server. ``by_pid``: to find its ancestors."""
    owner = process.owner
    is_daemon, is_interactive = _daemon_or_prompt(process.command, owner.framework)
    parent = by_pid.get(process.parent_pid or 0)
    return _role(
        is_server=any(serves(one.command, one.owner.framework) for one in _lineage(process, by_pid)),
        is_daemon=is_daemon,
        is_interactive=is_interactive or (parent is not None and _is_debugger(parent.command)),
        is_attended=owner.terminal is not None or any(use.type == _DRAWS for use in process.gpus),
        world=owner.world_size,
    )


def is_loader(child: HostProcess, parent: HostProcess) -> bool:
    """Return whether a child prepares data, by its name or as a fork of its parent."""
    return child.owner.framework in _LOADERS or child.command == parent.command


def _lineage(process: HostProcess, by_pid: Mapping[int, HostProcess]) -> list[HostProcess]:
    line = [process]
    for _ in range(_DEEPEST):
        parent = by_pid.get(line[-1].parent_pid or 0)
        if parent is None or parent.user != process.user:
            break
        line.append(parent)
    return line


@lru_cache(256)
def _role(*, is_server: bool, is_daemon: bool, is_interactive: bool, is_attended: bool, world: int | None) -> Role:
    """Return a role; thousands of processes share a few."""
    return Role(is_server, is_daemon, is_interactive, is_attended, world)


@lru_cache(256)
def serves(command: str, framework: str | None = None) -> bool:
    """Return whether it is a server; cached, because thousands of processes have the same ancestors."""
    if command.lower().startswith(_SERVING_ACTORS):
        return True
    if any(name in command[:200] for name in _NOT_SERVING):
        return False
    what = program_of(command)
    known = framework or what.known
    if known is not None:
        return known.startswith(SERVERS)
    if what.leads and what.known is not None:
        return False  # the port of a launcher is a rendezvous
    folders, _, name = (what.script or what.name).lower().rpartition("/")
    if any(part in folders for part in _SERVING_FOLDERS):
        return True
    flags = {argument.partition("=")[0] for argument in arguments_of(command)[1:]}
    return any(part in name for part in _SERVING_NAMES) or not _SERVING_FLAGS.isdisjoint(flags)


@lru_cache(256)
def _daemon_or_prompt(command: str, framework: str | None) -> tuple[bool, bool]:
    """Return whether it belongs to the driver or the desktop, and whether it is a notebook or a prompt."""
    name = command[:200]
    is_daemon = framework in ("desktop", "MPS server") or any(one in name for one in _DAEMONS)
    return is_daemon, _is_prompt(command, framework)


@lru_cache(256)
def _is_debugger(command: str) -> bool:
    what = program_of(command)
    return (what.script or what.name).rpartition("/")[2].removesuffix(".py") in _DEBUGGERS


def _is_prompt(command: str, framework: str | None) -> bool:
    what = program_of(command)
    if (framework or what.known or "").startswith(_NOTEBOOKS):
        return True
    name = (what.script or what.name).rpartition("/")[2]
    if name in _SHELLS_OF_PYTHON or name.removesuffix(".py") in _DEBUGGERS:
        return True
    if not _PROMPTS.isdisjoint(_words(name.removesuffix(".py"))):
        return True
    if what.name.lower() in _SESSIONS and not _names_work(what.script, arguments_of(command)[1:]):
        return True
    if not what.name.startswith("python"):
        return False
    arguments = arguments_of(command)
    script = arguments.index(what.script) if what.script in arguments else len(arguments)
    return "-i" in arguments[1:script] or len(arguments) == 1


def _names_work(script: str | None, arguments: list[str]) -> bool:
    """Return whether the arguments of a session name a script, an expression or an input."""
    flags = {argument.partition("=")[0] for argument in arguments}
    is_named = script is not None or any(argument[:1] not in ("", "-", "+") for argument in arguments)
    return is_named or not _WORK_FLAGS.isdisjoint(flags)


def _words(name: str) -> list[str]:
    return name.replace("-", "_").replace(".", "_").split("_")
