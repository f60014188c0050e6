"""Tests of units that matrix products do not use: sorting, gathering, atomics, special functions."""

from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe.turn import Turn
from gputop_cuda_probe.vote import digest

_BYTES_EACH: Final = 96  # of memory for each element, at the most


def run(turn: Turn) -> None:
    """Make passes until the time is over, once at least."""
    count = 1 << 16
    while not turn.device.is_cpu and count < 1 << 25 and 2 * count * _BYTES_EACH <= turn.device.room():
        count *= 2
    turn.param(elements=count, seed=turn.seed)
    rounds = 0
    while rounds == 0 or not turn.is_due():
        turn.faults.strike()
        special = _Pass(turn, count, turn.seed + rounds).run()
        if rounds == 0:
            turn.digest(f"special/{count}/{turn.seed}", digest(special))
        rounds += 1


class _Pass:
    """One round with its own numbers."""

    def __init__(self, turn: Turn, count: int, seed: int) -> None:
        self._turn = turn
        self._count = count
        self._seed = seed
        generator = torch.Generator().manual_seed(seed)
        self._order = torch.randperm(count, generator=generator).to(turn.device.torch)
        self._iota = torch.arange(count, device=turn.device.torch)

    def run(self) -> Tensor:
        """Compare each result with the expected one; return those that only other devices can judge."""
        inverse = torch.empty_like(self._order)
        inverse[self._order] = self._iota
        self._check("permutation", self._order[inverse], self._iota)
        self._check("sort", torch.sort(self._order).values, self._iota)
        self._check("cumsum", torch.cumsum(torch.ones_like(self._iota), 0) - 1, self._iota)
        totals = torch.zeros(1024, dtype=torch.int64, device=self._iota.device)
        totals.scatter_add_(0, self._order % 1024, torch.ones_like(self._order))
        self._check("scatter_add", totals, torch.full_like(totals, self._count // 1024))
        first = self._special()
        self._check("special", self._special().view(torch.int32), first.view(torch.int32))
        if self._turn.faults.has("odd"):
            first.view(torch.int32)[5] ^= 1
        return first

    def _special(self) -> Tensor:
        """Return a mixture of functions whose bits must be the same each time."""
        x = self._order.float() * 1e-6 + 0.5
        return torch.sin(x) * torch.exp(-x) + torch.sqrt(x) * torch.rsqrt(x + 1) + torch.log(x) * x

    def _check(self, name: str, found: Tensor, wanted: Tensor) -> None:
        if self._turn.faults.has("flip") and name == "permutation":
            found = found.clone()
            found[7] ^= 4
        wrong = torch.ne(found, wanted)
        bad = int(wrong.sum())
        self._turn.tick(text=name)
        if bad:
            at = int(wrong.nonzero()[0, 0])
            self._turn.finding(
                "ops.wrong", "fail", f"{name}: {bad} of {found.numel()} elements are wrong", pass_=name, bad=bad,
                first=at, expected=int(wanted[at]), actual=int(found[at]), seed=self._seed,
            )  # fmt: skip
