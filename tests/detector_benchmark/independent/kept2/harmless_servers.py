"""Harmless: inference servers that wait for requests, poll, burst, and prefill."""

from detector_benchmark.independent.activity import COLLECTIVE, DECODE, DIFFUSION, IDLE, PREFILL, SPIN, TRICKLE, mix
from detector_benchmark.independent.actors import docker, service
from detector_benchmark.independent.boards import (
    A30_MIG,
    A100,
    A6000,
    B200,
    H100,
    H200,
    L4,
    L40S,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    T4,
    Board,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Part, cycle, level, phases
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import serves, wait_on
from detector_benchmark.independent.world import World


def _server(
    seed: int, board: Board, command: str, does: Part, share: float, *, until_s: float = 2000, allows: str = ""
) -> Scene:
    mib = share * (board.memory_mib - board.reserved_mib) // 2 * 2
    main = program("server", command, 0, does, level(mib), terminal=0, cgroup=service("inference"), age_s=50000.0)
    world = World([board], [main], seed=seed, interval_s=2.0)
    return Scene(world=world, until_s=until_s, allows=allow(allows))


def server_without_requests_at_night(seed: int) -> Scene:
    """A vLLM server has no request for an hour at night; its scheduler sleeps, 90 % of the board is taken."""
    draw = Draw(seed, "serve1")
    does = phases(serves(draw, draw.work(DECODE), each_s=20, for_s=8), (draw.between(300, 600), IDLE.but(cpu=2)))
    return _server(
        seed, H100, "python3 -m vllm.entrypoints.openai.api_server --port 8000", does, 0.9, until_s=4000, allows="idle"
    )


def scheduler_that_polls_by_design(seed: int) -> Scene:
    """An SGLang server polls its queue at 100 % of a core between requests that come every few minutes."""
    draw = Draw(seed, "serve2")
    polls = IDLE.but(cpu=100, state="R")
    does = serves(draw, draw.work(DECODE), each_s=150, for_s=20, rest=polls)
    command = "python3 -m sglang.launch_server --model m --host 0.0.0.0 --port 30000"
    return _server(seed, L40S, command, does, 0.88, allows="idle~ spin~")


def tensor_parallel_server_waits_in_a_collective(seed: int) -> Scene:
    """Eight ranks of a server wait for requests inside a collective: 100 % at 150 W for a quarter of an hour."""
    draw = Draw(seed, "serve3")
    does = serves(draw, draw.work(DECODE), each_s=500, for_s=25, rest=COLLECTIVE)
    command = "python3 -m sglang.launch_server --tp 8 --port 30000"
    actors = ranks(range(8), lambda rank: does, level(72000), command=command, launcher="spawn", age_s=80000.0)
    return Scene(world=World([H100] * 8, actors, seed=seed), until_s=2000, allows=allow("hang~"))


def voice_server_with_a_persistent_kernel(seed: int) -> Scene:
    """A voice server keeps a kernel that polls for audio: 100 %, little power, with calls at any time."""
    draw = Draw(seed, "serve4")
    does = serves(draw, draw.work(PREFILL).but(util=100), each_s=300, for_s=12, rest=SPIN)
    return _server(seed, A6000, "/opt/riva/bin/riva_server --port 50051", does, 0.3, allows="kernel~ tiny~")


def bursts_of_requests(seed: int) -> Scene:
    """Bursts of 1 to 20 s, some each minute, on an RTX 4090 that serves a small model."""
    draw = Draw(seed, "serve5")
    does = serves(draw, draw.work(DECODE), each_s=15, for_s=6)
    return _server(seed, RTX_4090, "ollama serve", does, 0.55)


def single_small_requests(seed: int) -> Scene:
    """A trickle of single small requests keeps a T4 at 4 to 9 % for hours."""
    draw = Draw(seed, "serve6")
    return _server(seed, T4, "tritonserver --http-port 8000", draw.work(TRICKLE), 0.4)


def very_long_prefill(seed: int) -> Scene:
    """Prompts of a million tokens: prefill for two to four minutes at full power, then decoding for one."""
    draw = Draw(seed, "serve7")
    does = cycle((draw.between(120, 240), draw.work(PREFILL)), (60, draw.work(DECODE)), (30, IDLE))
    return _server(seed, B200, "trtllm-serve big --port 8000", does, 0.85)


def speculative_decoding(seed: int) -> Scene:
    """A draft model and a target model take turns: small kernels and large ones, a CPU thread that is always busy."""
    draw = Draw(seed, "serve8")
    drafts = DECODE.but(util=88, share=0.2, mc=31, sm=22, dram=30)
    does = mix((0.45, drafts), (0.55, draw.work(DECODE)))
    return _server(seed, A100, "python3 -m vllm.entrypoints.openai.api_server --speculative-model d", does, 0.9)


def prefill_and_decode_on_different_boards(seed: int) -> Scene:
    """Two boards do the prefill in bursts at full power, two decode all the time at half of it, by design."""
    draw = Draw(seed, "serve9")
    fills = serves(draw, draw.work(PREFILL), each_s=12, for_s=9)
    does = lambda rank: fills if rank < 2 else phases(draw.work(DECODE))
    actors = ranks(
        range(4), does, level(110_000), command="python -m dynamo.vllm --port 8000", launcher="spawn", age_s=9000.0
    )
    return Scene(world=World([H200] * 4, actors, seed=seed), until_s=1500, allows=allow("straggler~"))


def voice_model_used_once_an_hour(seed: int) -> Scene:
    """A speech recognizer in a container is called some times an hour; it keeps 3 GiB of an L4 ready."""
    draw = Draw(seed, "serve10")
    does = serves(draw, draw.work(PREFILL), each_s=900, for_s=7)
    main = program(
        "asr", "gunicorn -w 1 app:asr --bind 0.0.0.0:9000", 0, does, level(3100), terminal=0, cgroup=docker("9")
    )
    return Scene(world=World([L4], [main], seed=seed, interval_s=5.0), until_s=4500, allows=allow("idle"))


def server_that_unloads_its_model(seed: int) -> Scene:
    """Ollama unloads its model after five minutes without a request, and loads it again for the next one."""
    draw = Draw(seed, "serve11")
    busy = cycle((60, draw.work(DECODE)), (300, IDLE), (240, IDLE.but(cpu=0)))
    runner = [
        program(
            f"runner{n}",
            "ollama runner --model m --port 39871",
            0,
            busy,
            level(17000),
            from_s=600.0 * n,
            until_s=600.0 * n + 360,
            terminal=0,
            parent="serve",
        )
        for n in range(4)
    ]
    lead = program("serve", "ollama serve", 0, IDLE, level(130), terminal=0, cgroup=service("ollama"))
    return Scene(world=World([RTX_3090], [lead, *runner], seed=seed), until_s=2300)


def image_queue_with_a_cold_hour(seed: int) -> Scene:
    """A queue of image requests runs dry for 25 min; the worker sleeps on its queue, and works when they come back."""
    draw = Draw(seed, "serve12")
    work = draw.work(DIFFUSION)
    does = phases(work, (400, IDLE.but(cpu=1)), (400 + draw.between(1200, 1600), work))
    return _server(seed, PRO_6000, "python -m celery -A images worker", does, 0.3, until_s=2600, allows="idle stalled~")


def small_models_in_slices(seed: int) -> Scene:
    """Three slices of an A30 serve three small models; one of them has no request this half hour."""
    draw = Draw(seed, "serve13")
    parts: list[Part] = [draw.work(DECODE), serves(draw, draw.work(PREFILL), each_s=30, for_s=8), phases(IDLE)]
    actors = [
        program(f"s{n}", f"tritonserver --http-port 800{n}", 0, part, level(3800), instance=id_, terminal=0)
        for n, (part, id_) in enumerate(zip(parts, (3, 5, 6), strict=True))
    ]
    return Scene(world=World([A30_MIG], actors, seed=seed), until_s=2400, allows=allow("idle", "s2 gpu:0"))


def two_ranks_serve_over_pcie(seed: int) -> Scene:
    """Two ranks of a server without NVLink: bursts of requests each half minute, waits that poll host memory."""
    draw = Draw(seed, "serve14")
    does = serves(draw, draw.work(DECODE), each_s=30, for_s=14, rest=wait_on(L40S))
    command = "python3 -m vllm.entrypoints.openai.api_server -tp 2 --port 8000"
    actors = ranks(range(2), lambda rank: does, level(40000), command=command, launcher="spawn", age_s=7000.0)
    return Scene(world=World([L40S] * 2, actors, seed=seed), until_s=1700)
