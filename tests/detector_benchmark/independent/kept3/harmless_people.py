"""People at work: notebooks, prompts, debuggers, desktops, and pauses after which they come back."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, IDLE, LORA, RENDER, Activity
from detector_benchmark.independent.actors import Actor, Use
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    H100,
    H100_MIG,
    L40S,
    LAPTOP_4070,
    PRO_6000,
    RTX_3090,
    RTX_4090,
    T4,
)
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, program
from detector_benchmark.independent.scripts import Script, cycle, level, phases, script, sometimes
from detector_benchmark.independent.sketches import jammed, mib_of, notebook, scene, turns
from detector_benchmark.independent.trace import Scene

_REST = IDLE.but(cpu=1.5)


def _cells(draw: Draw, work: Activity, *, each_s: float, for_s: float) -> Script:
    return sometimes(_REST, each_s=each_s, part=work, for_s=for_s, seed=draw.seed())


def cells_every_minute_or_two(seed: int) -> Scene:
    """A person runs cells of 20 s in a notebook, one each minute or two."""
    draw = Draw(seed, "k3people1")
    does = _cells(draw, draw.work(CNN).but(nv=0), each_s=80, for_s=20)
    return scene(seed, [A100], notebook("nb", 0, does, mib_of(A100, 0.3)), 1800)


def coffee_of_seven_minutes(seed: int) -> Scene:
    """A notebook rests for seven minutes between cells, while its user drinks coffee, and comes back."""
    draw = Draw(seed, "k3people2")
    does = cycle((90, draw.work(FP32)), (draw.between(380, 440), _REST))
    return scene(seed, [L40S], notebook("nb", 0, does, mib_of(L40S, 0.5)), 2000)


def debugging_step_by_step(seed: int) -> Scene:
    """A developer steps through a training in pdb: a step of the GPU each half a minute to two minutes."""
    draw = Draw(seed, "k3people3")
    does = _cells(draw, draw.work(LORA).but(nv=0), each_s=60, for_s=4)
    actor = program("pdb", "python -m pdb train.py", 0, does, mib_of(A6000, 0.4))
    return scene(seed, [A6000], [actor], 1700)


def prompt_with_short_tests(seed: int) -> Scene:
    """A user types at a prompt of ipython on a T4: bursts of seconds, pauses of at most some minutes."""
    draw = Draw(seed, "k3people4")
    does = cycle(
        (6, draw.work(FP32)), (70, _REST), (10, draw.work(FP32)), (200, _REST), (3, draw.work(CNN)), (110, _REST)
    )
    return scene(seed, [T4], [program("ipy", "ipython", 0, does, level(2400))], 1800)


def pictures_that_a_user_asks_for(seed: int) -> Scene:
    """ComfyUI on a desktop: pictures of 15 s when its user asks, some minutes apart."""
    draw = Draw(seed, "k3people5")
    does = _cells(draw, draw.work(DIFFUSION), each_s=100, for_s=15)
    actor = program("comfy", "python main.py --listen 127.0.0.1 --port 8188", 0, does, level(11800))
    return scene(seed, [RTX_4090], [*desktop(), actor], 1800)


def small_context_of_an_editor(seed: int) -> Scene:
    """A language server imported a library that opened a context of 180 MiB; it uses the GPU for nothing."""
    actor = program("pylsp", "python -m pylsp", 0, jammed(0.8), level(180), age_s=40000)
    return scene(seed, [RTX_3090], [*desktop(), actor], 1500)


def game_beside_a_browser(seed: int) -> Scene:
    """A desktop plays a game at 60 frames a second, with a browser that decodes a video."""
    draw = Draw(seed, "k3people6")
    game = Use(0, script(RENDER.but(util=72, share=0.55, cpu=160, thread=80)), level(6100), None, "G")
    tab = Use(0, script(Activity(util=4, mc=3, share=0.01, decoder=14, cpu=11)), level(520), None, "G")
    actors = [
        *desktop(),
        Actor(name="game", command="./game.x86_64", uses=(game,), age_s=1900),
        Actor(name="browser", command="/usr/lib/firefox/firefox", uses=(tab,), age_s=9000),
    ]
    board = RTX_4090.without("pcie") if draw.whole(0, 1) else RTX_4090
    return scene(seed, [board], actors, 1200)


def viewport_of_an_artist(seed: int) -> Scene:
    """An artist turns a scene in a viewport and renders single frames."""
    draw = Draw(seed, "k3people7")
    does = cycle((20, RENDER.but(util=35, share=0.25)), (40, _REST), (60, draw.work(RENDER)), (90, _REST))
    return scene(
        seed,
        [PRO_6000],
        [*desktop(), program("blender", "blender scene.blend", 0, does, level(8200), type="C+G")],
        1600,
    )


def laptop_on_a_desk(seed: int) -> Scene:
    """A laptop with a desktop and a small notebook that is used now and then, each few minutes."""
    draw = Draw(seed, "k3people8")
    does = _cells(draw, draw.work(CNN).but(nv=0), each_s=150, for_s=12)
    return scene(seed, [LAPTOP_4070], [*desktop(), *notebook("nb", 0, does, level(2100))], 1700)


def chat_with_a_local_model(seed: int) -> Scene:
    """A user chats with a model of llama.cpp: answers of 10 s, some minutes of reading."""
    draw = Draw(seed, "k3people9")
    does = _cells(draw, draw.work(DECODE), each_s=130, for_s=10)
    actor = program("llama", "./llama-cli -m model.gguf -ngl 99 -i", 0, does, level(15100))
    return scene(seed, [RTX_3090], [*desktop(), actor], 1700)


def notebook_in_an_instance_of_mig(seed: int) -> Scene:
    """A student works in a notebook in an instance of an H100; another instance trains."""
    draw = Draw(seed, "k3people10")
    does = _cells(draw, draw.work(LORA, level=0.4).but(nv=0), each_s=90, for_s=25)
    other = program(
        "other", "python train.py", 0, draw.work(LORA, level=0.4).but(nv=0), level(24000), instance=2, user="bob"
    )
    return scene(seed, [H100_MIG], [*notebook("nb", 0, does, level(9000), instance=1), other], 1700)


def notebook_with_a_cell_on_the_cpu(seed: int) -> Scene:
    """A cell of a notebook joins tables on the CPU for 40 s between cells on the GPU."""
    draw = Draw(seed, "k3people11")
    does = cycle((30, draw.work(FP32)), (40, jammed(100, "R")), (60, _REST))
    gaps = often_gaps(draw.seed(), each_s=120, from_s=2, to_s=6)
    return scene(seed, [H100], notebook("nb", 0, does, mib_of(H100, 0.2)), 1500, disturb=[gaps])


def training_that_its_user_ends(seed: int) -> Scene:
    """A user trains for ten minutes, presses Ctrl-C, and starts the next try half a minute later."""
    draw = Draw(seed, "k3people12")
    at_s, work = draw.between(500, 700), draw.work(CNN).but(nv=0)
    first = program("one", "python train.py --lr 1e-3", 0, work, level(14000), until_s=at_s)
    next_does = phases(IDLE, (at_s + 30, jammed(97, "R")), (at_s + 50, work))
    second = program("two", "python train.py --lr 3e-4", 0, next_does, level(14000), from_s=at_s + 30, age_s=0.0)
    return scene(seed, [RTX_4090], [*desktop(), first, second], at_s + 700)


def labelling_with_a_model(seed: int) -> Scene:
    """A person labels images, a model segments each: a tenth of a second of work each five to twenty seconds."""
    draw = Draw(seed, "k3people13")
    does = _cells(draw, draw.work(CNN).at(0.12).but(nv=0, cpu=30), each_s=12, for_s=1)
    actor = program("label", "python -m label_studio_ml --port 9090", 0, turns(does, 900, does), level(5200))
    return scene(seed, [RTX_3090], [actor], 1500)
