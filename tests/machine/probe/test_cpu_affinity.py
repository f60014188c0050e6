"""The CPUs next to a GPU."""

from pathlib import Path

import pytest

from gputop.machine.probe.cpu_affinity import cpus_of, near_cpus


def test_the_kernel_says_which_cpus_are_next_to_a_gpu(tmp_path: Path) -> None:
    folder = tmp_path / "bus" / "pci" / "devices" / "0000:e1:00.0"
    folder.mkdir(parents=True)
    (folder / "local_cpulist").write_text("4-6,12\n")

    assert near_cpus("00000000:E1:00.0", str(tmp_path)) == (4, 5, 6, 12)
    assert near_cpus("00000000:E2:00.0", str(tmp_path)) == ()


@pytest.mark.parametrize(("text", "cpus"), [("", ()), ("3", (3,)), ("0-1,3\n", (0, 1, 3))])
def test_a_list_of_cpus_is_read(text: str, cpus: tuple[int, ...]) -> None:
    assert cpus_of(text) == cpus


def test_what_is_no_list_tells_of_none(tmp_path: Path) -> None:
    folder = tmp_path / "bus" / "pci" / "devices" / "0000:e1:00.0"
    folder.mkdir(parents=True)
    (folder / "local_cpulist").write_text("none\n")

    assert near_cpus("00000000:E1:00.0", str(tmp_path)) == ()
