"""The source MPS: servers, their states and clients, from a daemon that works, is broken, or lies."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_mps import FAULT, FakeMps, fake_mps
from other_users import OTHER, give, needs_root

from gputop.core.insight.explanation import Explanation, SourceReport, SourceState
from gputop.core.insight.mps import MpsServers, devices_in
from gputop.core.insight.text import lines
from gputop.core.insight.verdict import verdict
from gputop.machine.insight.mps import report_of


@pytest.fixture
def mps(tmp_path: Path) -> Iterator[FakeMps]:
    with fake_mps(tmp_path) as fake:
        yield fake


def _report(fake: FakeMps) -> SourceReport:
    return report_of(fake.members, fake.opened, [fake.clients[0].pid])


def _text(fake: FakeMps, report: SourceReport) -> str:
    return "\n".join(lines(Explanation(id="1", members=tuple(fake.members), sources=(report,))))


def test_the_server_and_all_of_its_clients_are_shown(mps: FakeMps) -> None:
    report = _report(mps)

    assert report.state is SourceState.ANSWERED, report.note
    assert isinstance(report.details, MpsServers)
    assert [client.pid for client in report.details.servers[0].clients] == [each.pid for each in mps.clients]
    assert f"server {mps.server.pid}: ACTIVE, 2 clients" in _text(mps, report)
    assert f"client {mps.clients[1].pid} on GPU-cb1213a3-d6a4" in _text(mps, report)


def test_the_verdict_is_the_fault_of_the_server_not_the_place_of_its_clients(mps: FakeMps) -> None:
    (mps.place / "state").write_text(f"{FAULT}\n")

    report = _report(mps)

    assert verdict(mps.members, (), [report]) == (
        f"pids {mps.clients[0].pid} and {mps.clients[1].pid} cannot work: MPS server {mps.server.pid} has a fault."
    )
    assert "It takes new clients when all of its present clients have ended." in _text(mps, report)


def test_the_clients_of_another_server_are_not_shown(mps: FakeMps) -> None:
    (mps.place / "clients").write_text("4711\n")

    report = _report(mps)

    assert report.state is SourceState.UNAVAILABLE
    assert report.note == "none of these processes is a client of its daemon"


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("echo 'Cannot find MPS control daemon process' >&2; exit 1", "Cannot find MPS control daemon process"),
        ("sleep 60", "it took too long"),
        ("yes", "it sent too much"),
    ],
)
def test_a_daemon_that_cannot_be_asked_says_why(mps: FakeMps, script: str, note: str) -> None:
    mps.answers("ps", script)

    report = _report(mps)

    assert (report.state, report.note) == (SourceState.UNAVAILABLE, note)
    assert report.remedy.startswith("sudo gputop explain ") == (os.geteuid() != 0)


def test_hostile_answers_reach_no_terminal(mps: FakeMps) -> None:
    mps.answers("get_server_status", r"printf '\033]0;x\007\033[2J\n'")
    mps.answers("ps", r"printf 'PID DEVICE\n%s \033[31mGPU\n' " + str(mps.clients[0].pid))

    text = _text(mps, _report(mps))

    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_table_without_known_headings_names_no_device() -> None:
    assert devices_in("CLIENT GPU\n4711 0\n") == {}
    assert devices_in("") == {}


@needs_root
def test_root_does_not_ask_the_daemon_of_a_user_as_root() -> None:
    place = Path(tempfile.mkdtemp(prefix="mps-"))
    try:
        place.chmod(0o755)
        give(place)
        with fake_mps(place) as mps:
            shutil.move(place / "bin", bin_ := Path(tempfile.mkdtemp(prefix="bin-")) / "bin")
            bin_.parent.chmod(0o755)
            mps.environment["PATH"] = f"{bin_}:{os.environ['PATH']}"
            for path in place.iterdir():
                give(path)
            report, asked = _report(mps), mps.asked()
            shutil.rmtree(bin_.parent)
    finally:
        shutil.rmtree(place)

    assert report.state is SourceState.ANSWERED, report.note
    assert {line.split()[0] for line in asked} == {str(OTHER)}


@needs_root
def test_root_follows_no_link_to_the_pipes_of_a_daemon(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    with fake_mps(tmp_path / "real") as mps:
        mps.place.rename(tmp_path / "moved")
        (tmp_path / "real").symlink_to(tmp_path / "moved")
        mps.environment["PATH"] = f"{tmp_path}/moved/bin:{os.environ['PATH']}"
        report = _report(mps)

    assert report.note == "its directory is a link"
