"""Takers of frames for a command that can also notify: nothing is imported unless there are receivers."""

from collections.abc import Callable, Sequence

from gputop.app.backend.backend import BackendRequest
from gputop.core.model.sample import Frame


def takers_of(
    names: Sequence[str], kept: BackendRequest | None = None
) -> tuple[Callable[[Frame], None], Callable[[], None]]:
    """Return what takes each frame, and what ends that. ``names``: of receivers. Raises BadRequestError.

    ``kept``: the machine for which it is kept what was sent; None keeps nothing: each run sends what it finds.
    """
    if not names:
        return lambda _: None, lambda: None
    from gputop.app.alerting.choose import chosen
    from gputop.app.alerting.couriers import couriers_to

    couriers = couriers_to(chosen(names), kept)
    return couriers.take, couriers.close
