"""gputop doctor and probe on many hosts: by a fake srun that runs the real script, and by a real sshd."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from fake_slurm import install
from real_terminal import GPUTOP
from ssh_host import ssh_host

_PATIENCE_S: Final = 120
# As srun does: each task has the name of its node, and their lines mix. Nodes are those of --nodelist.
_SRUN: Final = """
for word; do case "$word" in --nodelist=*) nodes=$(echo "${word#*=}" | tr , ' ');; esac; done
while [ "$1" != sh ]; do shift; done
for node in $nodes; do SLURMD_NODENAME=$node "$@" & done
wait
"""
# A gputop of another host: well on n1, with a fault on n2, missing on n3, mute on n4, hostile on n5.
_GPUTOP: Final = """
case "$SLURMD_NODENAME" in
n1) exec {python} -m gputop "$@" --demo training;;
n2) exec {python} -m gputop "$@" --demo dying;;
n3) echo "sh: gputop: not found" >&2; exit 127;;
n4) exit 0;;
n5) printf '{{"checks": [{{"code": "\\\\u001b[2Jx", "severity": "fail"}}]}}'; exit 2;;
esac
"""


# Signals are ignored where tests run behind.
_LISTENING: Final = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from gputop.__main__ import main
main()
"""


def _gputop(path: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*GPUTOP, *words], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False,
        timeout=_PATIENCE_S, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _cluster(folder: Path, srun: str = _SRUN) -> str:
    return install(folder, srun=srun, gputop=_GPUTOP.format(python=sys.executable))["PATH"]


def test_a_host_of_slurm_that_fails_is_missing_in_the_table_or_a_healthy_one_is_in_it(tmp_path: Path) -> None:
    done = _gputop(_cluster(tmp_path), "doctor", "--hosts", "n[1-5]")

    head, _, _, *rows = done.stdout.splitlines()
    assert head == "5 hosts: 2 act now, 2 no result, 1 healthy"
    firsts = [row.split(maxsplit=3) for row in rows if not row.startswith(" ")]
    assert [(words[0], *words[1:3]) for words in firsts] == [
        ("n2", "act", "now"), ("n3", "no", "result"), ("n4", "no", "result"), ("n5", "act", "now"),
    ]  # fmt: skip
    assert "sh: gputop: not found" in rows[[words[0] for words in firsts].index("n3") + len(rows) - len(firsts)]
    assert "\x1b" not in done.stdout
    assert done.returncode == 2


def test_the_reports_of_all_hosts_are_one_json_for_programs(tmp_path: Path) -> None:
    done = _gputop(_cluster(tmp_path), "doctor", "--hosts", "n1,n2,n3", "--expect", "8", "--json")

    found = {host["host"]: host for host in json.loads(done.stdout)["hosts"]}
    assert {name: host["status"] for name, host in found.items()} == {"n1": 0, "n2": 2, "n3": None}
    assert found["n2"]["report"]["simulated"] == "dying"
    assert done.returncode == 2


def test_what_a_batch_script_wrote_cannot_be_gathered_later(tmp_path: Path) -> None:
    path = _cluster(tmp_path)
    script = _gputop(path, "doctor", "--hosts", "n1,n2", "--batch", "--slurm=--partition=gpu")
    (tmp_path / "job.sh").write_text(script.stdout.replace("exec srun", "exec srun --nodelist=n1,n2"))  # as in its job
    ran = subprocess.run(
        ["sh", str(tmp_path / "job.sh")], env=os.environ | {"PATH": path}, capture_output=True, check=False,
        timeout=_PATIENCE_S,
    )  # fmt: skip
    (tmp_path / "job.out").write_bytes(b"a prolog says hello\n" + ran.stdout)
    done = _gputop(path, "doctor", "--hosts", "n1,n2,n9", "--results", str(tmp_path / "job.out"))

    assert "#SBATCH --partition=gpu\n" in script.stdout
    assert done.stdout.splitlines()[0] == "3 hosts: 1 healthy, 1 act now, 1 no result"
    assert "it has no result in this file" in done.stdout


@pytest.mark.parametrize(
    ("srun", "words"),
    [
        (
            'echo "srun: error: Unable to allocate resources: Requested nodes are busy" >&2; exit 1',
            "Requested nodes are busy",
        ),
        ("exit 7", "it sent no result; srun ended with status 7"),
        ("echo gputop-result n1 out AAAA; echo gputop-result n1 end 0", "its lines are damaged"),
        ("echo gputop-result n2 end 0; yes x | head -c 100000", "it sent no result"),
    ],
)
def test_an_srun_that_fails_or_lies_ends_without_its_reason(tmp_path: Path, srun: str, words: str) -> None:
    done = _gputop(_cluster(tmp_path, srun), "doctor", "--hosts", "n1")

    assert done.stdout.startswith("1 host: 1 no result\n")
    assert words in done.stdout
    assert done.returncode == 3


def test_the_limits_of_a_probe_are_lost_on_the_way_or_its_hosts_are_asked_again_there(tmp_path: Path) -> None:
    done = _gputop(
        _echoes(tmp_path), "probe", "--hosts=n1", "--level", "quick", "--max-temp=85", "--json", "-", "--wait", "9m",
        "gemm.bf16",
    )  # fmt: skip

    (host,) = json.loads(done.stdout)["hosts"]
    assert host["problems"] == ["probe --json - --level quick --max-temp=85 gemm.bf16: fail"]


def test_words_behind_a_double_dash_are_read_as_options_or_get_lost(tmp_path: Path) -> None:
    done = _gputop(_echoes(tmp_path), "probe", "--hosts=n1", "--json=-", "--", "gemm.bf16", "--json", "--wait")

    (host,) = json.loads(done.stdout)["hosts"]
    assert host["problems"] == ["probe --json - -- gemm.bf16 --json --wait: fail"]


def test_a_file_of_results_that_cannot_be_written_is_a_success(tmp_path: Path) -> None:
    path = install(tmp_path, srun=_SRUN, gputop="echo '{}'")["PATH"]
    done = _gputop(path, "probe", "--hosts", "n1", "--json", f"{tmp_path}/nothing/found.json")

    assert done.stdout == "1 host: 1 pass\n"
    assert done.stderr == f"gputop: {tmp_path}/nothing/found.json: No such file or directory\n"
    assert done.returncode == 1


def _echoes(folder: Path) -> str:
    """Return a PATH with a gputop that names its words as a problem."""
    echo = 'printf \'{"devices": [{"label": "%s", "status": "fail"}]}\' "$*"; exit 2'
    return install(folder, srun=_SRUN, gputop=echo)["PATH"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("doctor", "--batch"), "--batch needs --hosts LIST"),
        (("doctor", "--over", "ssh"), "--over needs --hosts LIST"),
        (("probe", "--wait", "2h"), "--wait needs --hosts LIST"),
        (("doctor", "--hos", "n1"), "unknown option --hos. Did you mean --hosts?"),
        (("doctor", "--hosts", "n[1-"), "brackets"),
        (("doctor", "--hosts", "n[1-65]", "--over", "ssh"), "ssh takes at most 64 hosts"),
        (("doctor", "--hosts", "n1", "--slurm", "rm -rf"), "is not a list of options"),
        (("probe", "--hosts", "n1", "--junit", "x"), "--junit cannot be combined with --hosts"),
        (("--host", "n1,n2", "doctor"), "gputop doctor --hosts n1,n2"),
    ],
)
def test_a_mistake_starts_something_on_a_host(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    ran = f"touch {tmp_path}/ran"
    done = _gputop(install(tmp_path, srun=ran, ssh=ran)["PATH"], *words)

    assert said in done.stderr
    assert done.returncode in {2, 64}
    assert not (tmp_path / "ran").exists()


def test_a_copy_that_was_brought_by_ssh_is_not_found_by_a_step_of_slurm(tmp_path: Path) -> None:
    copy = tmp_path / ".cache/gputop/brought/bin"
    copy.mkdir(parents=True)
    install(copy, gputop="echo '{}'")
    path = install(tmp_path, srun=f"PATH=/usr/bin:/bin HOME={tmp_path}; export PATH HOME\n{_SRUN}")["PATH"]
    done = _gputop(path, "doctor", "--hosts", "n1")

    assert (done.stdout, done.returncode) == ("1 host: 1 healthy\n", 0)


@pytest.mark.parametrize("status", [130, 137, 255])
def test_a_host_whose_report_ends_with_an_unusual_status_lets_all_hosts_succeed(tmp_path: Path, status: int) -> None:
    path = install(tmp_path, srun=_SRUN, gputop=f"echo '{{}}'; [ $SLURMD_NODENAME = n1 ] || exit {status}")["PATH"]
    done = _gputop(path, "doctor", "--hosts", "n1,n2")

    assert done.returncode == (130 if status == 130 else 3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_srun_goes_on_after_gputop_was_ended(tmp_path: Path, number: signal.Signals) -> None:
    more_than_a_pipe_holds = "head -c 200000 /dev/zero"  # it ends when gputop reads, so gputop knows its child by then
    srun = (
        f"trap 'touch {tmp_path}/ended; exit' TERM; {more_than_a_pipe_holds}; echo $$ >{tmp_path}/began;"
        " while :; do sleep 0.05; done"
    )
    path = install(tmp_path, srun=srun)["PATH"]

    assert _ended_by(number, tmp_path / "began", path, "doctor", "--hosts", "n1", "--over", "srun") == 130
    assert (tmp_path / "ended").exists()


def test_ctrl_c_waits_for_hosts_by_ssh(tmp_path: Path) -> None:
    path = install(tmp_path, ssh=f"echo $$ >{tmp_path}/began; cat; touch {tmp_path}/ended")["PATH"]
    words = ("doctor", "--hosts", "n1", "--over", "ssh", "--wait", "1h")

    assert _ended_by(signal.SIGINT, tmp_path / "began", path, *words) == 130
    assert (tmp_path / "ended").exists()


def test_ctrl_c_waits_for_a_removal_on_a_host_that_hangs(tmp_path: Path) -> None:
    path = install(tmp_path, ssh=f"echo $$ >{tmp_path}/began; exec sleep 300")["PATH"]

    assert _ended_by(signal.SIGINT, tmp_path / "began", path, "hosts", "clean", "n1", patience_s=20) == 130


def _ended_by(number: int, began: Path, path: str, *words: str, patience_s: float = 30.0) -> int:
    """Return the exit status of gputop after a signal, sent once its program has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", _LISTENING, *words], env=os.environ | {"PATH": path}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    ) as gputop:  # fmt: skip
        try:
            until = time.monotonic() + _PATIENCE_S
            while not (began.exists() and began.read_text().endswith("\n")):
                assert time.monotonic() < until, "it did not begin"
                assert gputop.poll() is None
                time.sleep(0.02)
            gputop.send_signal(number)
            return gputop.wait(patience_s)
        finally:
            gputop.kill()
            with suppress(FileNotFoundError, ProcessLookupError):
                os.kill(int(began.read_text()), signal.SIGKILL)


def test_hosts_by_ssh_have_no_table_and_one_that_is_dead_hides_the_others(tmp_path: Path) -> None:
    with ssh_host(tmp_path / "host") as host:
        done = _gputop(
            host.environment["PATH"], "doctor", "--demo", "training", "--hosts", "box1,dead,box2", "--over", "ssh"
        )  # fmt: skip

        assert done.stdout.splitlines()[0] == "3 hosts: 2 healthy, 1 no result"
        assert "Connection refused" in done.stdout
        assert done.returncode == 3
        for pid in host.pids:
            host.until_ended(pid)
