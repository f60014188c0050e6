"""Takers of frames for a command that can also notify: nothing is imported unless there are receivers."""

from collections.abc import Callable, Sequence

from gputop.core.model.sample import Frame


def takers_of(names: Sequence[str]) -> tuple[Callable[[Frame], None], Callable[[], None]]:
    """Return what takes each frame, and what ends that. ``names``: of receivers. Raises BadRequestError."""
    if not names:
        return lambda _: None, lambda: None
    from gputop.app.alerting.choose import chosen
    from gputop.app.alerting.couriers import couriers_to

    couriers = couriers_to(chosen(names))
    return couriers.take, couriers.close
