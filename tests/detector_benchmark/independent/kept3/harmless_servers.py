"""Servers: at low load, idle between requests, in groups that poll, with persistent kernels."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, FP32, IDLE, PREFILL, TRICKLE, Activity
from detector_benchmark.independent.actors import Actor, Use, docker, service
from detector_benchmark.independent.boards import A100, A6000, B200, H100, H100_MIG, H200, L4, L40S, RTX_4090, T4, Board
from detector_benchmark.independent.disturbances import bad_process_zeros
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, shell
from detector_benchmark.independent.scripts import Part, cycle, level, script, sometimes
from detector_benchmark.independent.sketches import jammed, mib_of, scene
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import serves, wait_on

_VLLM = "python -m vllm.entrypoints.openai.api_server --model m --port 8000"
_QUIET = jammed(1.5)


def _server(
    seed: int,
    board: Board,
    command: str,
    does: Part,
    share: float,
    *,
    until_s: float = 1800,
    allows: str = "idle~",
    disturb: Any = (),
    **more: Any,
) -> Scene:
    given = {"cgroup": docker("e"), "variables": {}, "terminal": 0} | more
    return scene(
        seed,
        [board],
        [program("serve", command, 0, does, mib_of(board, share), **given)],
        until_s,
        allows=allows,
        disturb=disturb,
    )


def _group(boards: Sequence[Board], command: str, does: Part, share: float) -> list[Actor]:
    """Return the workers of a tensor-parallel server."""
    lead = shell("api", command, cgroup=docker("e"))
    return [
        lead,
        *(
            Actor(
                name=f"tp{n}",
                command=f"VLLM::Worker_TP{n}",
                parent="api",
                threads=60,
                cgroup=docker("e"),
                uses=(Use(n, script(does), mib_of(board, share)),),
            )
            for n, board in enumerate(boards)
        ),
    ]


def bursts_and_rests_of_a_server(seed: int) -> Scene:
    """A vLLM server gets bursts of half a minute, and rests for some minutes between."""
    draw = Draw(seed, "k3serve1")
    does = serves(draw, draw.work(DECODE), each_s=150, for_s=35, rest=_QUIET)
    return _server(seed, H100, _VLLM, does, 0.9)


def trickle_of_small_requests(seed: int) -> Scene:
    """An embedding server answers single small requests all the time: some percent, little power."""
    draw = Draw(seed, "k3serve2")
    command = "text-embeddings-router --model-id m --port 3000"
    return _server(seed, L40S, command, TRICKLE.but(util=draw.between(3, 12)), 0.1)


def night_without_requests(seed: int) -> Scene:
    """A server of a company has no request for half an hour at night, and works again in the morning."""
    draw = Draw(seed, "k3serve3")
    work = cycle((20, draw.work(DECODE)), (15, _QUIET))
    does = lambda t_s: work(t_s) if t_s < 300 or t_s > 2100 else _QUIET
    return _server(seed, A100, _VLLM, does, 0.9, until_s=2500, allows="idle")


def idle_group_of_four_that_polls(seed: int) -> Scene:
    """Four workers of an old tensor-parallel engine wait for requests in a broadcast, at 100 %, for minutes, then serve."""
    draw = Draw(seed, "k3serve4")
    work = draw.work(DECODE).but(nv=9000)
    does = serves(draw, work, each_s=240, for_s=40, rest=COLLECTIVE)
    command = "python -m vllm.entrypoints.openai.api_server --model m --tensor-parallel-size 4 --port 8000"
    return scene(seed, [H100] * 4, _group([H100] * 4, command, does, 0.9), 1800, allows="hang~")


def idle_group_of_two_over_pcie(seed: int) -> Scene:
    """Two workers of a tensor-parallel server on RTX 4090 poll host memory until a request comes, each few minutes."""
    draw = Draw(seed, "k3serve5")
    does = serves(draw, draw.work(DECODE), each_s=160, for_s=30, rest=wait_on(RTX_4090))
    command = "python -m sglang.launch_server --model-path m --tp 2 --port 30000"
    return scene(seed, [RTX_4090] * 2, _group([RTX_4090] * 2, command, does, 0.85), 1700, allows="hang~")


def scheduler_that_burns_a_core_by_design(seed: int) -> Scene:
    """The scheduler of SGLang uses a whole core while it waits for requests; bursts come each minute or two."""
    draw = Draw(seed, "k3serve6")
    does = serves(draw, draw.work(DECODE), each_s=70, for_s=15, rest=jammed(99, "R"))
    return _server(
        seed, H200, "python -m sglang.launch_server --model-path m --port 30000", does, 0.85, allows="spin~ idle~"
    )


def persistent_kernel_between_requests(seed: int) -> Scene:
    """A server keeps a persistent kernel that polls for work: 100 % at low power between bursts of requests."""
    draw = Draw(seed, "k3serve7")
    rest = Activity(util=100, spin=0.8, sm=6, occupancy=2, cpu=40, noise=0.004)
    does = serves(draw, draw.work(DECODE), each_s=120, for_s=25, rest=rest)
    command = "python -m megakernel.server --listen 0.0.0.0 --port 9001"
    return _server(seed, B200, command, does, 0.6, allows="tiny~ kernel~")


def model_of_images_behind_a_queue(seed: int) -> Scene:
    """A Triton server classifies images in bursts of seconds, with a T4 at rest for most of the time."""
    draw = Draw(seed, "k3serve8")
    does = serves(draw, draw.work(CNN).but(nv=0), each_s=25, for_s=5, rest=_QUIET)
    return _server(seed, T4, "tritonserver --model-repository=/models --http-port 8000", does, 0.3)


def service_of_systemd_in_use(seed: int) -> Scene:
    """A speech service of systemd, parent 1, transcribes calls: streams of some minutes, pauses of one."""
    draw = Draw(seed, "k3serve9")
    does = serves(draw, draw.work(DECODE, level=0.7), each_s=60, for_s=120, rest=_QUIET)
    return _server(seed, L4, "python -m whisper_server --port 9000", does, 0.4, cgroup=service("speech"))


def two_servers_on_one_board(seed: int) -> Scene:
    """Two servers share an A6000, each with bursts of its own."""
    draw = Draw(seed, "k3serve10")
    actors = [
        program(
            f"serve{n}",
            f"uvicorn app{n}:app --port 80{n}0",
            0,
            serves(draw, draw.work(FP32), each_s=50, for_s=20, rest=_QUIET),
            level(17000),
            variables={},
            terminal=0,
            cgroup=docker(str(n + 1)),
        )
        for n in range(2)
    ]
    return scene(seed, [A6000], actors, 1700, allows="idle~")


def server_in_an_instance_of_mig(seed: int) -> Scene:
    """A server in an instance of an H100 is used at some times and at rest for five minutes at others."""
    draw = Draw(seed, "k3serve11")
    does = cycle((60, draw.work(DECODE, level=0.4)), (300, _QUIET))
    command = "text-generation-launcher --model-id m --port 8080"
    return _server(seed, H100_MIG, command, does, 0.35, instance=1)


def health_checks_only(seed: int) -> Scene:
    """A new replica gets only health checks: one token each ten seconds, for half an hour."""
    draw = Draw(seed, "k3serve12")
    does = sometimes(_QUIET, each_s=10, part=TRICKLE, for_s=1, seed=draw.seed())
    return _server(seed, A100, _VLLM, does, 0.9)


def long_prompts_and_short_answers(seed: int) -> Scene:
    """A server of long documents works at full load in prefill, then rests for seconds; the process says 0 % at times."""
    draw = Draw(seed, "k3serve13")
    does = cycle((8, draw.work(PREFILL)), (4, draw.work(DECODE)), (5, _QUIET))
    return _server(seed, H100, _VLLM, does, 0.92, disturb=[bad_process_zeros(draw.seed(), 0.01)])


def demo_page_with_few_visitors(seed: int) -> Scene:
    """A demo in Gradio has a visitor each five to eight minutes."""
    draw = Draw(seed, "k3serve14")
    does = cycle((8, draw.work(DECODE)), (330, _QUIET), (12, draw.work(DECODE)), (460, IDLE))
    return _server(seed, RTX_4090, "python demo.py --share --server-port 7860", does, 0.7, until_s=2000)
