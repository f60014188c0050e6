"""A full first frame is told by what stands on the screen, however a program writes a temperature."""

import pytest
from screen import is_full

PIDS = frozenset({4711, 4712})


@pytest.mark.parametrize("temperature", ["61 °C", "61°C", "61C", "61fC"])
def test_a_screen_with_header_gpu_and_process_is_full(temperature: str) -> None:
    assert is_full(f"H100 {temperature}\n PID COMMAND\n 4711 python train.py", PIDS)


@pytest.mark.parametrize(
    "text",
    [
        "H100 61°C\n PID COMMAND\n",
        "H100 61°C\n 4711 python train.py",
        "H100\n PID COMMAND\n 4711 python train.py",
        "H100 61°C\n PID COMMAND\n 4713 python train.py",
    ],
    ids=["no process", "no header", "no GPU", "another process"],
)
def test_a_screen_that_lacks_something_is_not_full(text: str) -> None:
    assert not is_full(text, PIDS)


def test_a_box_without_processes_needs_none_to_be_full() -> None:
    assert is_full("H100 61°C\n PID COMMAND\n", frozenset())
