"""gputop hosts: the list of hosts, what each has, and the removal of copies, by a real ssh and sshd on loopback."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_terminal import GPUTOP, terminal
from ssh_host import PATIENCE_S, SshHost, ssh_host

from gputop import __version__
from gputop.core.model.units import NOTHING


@pytest.fixture
def box(tmp_path: Path) -> Iterator[SshHost]:
    with ssh_host(tmp_path / "host") as host:
        yield host


def hosts(place: Path, *words: str, host: SshHost | None = None) -> "subprocess.CompletedProcess[str]":
    """Run gputop with a configuration and state of the test's own."""
    return run(place, "hosts", *words, host=host)


def run(place: Path, *words: str, host: SshHost | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*GPUTOP, *words], env=environment(place, host), capture_output=True, text=True, check=False,
        timeout=PATIENCE_S * 2,
    )  # fmt: skip


def environment(place: Path, host: SshHost | None = None) -> dict[str, str]:
    for name in ("config", "kept"):
        (place / name).mkdir(exist_ok=True)
    known = host.environment if host is not None else {"PATH": "/usr/bin:/bin"}
    return {**known, "XDG_CONFIG_HOME": f"{place}/config", "XDG_STATE_HOME": f"{place}/kept", "HOME": str(place)}


def bring_copy(host: SshHost, *, is_ours: bool = True) -> Path:
    """Put on the host what a brought copy looks like, beside a file of the user."""
    copy = host.place / "home" / ".cache" / "gputop" / "brought"
    (copy / "bin").mkdir(parents=True)
    if is_ours:
        (copy / "pyvenv.cfg").write_text("home = /usr/bin\n")
    program = copy / "bin" / "gputop"
    program.write_text("#!/bin/sh\necho gputop 0.0.1\n")
    program.chmod(0o700)
    (copy.parent / "notes").write_text("of the user\n")
    return copy


# --- the list ----------------------------------------------------------------------------------------------------
def test_hosts_that_were_added_or_removed_are_not_those_of_the_list(tmp_path: Path) -> None:
    (tmp_path / "config" / "gputop").mkdir(parents=True)
    file = tmp_path / "config" / "gputop" / "config.toml"
    file.write_text('# my hosts\nhosts = ["node[01-03]"]\ntheme = "dark"\n')
    added = hosts(tmp_path, "add", "login1,ann@node7", "node[03-04]")
    removed = hosts(tmp_path, "remove", "node[02-03]")
    listed = hosts(tmp_path, "list")

    assert (added.returncode, removed.returncode, listed.returncode) == (0, 0, 0)
    assert "added 3 hosts; the list has 6 hosts" in added.stdout
    assert listed.stdout.split() == ["node01", "login1", "ann@node7", "node04"]
    assert file.read_text().startswith("# my hosts\n")
    assert 'theme = "dark"' in file.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "--", "-oProxyCommand=true"), "is not a host"),
        (("add", "a;b,c"), "is not the name of a host"),
        (("add", "node[1-5000]"), "has more than 1,024 hosts"),
        (("add", "node1", "--copy", "maybe"), "unknown value 'maybe'"),
        (("remove", "node1"), "node1 is not on the list"),
        (("clean", "$(id)"), "is not a host"),
        ((), "the list of hosts is empty. Add some: gputop hosts add"),
        (("clean",), "the list of hosts is empty"),
    ],
)
def test_a_bad_request_changes_the_list_or_has_no_reason(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = hosts(tmp_path, *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "config" / "gputop" / "config.toml").exists()


def test_remove_reports_success_though_the_answer_stays(tmp_path: Path) -> None:
    hosts(tmp_path, "add", "node1", "--copy", "yes")
    file = tmp_path / "kept" / "gputop" / "hosts.json"
    file.write_text('{"node1":tr')
    refused = hosts(tmp_path, "remove", "node1")
    file.unlink()
    removed = hosts(tmp_path, "remove", "node1")

    assert (refused.returncode, refused.stdout) == (2, "")
    assert "hosts.json has no answers that gputop can read. Remove it" in refused.stderr
    assert removed.stdout.splitlines() == [
        "removed 1 host", "If gputop copied itself to a host, remove the copy with: gputop hosts clean NAME",
    ]  # fmt: skip


def test_a_list_that_cannot_be_understood_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config" / "gputop").mkdir(parents=True)
    file = tmp_path / "config" / "gputop" / "config.toml"
    file.write_text('hosts = ["-oProxyCommand=true"]\n')
    added = hosts(tmp_path, "add", "node1")
    opened = run(tmp_path, "--host", "all")

    assert (added.returncode, opened.returncode) == (2, 2)
    assert "line 1: hosts: '-oProxyCommand=true' is not a host" in added.stderr
    assert file.read_text() == 'hosts = ["-oProxyCommand=true"]\n'


def test_all_is_a_host_of_that_name_or_does_not_open_the_list(box: SshHost, tmp_path: Path) -> None:
    empty = run(tmp_path, "--host", "all", "--demo", host=box)
    hosts(tmp_path, "add", "box[1-2]")
    with terminal(*GPUTOP, "--host", "all", "--demo", size=(150, 44), environment=environment(tmp_path, box)) as shown:
        shown.until("2 hosts", "box1 ████████", "box2 ████████")
        shown.press("q")
        assert shown.end() == 0
    assert empty.returncode == 2
    assert "the list of hosts is empty" in empty.stderr


# --- what each host has ------------------------------------------------------------------------------------------
def test_the_table_hides_which_gputop_a_host_has_or_that_a_host_is_down(box: SshHost, tmp_path: Path) -> None:
    box.greet_logins_with("gputop-hosts\\tcopy\\t9.9\\t1\\nhalf a line")
    hosts(tmp_path, "add", "box", "--copy", "no")
    hosts(tmp_path, "add", "dead")
    table = hosts(tmp_path, host=box)
    lines = [json.loads(line) for line in hosts(tmp_path, "--json", host=box).stdout.splitlines()]

    assert table.returncode == 1
    assert [line.split() for line in table.stdout.splitlines()[:2]] == [
        ["HOST", "GPUTOP", "COPY", "MAY", "COPY"], ["box", __version__, NOTHING, "no"],
    ]  # fmt: skip
    assert "dead  cannot be asked: ssh: connect to host 127.0.0.1" in table.stdout
    assert [(line["host"], line["has_gputop"], line["is_copy"], line["may_copy"]) for line in lines] == [
        ("box", True, False, False), ("dead", False, False, None),
    ]  # fmt: skip
    assert "Connection refused" in lines[1]["problem"]


def test_a_copy_is_taken_for_an_installed_gputop(box: SshHost, tmp_path: Path) -> None:
    box.uninstall()
    hosts(tmp_path, "add", "box")
    without = hosts(tmp_path, host=box).stdout
    bring_copy(box)
    with_copy = hosts(tmp_path, host=box)

    assert "not installed" in without
    assert with_copy.returncode == 0
    assert "0.0.1, a copy" in with_copy.stdout
    assert "KiB" in with_copy.stdout


def test_the_escapes_of_a_host_reach_the_table(box: SshHost, tmp_path: Path) -> None:
    box.install(r"print('\x1b[2Jevil')")
    hosts(tmp_path, "add", "box")
    table = hosts(tmp_path, host=box)

    assert "␛[2Jevil" in table.stdout
    assert "\x1b" not in table.stdout


# --- clean -------------------------------------------------------------------------------------------------------
def test_clean_leaves_the_copy_or_removes_more(box: SshHost, tmp_path: Path) -> None:
    copy = bring_copy(box)
    hosts(tmp_path, "add", "box", "--copy", "yes")
    removed = hosts(tmp_path, "clean", host=box)
    again = hosts(tmp_path, "clean", "box", "--json", host=box)

    assert removed.returncode == 0
    assert "box: removed ~/.cache/gputop/brought, " in removed.stdout
    assert [path.name for path in copy.parent.iterdir()] == ["notes"]
    assert json.loads(again.stdout) == {"host": "box", "removed_bytes": None, "problem": ""}
    assert json.loads((tmp_path / "kept" / "gputop" / "hosts.json").read_text()) == {}


def test_clean_reports_success_though_the_answer_stays(box: SshHost, tmp_path: Path) -> None:
    hosts(tmp_path, "add", "box", "--copy", "yes")
    lock = tmp_path / "kept" / "gputop" / "hosts.json.lock"
    lock.unlink()
    lock.mkdir()
    done = hosts(tmp_path, "clean", host=box)

    assert done.returncode == 2
    assert "box: gputop has brought no copy there" in done.stdout
    assert "gputop: cannot store the answer in" in done.stderr


def test_a_folder_that_gputop_did_not_make_is_removed(box: SshHost, tmp_path: Path) -> None:
    copy = bring_copy(box, is_ours=False)
    foreign = hosts(tmp_path, "clean", "box", host=box)
    elsewhere = copy.rename(copy.parent / "precious")
    (elsewhere / "pyvenv.cfg").write_text("")
    copy.symlink_to(elsewhere)
    linked = hosts(tmp_path, "clean", "box", host=box)

    assert (foreign.returncode, linked.returncode) == (3, 3)
    assert "nothing was removed: " in foreign.stderr
    assert "is not a copy that gputop made" in linked.stderr
    assert (elsewhere / "bin" / "gputop").exists()


def test_clean_hides_that_a_host_could_not_be_asked(box: SshHost, tmp_path: Path) -> None:
    bring_copy(box)
    done = hosts(tmp_path, "clean", "box,dead", host=box)
    none = hosts(tmp_path, "clean", "dead", host=box)

    assert (done.returncode, none.returncode) == (1, 3)
    assert "box: removed" in done.stdout
    assert "dead: nothing was removed: ssh: connect to host" in done.stderr
