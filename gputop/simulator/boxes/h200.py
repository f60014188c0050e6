"""One H200 that serves a language model: bursts of requests, and a small reranker on the same GPU."""

from gputop.simulator.boards import H200
from gputop.simulator.boxes.parts import BOB, DAY, DORA, GIB, USERS, docker, gib, mib, system, threads
from gputop.simulator.curve import Curve, Wave, noise
from gputop.simulator.load import embedding, serving
from gputop.simulator.plan import BoxPlan, GpuPlan, ProcessPlan, ThreadPlan, Use

_UPTIME_S = 41.0 * DAY
_SERVE = (
    "/usr/bin/python3", "/usr/local/bin/vllm", "serve", "meta-llama/Llama-3.3-70B-Instruct", "--quantization", "fp8",
    "--max-model-len", "32768", "--port", "8000", "--api-key", "0123456789-not-a-key",
)  # fmt: skip


def plan() -> BoxPlan:
    """Return the box."""
    return BoxPlan(
        host="serve-2", driver="575.57.08", cuda=12_090, users=USERS, viewer=DORA, cores=32,
        memory_bytes=int(504 * GIB), swap_bytes=int(8 * GIB), uptime_s=_UPTIME_S, background=Curve(0.8),
        gpus=(GpuPlan(board=H200, bus=0x1A, warmer_c=3.0),),
        processes=(*system(_UPTIME_S), *_language_model(), _reranker()),
    )  # fmt: skip


def _language_model() -> list[ProcessPlan]:
    cgroup = docker("vllm")
    environ = {"VLLM_USE_V1": "1", "CUDA_VISIBLE_DEVICES": "0", "HOSTNAME": "vllm-0"}
    server = ProcessPlan(
        pid=20_117, parent=1203, uid=DORA, age_s=5.2 * DAY, command=_SERVE, name="vllm", cgroup=cgroup, inner_pid=1,
        memory=gib(3.1), environ=environ, threads=threads(0.55, seed=3, helpers=0.12, idle=70),
    )  # fmt: skip
    engine = ProcessPlan(
        pid=20_394, parent=20_117, uid=DORA, age_s=5.2 * DAY - 19, command=("VLLM::EngineCore",),
        name="VLLM::EngineCore", cgroup=cgroup, inner_pid=112, memory=gib(11.8), environ=environ,
        threads=(
            *threads(0.99, seed=4),
            ThreadPlan(name="cuda-EvtHandlr", cpu=Curve(0.02)),
            ThreadPlan(name="tokenizer", cpu=Curve(0.3, noise(0.2, 9))),
            ThreadPlan(cpu=Curve(), count=44),
        ),
        uses=(
            Use(
                gpu=0, activity=serving(39.0, 1),
                memory=Curve(122.6 * GIB, (Wave(0.4 * GIB, 127.0), Wave(0.2 * GIB, 31.0))),
            ),
        ),
    )  # fmt: skip
    return [server, engine]


def _reranker() -> ProcessPlan:
    return ProcessPlan(
        pid=33_870, parent=1, uid=BOB, age_s=1.4 * DAY, name="uvicorn", memory=mib(2900), nice=10,
        command=("/home/bob/rerank/.venv/bin/python", "-m", "uvicorn", "rerank:app", "--workers", "1"),
        cgroup="/user.slice/user-1002.slice/user@1002.service/app.slice/rerank.service",
        threads=threads(0.05, seed=5, idle=24),
        uses=(Use(gpu=0, memory=gib(3.4), activity=embedding(2.0, 3)),),
    )  # fmt: skip
