"""The judge of a box: gputop's detectors, with the thresholds of the configuration."""

import os
from collections.abc import Callable, Mapping, Sequence

from gputop.app.settings.config_path import path
from gputop.core.detection.judge import GENERAL, Judge
from gputop.core.detectors.registry import detectors, instant, made


def judge(*, is_once: bool, tell: Callable[[str], None] | None = None) -> Judge:
    """Return a judge that has seen nothing yet. ``is_once``: it will see only one sample.

    ``tell``: receives one line if the configuration has mistakes.
    """
    settled = _settled(tell)
    return Judge(made(instant() if is_once else detectors(), settled), settled.get(GENERAL, {}))


def _settled(tell: Callable[[str], None] | None) -> Mapping[str, Mapping[str, float]]:
    if not os.path.exists(path()):
        return {}
    from gputop.app.settings.settings_file import first_written, settled

    held = settled(said=first_written(path()))
    if tell and held.problems:
        tell(_in_one_line(held.problems))
    return held.settings.detectors


def _in_one_line(problems: Sequence[str]) -> str:
    more = len(problems) - 1
    return problems[0] + (f" (and {more} more: gputop config show)" if more else "")
