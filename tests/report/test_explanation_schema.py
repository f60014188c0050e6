"""The schema that `gputop schema explain` prints: real answers are valid, wrong ones are not."""

import json
import subprocess
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gputop.report.schema import explanation_schema

SCHEMA = explanation_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def gputop(*arguments: str) -> Any:
    done = subprocess.run([sys.executable, "-m", "gputop", *arguments], capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.parametrize("words", [("stuck", "trouble"), ("18233", "mig"), ("58440", "trouble")])
def test_an_answer_as_it_leaves_gputop_is_not_what_the_schema_says(words: tuple[str, str]) -> None:
    answer = gputop("explain", words[0], "--json", "--demo", words[1])

    assert [error.message for error in VALIDATOR.iter_errors(answer)] == []
    assert {source["state"] for source in answer["sources"]} == {"answered"} | {
        source["state"] for source in answer["sources"] if source.get("note")
    }


def test_the_command_prints_another_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    assert gputop("schema", "explain") == json.loads(json.dumps(SCHEMA))


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "1"},
        {"id": "1", "members": [{"pid": "x", "start_ticks": 1}]},
        {"id": "1", "members": [], "sources": [{"name": "nccl", "title": "NCCL", "state": "maybe"}]},
    ],
)
def test_a_wrong_answer_is_valid(wrong: Any) -> None:
    assert not VALIDATOR.is_valid({"answer": "explanation"} | wrong)


def test_a_kind_of_claim_has_no_words() -> None:
    assert all(one["description"] for one in SCHEMA["$defs"]["ClaimKind"]["oneOf"])
