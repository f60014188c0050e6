"""The table of contents: every code is explained and says what to type; thresholds reach those whom they are for."""

import re

import pytest
from behaviours import IDLE, WAIT, WORK, codes, found, lone

from gputop.core.detectors.registry import detectors

KINDS = tuple(kind for kind, _ in detectors())
CODES = tuple((code, kind) for kind in KINDS for code in kind.codes)


@pytest.mark.parametrize(("code", "kind"), CODES, ids=[code for code, _ in CODES])
def test_what_to_do_names_a_key_or_a_command(code: str, kind: object) -> None:
    remedy = next(one for one in KINDS if one is kind).remedies[code]

    assert re.search(r"`[^`]+`", remedy)


def test_no_remedy_is_of_a_code_that_does_not_exist() -> None:
    assert [code for kind in KINDS for code in kind.remedies if code not in kind.codes] == []


def test_defaults_are_within_their_bounds() -> None:
    wrong = [
        dial.key for kind in KINDS for dial in kind.dials if not dial.least <= dial.default <= dial.most
    ]  # fmt: skip

    assert wrong == []


def test_what_counts_as_waiting_can_be_settled_for_all_detectors() -> None:
    hang = lone((WORK, 200), (WAIT, 400))

    usual = found(hang, names=("activity", "stuck"))
    nothing = {"low_percent": 0.0, "low_of_work_percent": 0.0, "low_of_silent_percent": 0.0}
    strict = found(hang, names=("activity", "stuck"), dials={"activity": nothing})

    assert codes(usual) == {"stuck.kernel"}
    assert codes(strict) == set()


def test_what_ends_a_rest_can_be_settled_for_all_detectors() -> None:
    beats = lone((WORK, 60), *[part for _ in range(10) for part in ((IDLE, 78), (WORK, 2))])

    usual = found(beats, names=("activity", "idle"))
    alert = found(beats, names=("activity", "idle"), dials={"activity": {"heartbeat_s": 1.0}})

    assert codes(usual) == {"idle.holder"}
    assert codes(alert) == set()
