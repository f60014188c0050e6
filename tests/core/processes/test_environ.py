"""What is taken from the environment of a process, and what is never taken."""

import pytest

from gputop.core.processes.environ import first_number, parse_environ


def test_only_allowed_variables_survive() -> None:
    raw = b"HOME=/root\0RANK=3\0AWS_SESSION=x\0WORLD_SIZE=8\0NCCL_DEBUG=WARN\0PATH=/bin\0"

    assert parse_environ(raw) == {"RANK": "3", "WORLD_SIZE": "8", "NCCL_DEBUG": "WARN"}


@pytest.mark.parametrize(
    "name", ["VLLM_API_KEY", "NCCL_TOKEN", "TORCH_NCCL_SECRET_X", "VLLM_PASSWORD", "VLLM_credentials", "HF_TOKEN"]
)
def test_what_sounds_like_a_secret_is_never_taken(name: str) -> None:
    assert parse_environ(f"{name}=hush\0".encode()) == {}


def test_values_are_harmless_and_of_bounded_length() -> None:
    found = parse_environ(b"TMUX=a\x1b[2Jb\0VIRTUAL_ENV=" + b"x" * 100_000 + b"\0HOSTNAME=\xff\0")

    assert (found["TMUX"], len(found["VIRTUAL_ENV"]), found["HOSTNAME"]) == ("a␛[2Jb", 512, "\ufffd")


def test_the_first_of_two_equal_names_counts() -> None:
    assert parse_environ(b"RANK=1\0RANK=2\0") == {"RANK": "1"}


@pytest.mark.parametrize("raw", [b"", b"\0\0", b"RANK", b"=x", b"\xff\xfe=1\0"])
def test_what_makes_no_sense_gives_nothing(raw: bytes) -> None:
    assert parse_environ(raw) == {}


@pytest.mark.parametrize("text", ["-1", "x", "", "٣", "9" * 30])
def test_only_plain_numbers_count_as_ranks(text: str) -> None:
    assert first_number({"RANK": text}, ("RANK",)) is None
    assert first_number({"RANK": text, "PMI_RANK": "4"}, ("RANK", "PMI_RANK")) == 4
