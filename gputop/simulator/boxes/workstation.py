"""Two consumer boards: many metrics are unsupported; a desktop, Blender, a screen recorder, an image generator."""

from gputop.simulator.boards import RTX_3090, RTX_4090
from gputop.simulator.boxes.parts import GIB, HOUR, gib, mib, system, threads
from gputop.simulator.curve import Curve, Ramp
from gputop.simulator.load import diffusion, drawing, recording
from gputop.simulator.plan import BoxPlan, GpuPlan, ProcessPlan, ThreadPlan, Use

_UPTIME_S = 9.7 * HOUR
_DORA = 1000
_APPS = "/user.slice/user-1000.slice/user@1000.service/app.slice"


def plan() -> BoxPlan:
    """Return the box."""
    return BoxPlan(
        host="studio", driver="575.57.08", cuda=12_090, users={0: "root", _DORA: "dora"}, viewer=_DORA, cores=24,
        memory_bytes=int(62.6 * GIB), swap_bytes=int(16 * GIB), uptime_s=_UPTIME_S, kernel="6.14.0-24-generic",
        gpus=(
            GpuPlan(board=RTX_4090, bus=0x01, warmer_c=2.0),
            GpuPlan(board=RTX_3090, bus=0x0A, limit_w=300.0),
        ),
        processes=(*system(_UPTIME_S), *_desktop(), *_applications()),
    )  # fmt: skip


def _desktop() -> list[ProcessPlan]:
    return [
        ProcessPlan(
            pid=2104, uid=0, age_s=_UPTIME_S - 20, command=("/usr/lib/xorg/Xorg", "vt2", "-displayfd", "3"),
            memory=mib(196), cgroup="/system.slice/gdm.service", threads=threads(0.04, seed=1, idle=12), terminal=1026,
            uses=(
                Use(gpu=0, type="G", memory=mib(412), activity=drawing(2.5, 1)),
                Use(gpu=1, type="G", memory=mib(6), activity=drawing(0.0, 1)),
            ),
        ),
        ProcessPlan(
            pid=2390, uid=_DORA, age_s=_UPTIME_S - 31, command=("/usr/bin/gnome-shell",), memory=mib(480),
            cgroup="/user.slice/user-1000.slice/user@1000.service/session.slice/org.gnome.Shell@x11.service",
            threads=threads(0.07, seed=2, idle=21),
            uses=(Use(gpu=0, type="G", memory=mib(238), activity=drawing(3.0, 2)),),
        ),
        ProcessPlan(
            pid=4471, parent=2390, uid=_DORA, age_s=5.2 * HOUR, name="RDD Process", memory=mib(310),
            command=("/usr/lib/firefox/firefox", "-contentproc", "-parentBuildID", "20250601", "rdd"),
            cgroup=f"{_APPS}/app-gnome-firefox-4102.scope", threads=threads(0.08, seed=3, idle=15),
            uses=(Use(gpu=0, type="G", memory=mib(174), activity=drawing(1.2, 3)),),
        ),
    ]  # fmt: skip


def _applications() -> list[ProcessPlan]:
    blender = ProcessPlan(
        pid=8852, parent=2390, uid=_DORA, age_s=2.4 * HOUR, memory=gib(6.4),
        command=("/opt/blender-4.4/blender", "/home/dora/Bücher/Szene – 最終.blend"),
        cgroup=f"{_APPS}/app-gnome-blender-8852.scope",
        threads=(*threads(0.82, seed=4), ThreadPlan(name="cycles worker", cpu=Curve(0.31), count=6)),
        uses=(Use(gpu=0, type="C+G", memory=Curve(6.9 * GIB, (Ramp(1.2 * GIB, 700.0),)), activity=drawing(36.0, 4)),),
    )  # fmt: skip
    recorder = ProcessPlan(
        pid=9120, parent=2390, uid=_DORA, age_s=0.6 * HOUR, memory=mib(540),
        cgroup=f"{_APPS}/app-gnome-obs-9120.scope", command=("obs", "--startrecording", "--scene", "tutorial"),
        threads=threads(0.22, seed=5, helpers=0.12, idle=30),
        uses=(Use(gpu=0, type="C+G", memory=mib(690), activity=recording()),),
    )  # fmt: skip
    generator = ProcessPlan(
        pid=9777, parent=1, uid=_DORA, age_s=3.1 * HOUR, memory=gib(9.6), name="python",
        command=("/home/dora/ComfyUI/.venv/bin/python", "main.py", "--listen", "--preview-method", "taesd"),
        cgroup="/user.slice/user-1000.slice/session-2.scope", terminal=34_817,
        environ={"TMUX": "/run/tmux-1000/default"},
        threads=threads(0.66, seed=6, idle=40),
        uses=(Use(gpu=1, memory=gib(17.3), activity=diffusion(90.0, 1)),),
    )  # fmt: skip
    return [blender, recorder, generator]
