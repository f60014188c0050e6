"""Boards that say they are busy, with kernels that do next to nothing."""

from detector_benchmark.independent.activity import GRAPHS
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_4090, T4, Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.sketches import mib_of, scene
from detector_benchmark.independent.trace import Scene, want


def _fakes(seed: int, name: str, board: Board, command: str) -> Scene:
    """Keep a board at 99 % with work of a few hundredths of its power, from before the trace on."""
    draw = Draw(seed, name)
    work = GRAPHS.but(share=draw.between(0.03, 0.08), mc=draw.between(0, 2), sm=draw.between(2, 7), noise=0.04)
    actor = program("warm", command, 0, work, mib_of(board, draw.between(0.02, 0.3)), variables={}, terminal=0)
    wants = want("tiny launch", "warm gpu:0", 0, 800)
    return scene(seed, [board], [actor], 960, wants, allows="tiny launch")


def script_that_keeps_a_gpu_from_being_taken(seed: int) -> Scene:
    """A script adds two small vectors for ever, so that a scheduler does not take the idle H100 away."""
    return _fakes(seed, "k3tiny1", H100, "python keep_busy.py")


def watchdog_fooled_by_small_graphs(seed: int) -> Scene:
    """A CUDA graph of one block is replayed for ever on an A100."""
    return _fakes(seed, "k3tiny2", A100, "python replay.py")


def cellular_automaton_of_a_few_cells(seed: int) -> Scene:
    """A toy simulation of 200 cells runs on an RTX 4090 that could do a billion."""
    return _fakes(seed, "k3tiny3", RTX_4090, "./automaton --cells 200")


def scalar_loop_on_a_server_board(seed: int) -> Scene:
    """A program computes a series with one thread of one block of an L40S."""
    return _fakes(seed, "k3tiny4", L40S, "./series --terms 1e12")


def small_board_with_a_loop_of_one_warp(seed: int) -> Scene:
    """A student's kernel of one warp computes primes on a T4 for an hour."""
    return _fakes(seed, "k3tiny5", T4, "./primes")
