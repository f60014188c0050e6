"""What gputop says of incidents that people reported; they are read from the folder that GPUTOP_REAL_DATA names.

An incident is one look, held for half an hour. R028 is left out: its author says that the look did not last.
"""

import os
from pathlib import Path

import pytest
from real.incidents import Incident, incidents

FOLDER = os.environ.get("GPUTOP_REAL_DATA")
FOUND = {incident.id: incident for incident in incidents(Path(FOLDER))} if FOLDER else {}
ALARMS = {
    "R001": "stuck.collective", "R003": "stuck.collective", "R005": "stuck.collective", "R033": "memory.unexplained",
}  # fmt: skip
NO_FAULT = ("R012", "R030", "R054", "R055")  # empty boards, a wrong reading, a context beside the work, a slow loader

pytestmark = pytest.mark.skipif(not FOUND, reason="GPUTOP_REAL_DATA names no folder with incidents")


def _incident(name: str) -> Incident:
    return FOUND[name]


@pytest.mark.parametrize("name", ALARMS)
def test_an_incident_becomes_an_alarm_of_its_kind(name: str) -> None:
    alarms = {code for code, stage in _incident(name).said() if stage == "alarm"}

    assert alarms == {ALARMS[name]}


def test_a_board_that_is_busy_without_a_process_says_nothing() -> None:
    assert _incident("R007").said() == {("busy.unowned", "observation")}


@pytest.mark.parametrize("name", NO_FAULT)
def test_what_is_no_fault_is_neither_alarm_nor_suspect(name: str) -> None:
    assert {(code, stage) for code, stage in _incident(name).said() if stage != "observation"} == set()
