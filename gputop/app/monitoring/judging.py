"""The judge of a box: gputop's detectors, with the thresholds of the configuration."""

import os
from collections.abc import Callable, Mapping, Sequence

from gputop.core.detection.judge import GENERAL, Judge
from gputop.core.detectors.registry import detectors, instant, made
from gputop.machine.files.places import config_file


def judge(*, is_once: bool, notify: Callable[[str], None] | None = None) -> Judge:
    """Return a judge without a history. ``is_once``: it will receive a single sample.

    ``notify``: receives one line if the configuration has mistakes.
    """
    settled = _settled(notify)
    general = settled.get(GENERAL, {})
    if is_once:
        return Judge(made(instant(), settled), general)
    from gputop.core.detection.steady import Steady

    return Judge(made(detectors(), settled), general, Steady())


def _settled(notify: Callable[[str], None] | None) -> Mapping[str, Mapping[str, float]]:
    if not os.path.exists(config_file()):
        return {}
    from gputop.app.settings.settings_file import first_written, settled

    held = settled(said=first_written(config_file()))
    if notify and held.problems:
        notify(_in_one_line(held.problems))
    return held.settings.detectors


def _in_one_line(problems: Sequence[str]) -> str:
    more = len(problems) - 1
    return problems[0] + (f" (and {more} more: gputop config show)" if more else "")
