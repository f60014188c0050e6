"""What gputop says of incidents that people reported; they are read from the folder that GPUTOP_REAL_DATA names.

An incident is one look, held for half an hour.
"""

import os
from pathlib import Path
from typing import Final

import pytest
from real.incidents import incidents

FOLDER: Final = os.environ.get("GPUTOP_REAL_DATA")
FOUND: Final = {incident.id: incident for incident in incidents(Path(FOLDER))} if FOLDER else {}
SAID: Final = {  # by incident, the gravest finding; docs/findings.md has the same as a table
    "R001": "stuck.collective: alarm", "R003": "stuck.collective: alarm", "R005": "stuck.collective: alarm",
    "R007": "busy.unowned: observation",
    "R012": "",  # a hang, but the figures are those of the empty boards
    "R024": "idle.holder: observation",
    "R028": "stuck.collective: alarm",  # a healthy wait: its author says that this look did not last
    "R030": "idle.holder: observation", "R033": "memory.unexplained: alarm", "R043": "",
    "R054": "idle.holder: observation", "R055": "idle.holder: observation", "R056": "idle.holder: suspect",
    "C001": "stuck.collective: suspect",
}  # fmt: skip
STAGES: Final = ("observation", "suspect", "alarm")

pytestmark = pytest.mark.skipif(not FOUND, reason="GPUTOP_REAL_DATA names no folder with incidents")


def test_each_incident_with_figures_is_judged() -> None:
    assert FOUND.keys() == SAID.keys()


@pytest.mark.parametrize("name", SAID)
def test_the_gravest_finding_of_an_incident_is_the_documented_one(name: str) -> None:
    said = FOUND[name].said()
    gravest = max((STAGES.index(stage) for _, stage in said), default=-1)

    assert [f"{code}: {stage}" for code, stage in sorted(said) if STAGES.index(stage) == gravest] == (
        [SAID[name]] if SAID[name] else []
    )
