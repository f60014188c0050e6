"""The files of a simulated process that only an inspection reads: open files, maps, limits and I/O."""

from typing import Final

from gputop.simulator.plan import ProcessPlan

LIMITS: Final = (
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max processes             4123456              4123456              processes \n"
    "Max open files            1048576              1048576              files     \n"
    "Max locked memory         unlimited            unlimited            bytes     \n"
)
_CUDA: Final = (
    ("/usr/lib/x86_64-linux-gnu/libcuda.so.570.124.06", 0x4A0_0000),
    ("/usr/local/cuda/lib64/libcublasLt.so.12", 0x2B00_0000),
    ("/usr/local/cuda/lib64/libcudart.so.12", 0x00B_0000),
)
_BASE: Final = 0x7F10_0000_0000
_READ_A_SECOND: Final = 41_000_000


def directory(plan: ProcessPlan) -> str:
    """Return the working directory of a process."""
    return "/" if plan.uid == 0 else f"/scratch/u{plan.uid}"


def open_files(plan: ProcessPlan) -> dict[str, str]:
    """Return the open files by descriptor: a terminal or logs, a socket, and the devices of its GPUs."""
    outside = f"/dev/pts/{plan.terminal % 256}" if plan.terminal else "/dev/null"
    targets = [outside, outside, outside, f"socket:[{plan.pid * 7}]", "anon_inode:[eventpoll]"]
    if plan.uses:
        devices = ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm"]
        devices += [f"/dev/nvidia{use.gpu}" for use in plan.uses for _ in range(4)]
        targets += devices
    return {str(number): target for number, target in enumerate(targets)}


def maps(plan: ProcessPlan) -> str:
    """Return the mapped files: the program, the C library, and those of CUDA if it uses a GPU."""
    program = plan.command[0] if plan.command and plan.command[0].startswith("/") else f"/usr/bin/{plan.name}"
    files = [(program, 0x60_0000), ("/usr/lib/x86_64-linux-gnu/libc.so.6", 0x1E_0000)]
    files += _CUDA if any("C" in use.type for use in plan.uses) else ()
    lines, at = [], _BASE
    for number, (path, size) in enumerate(files):
        lines.append(f"{at:x}-{at + size:x} r-xp 00000000 08:02 {91_000 + number}                    {path}\n")
        at += size
    return "".join(lines) + f"{at:x}-{at + 0x2100_0000:x} rw-p 00000000 00:00 0\n"


def transfers(plan: ProcessPlan, age_s: float) -> str:
    """Return the bytes that went through system calls; a process that uses a GPU reads data all the time."""
    read = int(age_s * (_READ_A_SECOND if plan.uses else 900))
    return (
        f"rchar: {read}\nwchar: {read // 40}\nsyscr: {read // 9000}\nsyscw: {read // 90_000}\n"
        f"read_bytes: {read // 5 // 4096 * 4096}\nwrite_bytes: {read // 50 // 4096 * 4096}\ncancelled_write_bytes: 0\n"
    )
