"""Makes the judge of a box: gputop's detectors, with the thresholds that the configuration settles."""

import os
from collections.abc import Mapping

from gputop.cli.config_path import path
from gputop.core.builtin import detectors, instant, made
from gputop.core.judge import GENERAL, Judge


def judge(*, is_once: bool) -> Judge:
    """Return a judge that has seen nothing yet. ``is_once``: it will see one sample only."""
    settled = _settled()
    return Judge(made(instant() if is_once else detectors(), settled), settled.get(GENERAL, {}))


def _settled() -> Mapping[str, Mapping[str, float]]:
    if not os.path.exists(path()):
        return {}
    from gputop.cli.settings_file import first_written, settled

    return settled(said=first_written(path())).settings.detectors
