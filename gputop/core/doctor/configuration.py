"""Checks of settings: compute mode, environment, MIG, firmware, plugins."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Final

from gputop.core.doctor.each import about, detail, judged, missing, numbers, of, reset, said, unread, why_none
from gputop.core.doctor.facts import Facts, ProgressFolder
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, warn
from gputop.core.model.catalogue import COMPUTE_MODE, MIG_MODE, MIG_MODE_PENDING
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu
from gputop.core.text.text import clean

_HARMFUL: Final = {  # DCGM's list
    "NSIGHT_CUDA_DEBUGGER": "attaches a debugger to every CUDA program",
    "CUDA_INJECTION32_PATH": "loads a library into every CUDA program",
    "CUDA_INJECTION64_PATH": "loads a library into every CUDA program",
    "CUDA_AUTO_BOOST": "changes the clocks",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "writes the GPU's memory to disk at an error",
    "CUDA_COREDUMP_FILE": "writes the GPU's memory to disk at an error",
    "CUDA_DEVICE_WAITS_ON_EXCEPTION": "makes programs wait at an error",
    "CUDA_PROFILE": "profiles every CUDA program",
    "COMPUTE_PROFILE": "profiles every CUDA program",
    "OPENCL_PROFILE": "profiles every OpenCL program",
}
_KEEPERS: Final = ("gputop-mig.service", "nvidia-mig-manager.service", "kubelet.service")
_FIX_OPEN: Final = "Take the right to write from others:"
_FIX_FOREIGN: Final = "Look at it, then remove it; the next report of a job makes it again:"
_VISIBLE: Final = "CUDA_VISIBLE_DEVICES"
_PATHS: Final = ("stubs", "/cuda/compat")


def compute_mode(facts: Facts) -> Verdicts:
    """Report GPUs that only one process may use, or none."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return info(
            f"{about(gpus)}: the compute mode does not allow several processes",
            evidence=[f"GPU {gpu.index}: compute mode {said(gpu, COMPUTE_MODE)}" for gpu in gpus],
            fix=(f"To allow several processes: sudo nvidia-smi -i {numbers(gpus)} -c 0",),
        )

    return judged(facts, of(COMPUTE_MODE), lambda mode: mode != "default", verdict, "several processes may share a GPU")


def environment(facts: Facts) -> Verdicts:
    """Judge environment variables that slow CUDA programs down, hide GPUs or load the wrong library."""
    found = [
        warn(
            f"{name} is set: it {what}",
            evidence=(f"{name}={clean(facts.environment[name])}",),
            fix=(f"$ unset {name}",),
        )
        for name, what in _HARMFUL.items()
        if facts.environment.get(name)
    ]
    found += _visible(facts, facts.environment)
    found += [
        warn(
            "LD_LIBRARY_PATH points to libraries that are not the driver's",
            evidence=(clean(part),),
            fix=("Remove this folder from LD_LIBRARY_PATH: stubs cannot run, and compat is for older drivers only.",),
        )
        for part in facts.environment.get("LD_LIBRARY_PATH", "").split(":")
        if any(part.rstrip("/").endswith(path) for path in _PATHS)
    ]
    return found or ok("no environment variable interferes")


def mig_empty(facts: Facts) -> Verdicts:
    """Judge whether a GPU in MIG mode has no instance, so that no program can use it."""

    def answer(gpu: Gpu) -> object:
        mode = of(MIG_MODE)(gpu)
        return mode if isinstance(mode, Missing) else bool(mode) and not gpu.instances

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: MIG is on without any instance, so no program can run",
            evidence=("MIG mode enabled, 0 GPU instances",),
            fix=(
                "To see what fits: gputop mig status",
                f"$ sudo gputop mig apply all=1g --gpu {numbers(gpus)}",
                f"Or switch MIG off: sudo gputop mig apply off --gpu {numbers(gpus)}",
            ),
        )

    return judged(facts, answer, bool, verdict, "every GPU in MIG mode has instances")


def mig_pending(facts: Facts) -> Verdicts:
    """Judge whether a MIG mode change is waiting for a reset."""

    def answer(gpu: Gpu) -> object:
        now, then = of(MIG_MODE)(gpu), of(MIG_MODE_PENDING)(gpu)
        return missing(now, then) or now is not then

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        word = "on" if said(gpus[0], MIG_MODE_PENDING) else "off"
        return warn(
            f"{about(gpus)}: MIG turns {word} only after the next reset",
            evidence=[
                f"GPU {gpu.index}: current {said(gpu, MIG_MODE)}, pending {said(gpu, MIG_MODE_PENDING)}" for gpu in gpus
            ],
            fix=(*reset(gpus), "Or reboot. Monitors also keep the GPU open: see proc.monitors."),
        )

    return judged(facts, answer, bool, verdict, "no MIG mode change is pending")


def mig_service(facts: Facts) -> Verdicts:
    """Report MIG instances that no service restores after a reboot or a reset."""
    split = [gpu for gpu in facts.gpus if gpu.instances]
    if not split:
        return why_none(facts) or nothing("no GPU is partitioned")
    if facts.is_in_container:
        return nothing("in a container: check this on the host")
    if facts.services is None:
        return unread(facts, "services")
    keeper = next((name for name in facts.services if name in _KEEPERS), None)
    if keeper or not facts.services:
        return ok(f"{keeper} restores the instances") if keeper else nothing("no systemd")
    return info(
        f"{about(split)}: no service restores the MIG instances after a reboot",
        evidence=(f"none of {', '.join(_KEEPERS)} starts at boot",),
        fix=("Install the unit that gputop mig service prints; it restores them.",),
    )


def plugins(facts: Facts) -> Verdicts:
    """Judge whether gputop loaded all of its plugins."""
    if not facts.plugins:
        return nothing("gputop has no plugins")
    rejected = {name: why for name, why in facts.plugins.items() if why}
    if not rejected:
        return ok(f"{len(facts.plugins)} plugin{'s' if len(facts.plugins) > 1 else ''} loaded")
    return warn(
        f"gputop rejected {len(rejected)} of {len(facts.plugins)} plugins",
        evidence=[f"{clean(name)}: {clean(why)}" for name, why in rejected.items()],
        fix=("$ gputop plugins", "Update or uninstall the broken plugins, or install them where root alone can write."),
    )


def progress(facts: Facts) -> Verdicts:
    """Judge whether gputop believes the progress reports of every user."""
    if facts.progress is None:
        return unread(facts, "progress folders")
    refused = [one for one in facts.progress if not (one.is_theirs and one.is_folder) or one.is_open]
    if not refused:
        return (
            ok("the folders for progress reports have the correct owner")
            if facts.progress
            else nothing("no progress folders")
        )
    return [
        warn(
            f"gputop ignores the progress reports of {one.user}: {one.path} {_refusal(one)}",
            evidence=(f"{one.path}: owner {one.owner}, user {one.user}",),
            fix=(_FIX_OPEN if one.is_theirs and one.is_folder else _FIX_FOREIGN, f"$ {_command(one)}"),
        )
        for one in refused
    ]


def _command(one: ProgressFolder) -> str:
    if one.is_theirs and one.is_folder:
        return f"chmod go-w -- {quote(one.path)}"
    return f"sudo rm -r --one-file-system -- {quote(one.path)}"


def _refusal(one: ProgressFolder) -> str:
    if not one.is_folder:
        return "is not a folder"
    return "can be written by others" if one.is_theirs else f"belongs to {one.owner}"


def inforom(facts: Facts) -> Verdicts:
    """Judge whether the InfoROM, the board's own store of settings, is valid."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: the InfoROM is corrupt, so the board's counters and settings cannot be trusted",
            evidence=("NVML: InfoROM validation failed",),
            fix=("Update the board's firmware. If that does not help, have the board replaced.",),
        )

    answer = detail(facts, lambda details: details.inforom_is_valid)
    return judged(facts, answer, lambda is_valid: not is_valid, verdict, "every InfoROM is valid")


def gsp(facts: Facts) -> Verdicts:
    """Judge whether the GSP firmware is of the driver's version."""
    none = why_none(facts)
    if none:
        return none
    if facts.module is None:
        return unread(facts, "kernel module")
    known = {address: text for address, text in facts.module.gsp.items() if text}
    if not known:
        return nothing("the driver does not report the GSP firmware")
    version = facts.module.version
    wrong = {a: text for a, text in known.items() if text[0].isdigit() and version and text != version}
    off = [address for address, text in known.items() if not text[0].isdigit()]
    if wrong:
        return warn(
            "the GSP firmware does not match the driver's version",
            evidence=[f"{_named(facts, address)}: {text}, driver {version}" for address, text in wrong.items()],
            fix=("Reinstall the driver so that /lib/firmware/nvidia has its firmware, then reload it.",),
        )
    if off:
        return info(
            f"{len(off)} GPU{'s' if len(off) > 1 else ''} without GSP firmware",
            evidence=[f"{_named(facts, address)}: {clean(known[address])}" for address in off],
            fix=(
                "This is normal before Turing. If it was switched off, see NVreg_EnableGpuFirmware in /etc/modprobe.d.",
            ),
        )
    return ok(f"GSP firmware {version or 'is loaded'}")


def _visible(facts: Facts, environment: Mapping[str, str]) -> list[Verdict]:
    """Judge CUDA_VISIBLE_DEVICES; CUDA ignores every entry after the first one it does not know."""
    text = environment.get(_VISIBLE)
    if text is None:
        return []
    evidence = (f"{_VISIBLE}={clean(text)}",)
    fix = (f"$ unset {_VISIBLE}", "Or choose existing GPUs: gputop pick")
    words = [word.strip() for word in text.split(",")]
    if words in ([""], ["-1"], ["NoDevFiles"]):
        return [warn(f"{_VISIBLE} hides every GPU", evidence=evidence, fix=fix)]
    if not facts.is_up:
        return []
    wrong = [word for word in words if not _names_gpu(facts, word)]
    if not wrong:
        return []
    summary = f"{_VISIBLE} names {', '.join(map(clean, wrong))}, which does not exist"
    return [fail(summary, evidence=(*evidence, f"there are {len(facts.gpus)} GPUs"), fix=fix)]


def _names_gpu(facts: Facts, word: str) -> bool:
    if word.isdecimal():
        return int(word) < len(facts.gpus)
    if word.startswith("MIG-"):
        uuids = [c.uuid for gpu in facts.gpus for i in gpu.instances for c in i.compute_instances]
        return any(uuid.startswith(word) for uuid in uuids) or word.startswith("MIG-GPU-")
    return len(word) > 4 and any(gpu.uuid.startswith(word) for gpu in facts.gpus)


def _named(facts: Facts, address: str) -> str:
    index = facts.index_at(address)
    return address if index is None else f"GPU {index}"
