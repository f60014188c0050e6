"""The word that was probably meant."""

import pytest

from gputop.core.text.suggest import nearest

WORDS = ("enc", "environment", "gpu_mem", "gpu_memory", "gpu_memory_percent", "theme", "user")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("environ", "environment"), ("env", "environment"), ("gpu_m", "gpu_mem"), ("them", "theme"), ("usr", "user"),
        ("Theme", "theme"), ("xyz", None), ("", None), ("e" * 10_000, None),
    ],
)  # fmt: skip
def test_a_beginning_means_the_shortest_word_of_it_and_else_the_most_alike(wrong: str, meant: str | None) -> None:
    assert nearest(wrong, WORDS) == meant
