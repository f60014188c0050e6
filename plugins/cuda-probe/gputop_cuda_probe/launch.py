"""Launch latency of kernels: the rate of launches, the time of one, and the gap between two."""

import time
from typing import Final

import torch

from gputop_cuda_probe.turn import Turn

_ISSUES: Final = 2000
_ROUND_TRIPS: Final = 200
_NODES: Final = 100


def run(turn: Turn) -> None:
    """Measure until the time is over; count that every launch did its work."""
    turn.faults.strike()
    one = torch.zeros(1, dtype=torch.int64, device=turn.device.torch)
    done = 0
    issues: list[float] = []
    trips: list[float] = []
    while not trips or not turn.is_due(0.8):
        issues.append(_issue(turn, one))
        trips += [_round_trip(turn, one) for _ in range(_ROUND_TRIPS)]
        done += _ISSUES + _ROUND_TRIPS
        turn.tick()
    slow = turn.faults.slowness
    turn.metric("issue", [each * slow for each in issues], "s")
    turn.metric("round_trip", [each * slow for each in trips], "s")
    if not turn.device.is_cpu:
        turn.metric("gap", _gap(turn) * slow, "s")
    if turn.faults.has("flip"):
        one += 1
    if int(one) != done:
        turn.finding("launch.count", "fail", f"{done} launches counted {int(one)}", expected=done, actual=int(one))


def _issue(turn: Turn, one: torch.Tensor) -> float:
    begun_s = time.perf_counter()
    for _ in range(_ISSUES):
        one.add_(1)
    taken_s = time.perf_counter() - begun_s
    turn.device.wait()
    return taken_s / _ISSUES


def _round_trip(turn: Turn, one: torch.Tensor) -> float:
    begun_s = time.perf_counter()
    one.add_(1)
    turn.device.wait()
    return time.perf_counter() - begun_s


def _gap(turn: Turn) -> float:
    """Return the time of a tiny kernel in a graph of them, on the device."""
    one = torch.zeros(1, device=turn.device.torch)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        one.add_(1)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(_NODES):
            one.add_(1)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    turn.device.wait()
    return float(begin.elapsed_time(end)) / 1000 / _NODES
