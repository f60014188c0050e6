"""Harmless: notebooks, debuggers, desktops, games, and programs that use the CPU alone for a while."""

from detector_benchmark.independent.activity import CNN, DIFFUSION, FP32, HOST, IDLE, LORA, MANY, QUERY, RENDER
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    A6000,
    GTX_1080_TI,
    L4,
    LAPTOP_4070,
    RTX_3090,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
)
from detector_benchmark.independent.disturbances import gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders, program, shell
from detector_benchmark.independent.scripts import cycle, level, phases, sometimes, steps
from detector_benchmark.independent.trace import Scene, allow
from detector_benchmark.independent.workloads import ASLEEP, train
from detector_benchmark.independent.world import World

from gputop.core.processes.cgroup import Cgroup

_KERNEL = "python -m ipykernel_launcher -f /run/user/1000/jupyter/kernel-77.json"
_JUPYTER = {"cgroup": Cgroup(kind="jupyter", trusted=()), "terminal": 0, "variables": {"JPY_PARENT_PID": "4001"}}


def thinking_for_eight_minutes(seed: int) -> Scene:
    """The user of a notebook runs cells of 10 to 60 s and thinks for five to nine minutes between them."""
    draw = Draw(seed, "people1")
    turns = [(draw.between(10, 60), draw.work(CNN)) if n % 2 else (draw.between(300, 530), ASLEEP) for n in range(12)]
    main = program("kernel", _KERNEL, 0, cycle(*turns), level(12000), **_JUPYTER)
    return Scene(world=World([A100_40], [main], seed=seed), until_s=2500)


def cells_that_allocate_and_free(seed: int) -> Scene:
    """A notebook allocates and frees tensors of all sizes, cell by cell, with short pauses."""
    draw = Draw(seed, "people2")
    levels, at_s = [(0.0, 900.0)], 0.0
    while at_s < 2000:
        at_s += draw.about(50, 1.7)
        levels.append((at_s, draw.between(900, 12000) // 2 * 2))
    does = sometimes(ASLEEP, each_s=40, part=draw.work(FP32), for_s=12, seed=draw.seed())
    main = program("kernel", _KERNEL, 0, does, steps(*levels), **_JUPYTER)
    return Scene(world=World([RTX_3090], [main, *desktop()], seed=seed), until_s=2000)


def breakpoint_in_a_training(seed: int) -> Scene:
    """A developer halts a training at a breakpoint for six minutes, looks at tensors, and lets it go on."""
    draw = Draw(seed, "people3")
    work = train(draw.work(CNN), step_s=0.5, is_alone=True)
    at_s = draw.between(200, 400)
    does = phases(work, (at_s, ASLEEP), (at_s + draw.between(300, 400), work))
    main = program("python", "python -m pdb train.py", 0, does, level(9000))
    return Scene(world=World([A6000], [main], seed=seed), until_s=1400)


def debugger_stops_a_process(seed: int) -> Scene:
    """A developer attaches cuda-gdb to a program: it is traced and stopped for some minutes, then runs on."""
    draw = Draw(seed, "people4")
    work, at_s = draw.work(FP32), draw.between(200, 400)
    does = phases(work, (at_s, ASLEEP.but(state="t", cpu=0)), (at_s + draw.between(240, 360), work))
    gdb = shell("gdb", "cuda-gdb ./lbm")
    main = program("main", "./lbm -n 512", 0, does, level(5000), parent="gdb")
    return Scene(world=World([V100], [gdb, main], seed=seed), until_s=1200, allows=allow("blocked"))


def suspended_laptop(seed: int) -> Scene:
    """A laptop is suspended for an hour in the middle of an image generation, and goes on when it wakes up."""
    draw = Draw(seed, "people5")
    main = program("comfy", "python ComfyUI/main.py", 0, draw.work(DIFFUSION, level=0.8), level(5900))
    world = World([LAPTOP_4070], [main, *desktop()], seed=seed)
    return Scene(world=world, until_s=4900, disturbances=[gaps((draw.between(300, 500), 3600))])


def game_beside_an_editor(seed: int) -> Scene:
    """A game uses a workstation's board at 97 % for an hour, in menus for some minutes; its memory rises by levels."""
    draw = Draw(seed, "people6")
    menu = RENDER.but(util=20, share=0.15, cpu=30)
    does = sometimes(draw.work(RENDER).but(cpu=210), each_s=300, part=menu, for_s=80, seed=draw.seed())
    memory = steps((0, 3100), (400, 4400), (1100, 6200), (1500, 5200))
    main = program("game", "/games/proton/game.exe", 0, does, memory, type="G")
    return Scene(world=World([RTX_4090], [main, *desktop()], seed=seed), until_s=2000)


def desktop_alone(seed: int) -> Scene:
    """A desktop, a browser and an editor hold 1.5 GiB of a workstation's board and use 2 % of it."""
    draw = Draw(seed, "people7")
    idle = IDLE.but(util=2, share=0.01, cpu=8)
    others = [
        program(name, command, 0, idle, level(draw.between(150, 700) // 2 * 2), type="G", age_s=9000.0)
        for name, command in (("firefox", "/usr/lib/firefox/firefox"), ("code", "/usr/share/code/code --type=gpu"))
    ]
    return Scene(world=World([GTX_1080_TI], [*desktop(), *others], seed=seed), until_s=2400)


def rendering_of_an_animation(seed: int) -> Scene:
    """A renderer works for 40 s on each frame and prepares the next for 12 s on all cores, for hours."""
    draw = Draw(seed, "people8")
    does = cycle((draw.between(30, 50), draw.work(RENDER)), (draw.between(8, 16), MANY.but(cpu=1500)))
    main = program("blender", "blender -b film.blend -a", 0, does, level(7200))
    return Scene(world=World([TITAN_X], [main], seed=seed), until_s=1500)


def feature_engineering_before_a_model(seed: int) -> Scene:
    """A job works on the CPU for four minutes with its context open, then trains; a normal start."""
    draw = Draw(seed, "people9")
    does = phases(MANY.but(cpu=1200), (draw.between(180, 260), train(draw.work(LORA), step_s=1, is_alone=True)))
    main = program("python", "python run_all.py", 0, does, level(6100), age_s=5.0, terminal=0)
    return Scene(world=World([L4], [main], seed=seed), until_s=1300, allows=allow("spin~"))


def queries_of_an_analyst(seed: int) -> Scene:
    """An analyst asks a GPU database from a terminal: queries of 1 to 15 s with minutes of reading between them."""
    draw = Draw(seed, "people10")
    does = sometimes(ASLEEP, each_s=120, part=draw.work(QUERY), for_s=8, seed=draw.seed())
    main = program("heavydb", "ipython --profile cudf", 0, does, level(31000))
    return Scene(world=World([A100], [main], seed=seed), until_s=2000, allows=allow("idle~"))


def nohup_job_without_its_shell(seed: int) -> Scene:
    """A training was started with nohup; its user logged out since, and it works on under init. That is as planned."""
    draw = Draw(seed, "people11")
    lead = shell("lead", "-bash", until_s=300)
    work = train(draw.work(CNN), step_s=0.7, is_alone=True)
    main = program("python", "python train.py", 0, work, level(10000), parent="lead", terminal=0)
    actors = [lead, main, *loaders(main, 3, IDLE.but(cpu=35))]
    return Scene(world=World([T4], actors, seed=seed), until_s=1300, allows=allow("orphan~"))


def programs_of_seconds_by_the_hundred(seed: int) -> Scene:
    """A build tests its kernels: 300 programs of 3 to 6 s, each with a context of its own, one after another."""
    draw = Draw(seed, "people12")
    make = shell("make", "ctest -j1")
    tests = [
        program(
            f"test{n}",
            f"./test_{n}",
            0,
            draw.one_of([HOST, CNN.but(nv=0, rx=5), FP32]),
            level(draw.between(300, 900) // 2 * 2),
            from_s=5.0 * n,
            until_s=5.0 * n + draw.between(3, 6),
            parent="make",
        )
        for n in range(300)
    ]
    return Scene(world=World([A6000], [make, *tests], seed=seed), until_s=1400)
