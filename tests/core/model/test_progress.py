"""How progress is told: how much, how long still, and that it is old."""

from typing import Any

import pytest
from examples import NOW, frame, process

from gputop.core.model.progress import Progress, TorchMemory, progress_facts
from gputop.core.processes.columns import COLUMN_BY_KEY, rows, used_columns


def told(**fields: Any) -> Progress:
    given: dict[str, Any] = {"step": 40, "total": 100, "rate_per_s": 0.5, **fields}
    return Progress(time_s=NOW, **given)


@pytest.mark.parametrize(
    ("progress", "age_s", "text"),
    [
        (told(), 0, "40% 2m00"),
        (told(), 30, "40% 1m30"),
        (told(), 61, "40% 1m ago"),
        (told(rate_per_s=0.01), 61, "40% 1h38"),
        (told(rate_per_s=0.01), 501, "40% 8m ago"),
        (told(rate_per_s=None), 0, "40%"),
        (told(step=99.9), 0, "99% 0s"),
        (told(step=100), 1000, "100%"),
        (told(step=120), 1000, "100%"),
        (told(total=None), 0, "40"),
        (told(total=0), 0, "40"),
        (told(step=None), 0, "–"),
    ],
)
def test_the_text(progress: Progress, age_s: float, text: str) -> None:
    assert progress.text(NOW + age_s) == text


def test_the_column_is_there_while_somebody_reports_and_its_filter_is_a_percentage() -> None:
    silent = process(1)
    teller = process(2, progress=told(total=None))

    assert "progress" not in used_columns(rows(frame(processes=(silent,))))
    assert "progress" in used_columns(rows(frame(processes=(silent, teller))))


def test_the_time_left_can_be_sorted_by() -> None:
    (row,) = rows(frame(processes=(process(2, progress=told()),)))

    assert COLUMN_BY_KEY["left"].sort(row) == 120.0


def test_the_facts_are_all_that_was_told() -> None:
    assert progress_facts(told(loss=2.3456789), NOW + 3) == [
        "40%", "step 40 of 100", "0.5 steps/s", "about 1m57 left", "loss 2.346", "reported 3s ago",
    ]  # fmt: skip
    assert progress_facts(Progress(time_s=NOW, loss=1.0), NOW) == ["loss 1", "reported 0s ago"]


def test_memory_that_pytorch_caches_is_told_apart_from_memory_that_it_has_allocated() -> None:
    memory = TorchMemory(device=0, allocated=29 << 30, reserved=60 << 30, peak=40 << 30, retries=2, ooms=1)

    assert memory.cached == 31 << 30
    assert memory.text == (
        "device 0: 29.0GiB allocated, 31.0GiB of 60.0GiB cached and unused, peak 40.0GiB, "
        "2 allocations only after freeing the cache, 1 out of memory"
    )
