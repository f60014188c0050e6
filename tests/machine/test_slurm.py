"""Host lists of Slurm: programs that answer, fail, hang, or print what no host is called."""

from pathlib import Path

import pytest
from fake_slurm import install

from gputop.machine.slurm import SlurmError, slurm_hosts

_SINFO = """
case "$*" in *--partition=cpu*) ;; *--partition=none*) exit 0;; *)
printf 'n2|gpu:h100:8(S:0-1)\\nn1|gpu:h100:8\\nn1|gpu:h100:8\\n';; esac
printf 'login|(null)\\nc1|(null)\\n'
"""


def _error(folder: Path, text: str, **scripts: str) -> str:
    with pytest.raises(SlurmError) as caught:
        slurm_hosts(text, install(folder, **scripts))
    return str(caught.value)


def test_nodes_without_gpus_are_left_out_and_a_node_of_two_partitions_is_there_once(tmp_path: Path) -> None:
    environment = install(tmp_path, sinfo=_SINFO)

    assert slurm_hosts("slurm", environment) == ("n2", "n1")
    assert slurm_hosts("slurm:cpu", environment) == ("login", "c1")  # Slurm knows of no GPU there
    assert "knows no host" in _error(tmp_path, "slurm:none", sinfo=_SINFO)


def test_the_hosts_of_a_job_come_from_slurm_itself(tmp_path: Path) -> None:
    squeue = 'test "$2" = --jobs=4711 || exit 1; echo "gpu[01-02],fat1"'
    scontrol = 'test "$*" = "show hostnames gpu[01-02],fat1" || exit 1; printf "gpu01\\ngpu02\\nfat1\\n"'

    assert slurm_hosts("slurm:job:4711", install(tmp_path, squeue=squeue, scontrol=scontrol)) == (
        "gpu01", "gpu02", "fat1",
    )  # fmt: skip
    assert "waits or has ended" in _error(tmp_path, "slurm:job:5", squeue="echo", scontrol=scontrol)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            'echo "slurm_load_partitions: Unable to contact slurm controller" >&2; exit 1',
            "Unable to contact slurm controller",
        ),
        ("exit 3", "sinfo failed: status 3"),
        ("head -c 5000000 /dev/zero", "sinfo sent too much"),
        ("printf '\\033[2J;rm -rf|gpu:1'", "list of hosts cannot be read"),
        ("printf 'n[1-99999999]|gpu:1'", "is not a range"),
    ],
)
def test_a_slurm_that_fails_or_lies_is_an_error_with_its_words_and_without_escapes(
    tmp_path: Path, script: str, words: str
) -> None:
    said = _error(tmp_path, "slurm", sinfo=script)

    assert words in said
    assert "\x1b" not in said


def test_a_slurm_that_hangs_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(SlurmError, match="sinfo took too long"):
        slurm_hosts("slurm", install(tmp_path, sinfo="exec sleep 600"), limit_s=0.1)


@pytest.mark.parametrize("text", ["slurm:--all", "slurm:a b", "slurm:$(x)", "slurm:job:4711;x", "slurm:job:"])
def test_a_name_that_slurm_could_take_for_an_option_runs_nothing(tmp_path: Path, text: str) -> None:
    ran = f"touch {tmp_path}/ran"

    assert "is not the" in _error(tmp_path, text, sinfo=ran, squeue=ran, scontrol=ran)
    assert not (tmp_path / "ran").exists()


def test_without_slurm_the_user_learns_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(SlurmError, match="no program sinfo on the PATH"):
        slurm_hosts("slurm", {"PATH": str(tmp_path)})
