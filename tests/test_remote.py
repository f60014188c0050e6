"""gputop on another host, by a real ssh and a real sshd on loopback."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from children import child, only
from examples import frame
from real_terminal import GPUTOP, terminal
from ssh_host import PATIENCE_S, SshHost, ssh_host
from ssh_links import greeting, link, until

from gputop.core.model.sample import SCHEMA_VERSION, Frame
from gputop.core.protocol.command import Inspect, Renice, SendSignal, Target
from gputop.core.protocol.link import Down
from gputop.core.protocol.outcome import Outcome, Status
from gputop.core.protocol.remote import Hello
from gputop.wire.encoder import encode
from gputop.wire.ssh.client import SshClient

NOBODY = (Target(4711, 47110),)
# gputop's sampler with its real control, but with frames made by hand: there is no driver here
SAMPLER = (
    "import os, sys, time",
    f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parent / 'support')]!r}",
    "from examples import frame",
    "from gputop.app.backend.backend import BackendRequest",
    "from gputop.app.backend.operations.choice import open_control",
    "from gputop.app.serving.greeting import greet",
    "from gputop.wire.server import ChangeQueue, Lines, Rhythm, obey, serve",
    "class Source:",
    "    interval_s = 1.0",
    "lines, request = Lines(sys.stdout.buffer), BackendRequest(read_only='--read-only' in sys.argv)",
    "listener, rhythm = greet(request, lines, 60.0), Rhythm(Source())",
    "changes = ChangeQueue(open_control(request, frozenset({os.getpid()})).execute, lines, rhythm)",
    "obey(sys.stdin.buffer, rhythm, changes, beats=listener.take)",
    "serve(listener.paced(lambda: frame(time_s=time.time())), lines, rhythm)",
)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[SshHost]:
    with ssh_host(tmp_path / "host") as host:
        yield host


def refusal(host: SshHost) -> tuple[str, list[str]]:
    """Return why there is no link, and what was printed."""
    printed: list[str] = []
    client = SshClient(host.remote, ["--demo"], printed.append)
    try:
        greeting = client.greet()
    finally:
        client.close()
    assert isinstance(greeting, Down)
    assert greeting.retry_s is None
    return greeting.reason, printed


def gputop(host: SshHost, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*GPUTOP, "--host", "box", *words],
        env=host.environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S * 2,
    )  # fmt: skip


# --- the screen --------------------------------------------------------------------------------------------------
def test_the_screen_of_another_host_shows_no_host_no_age_and_leaves_its_sampler_behind(box: SshHost) -> None:
    with terminal(*GPUTOP, "--host", "box", "--demo", size=(150, 44), environment=box.environment) as shown:
        shown.until("dgx-07", "COMMAND", "ssh box", "s old, round trip")
        shown.press("q")
        assert shown.end() == 0
    box.until_ended(*box.pids)


def test_an_unknown_host_key_is_accepted_without_a_question(box: SshHost) -> None:
    box.forget_host_key()
    with terminal(*GPUTOP, "--host", "box", "--demo", environment=box.environment) as shown:
        shown.until("Are you sure you want to continue connecting")
        shown.press("no\r")
        assert shown.end() == 3
    assert "Host key verification failed" in shown.text
    assert (box.place / "known").read_text() == ""
    assert box.pids == []


def test_a_passphrase_can_be_typed_neither_before_the_screen_nor_after_a_lost_link(box: SshHost) -> None:
    box.protect_key("sesame")
    with terminal(*GPUTOP, "--host", "box", "--demo", size=(150, 44), environment=box.environment) as shown:
        shown.until("Enter passphrase")
        shown.press("sesame\r")
        shown.until("COMMAND", "round trip")
        os.kill(box.pids[0], signal.SIGKILL)
        shown.until("NO LINK TO box", "Permission denied", "Ctrl-G connects again: ssh can ask")
        shown.press("\x07")
        shown.until("Enter passphrase")
        shown.press("sesame\r")
        shown.until("COMMAND", "round trip")
        shown.press("q")
        assert shown.end() == 0


def test_a_host_without_gputop_gets_a_copy_without_a_question(box: SshHost) -> None:
    box.uninstall()
    with terminal(*GPUTOP, "--host", "box", "--demo", environment=box.environment) as shown:
        shown.until("gputop is not installed on box", "MiB into ~/.cache/gputop/brought", "Copy gputop there?")
        shown.press("n\r")
        assert shown.end() == 3
    assert not (box.place / "home" / ".cache").exists()


def test_a_host_is_asked_about_again_after_a_no_or_never_again(box: SshHost) -> None:
    box.uninstall()
    words = (*GPUTOP, "--host", "box", "--demo")
    with terminal(*words, environment=box.environment) as shown:
        shown.until("Copy gputop there?")
        shown.press("n\r")
        assert shown.end() == 3
    with terminal(*words, environment=box.environment) as shown:
        assert shown.end() == 3
    assert "Copy gputop there?" not in shown.text
    assert "To be asked again: gputop hosts add box" in shown.text
    subprocess.run([*GPUTOP, "hosts", "add", "box"], env=box.environment, check=True)
    with terminal(*words, environment=box.environment) as shown:
        shown.until("Copy gputop there?")
        shown.press("n\r")
        assert shown.end() == 3


def test_a_copy_that_was_brought_does_not_run(box: SshHost) -> None:
    box.uninstall()
    box.offer_python()
    with terminal(*GPUTOP, "--host", "box", "--demo", size=(150, 44), environment=box.environment) as shown:
        shown.until("Copy gputop there?")
        shown.press("y\r")
        shown.until("dgx-07", "COMMAND", "round trip")
        shown.press("q")
        assert shown.end() == 0
    done = gputop(box, "snapshot", "--demo", "--json", "--wait", "0")

    pattern = gputop(box, "snapshot", "--demo", "--wait", "0", "--where", "cmd~tr.in")
    screen = gputop(box, "config", "show")
    assert (done.returncode, json.loads(done.stdout)["host"]["name"]) == (0, "dgx-07")
    assert (pattern.returncode, pattern.stderr) == (0, "")
    assert (screen.returncode, "this gputop has no screen" in screen.stderr) == (1, True)
    assert [path.name for path in (box.place / "home" / ".cache" / "gputop").iterdir()] == ["brought"]


def test_a_copy_is_offered_to_a_python_that_is_too_old(box: SshHost) -> None:
    box.uninstall()
    box.pretend_python("3.9 x86_64", status=1)
    with terminal(*GPUTOP, "--host", "box", "--demo", size=(300, 44), environment=box.environment) as shown:
        assert shown.end() == 3
    assert "gputop needs Python 3.10 or newer there, and it has only Python 3.9 x86_64" in shown.text
    assert "Copy gputop there?" not in shown.text


def test_another_python_or_machine_gets_the_compiled_parts_of_this_one(box: SshHost, tmp_path: Path) -> None:
    pytest.importorskip("pip")
    box.uninstall()
    box.pretend_python("3.10 aarch64")
    wheels(tmp_path / "index", "cp310-cp310-manylinux2014_aarch64")
    variables = box.environment | {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "index"),
        "HOME": str(tmp_path),
    }
    subprocess.run([*GPUTOP, "hosts", "add", "box", "--copy", "yes"], env=box.environment, check=True)
    with terminal(*GPUTOP, "--host", "box", "--demo", environment=variables) as shown:
        shown.end()  # these parts cannot run here

    assert "box has Python 3.10 on aarch64" in shown.text
    assert "Copy gputop there?" not in shown.text
    brought = box.place / "home" / ".cache" / "gputop" / "brought"
    parts = {path.name for path in brought.rglob("*.so")}
    assert parts == {f"_{name}.cpython-310-aarch64-linux-gnu.so" for name in ("msgspec", "psutil", "re2")}
    assert [path.name for path in brought.rglob("tomli/*.py")] == ["__init__.py"]


def test_compiled_parts_that_cannot_be_fetched_have_no_reason(box: SshHost, tmp_path: Path) -> None:
    pytest.importorskip("pip")
    box.uninstall()
    box.pretend_python("3.14 aarch64")
    wheels(tmp_path / "index", "cp310-cp310-manylinux2014_aarch64")
    variables = box.environment | {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "index"),
        "HOME": str(tmp_path),
    }
    subprocess.run([*GPUTOP, "hosts", "add", "box", "--copy", "yes"], env=box.environment, check=True)
    with terminal(*GPUTOP, "--host", "box", "--demo", size=(200, 44), environment=variables) as shown:
        assert shown.end() == 3
    assert "the compiled parts for Python 3.14 on aarch64 could not be fetched: ERROR: No matching" in shown.text
    assert not (box.place / "home" / ".cache").exists()


def wheels(folder: Path, tag: str) -> None:
    """Fill a package index with the compiled libraries, each with one compiled part, and tomli."""
    folder.mkdir()
    for name, package in (("msgspec", "msgspec"), ("psutil", "psutil"), ("re2", "google-re2"), ("tomli", "")):
        release = f"{(package or name).replace('-', '_')}-{version(package) if package else '2.0'}"
        fits = tag if package else "py3-none-any"
        part = {f"{name}/_{name}.cpython-310-aarch64-linux-gnu.so": ""} if package else {}
        told = {
            "METADATA": f"Metadata-Version: 2.1\nName: {package or name}\nVersion: {release.rpartition('-')[2]}\n",
            "WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {fits}\n",
            "RECORD": "",
        }
        files = {f"{name}/__init__.py": "", **part}
        files |= {f"{release}.dist-info/{each}": text for each, text in told.items()}
        with ZipFile(folder / f"{release}-{fits}.whl", "w") as wheel:
            for path, text in files.items():
                wheel.writestr(path, text)


# --- changes -----------------------------------------------------------------------------------------------------
def test_a_signal_does_not_reach_a_process_there_or_is_not_audited_there(box: SshHost) -> None:
    box.install(*SAMPLER)
    with child("SIGTERM") as target, link(box) as (client, news):
        until(news, Frame)
        client.send(SendSignal(id="1", signal="SIGTERM", targets=(target.target,)))
        outcome = until(news, Outcome)
        assert target.line() == "SIGTERM"
    assert isinstance(outcome, Outcome)
    assert only(outcome).status is Status.DONE
    lines = [json.loads(line) for line in box.audit.splitlines()]
    assert [line["event"] for line in lines] == ["intent", "outcome"]
    assert all(line["ssh"].startswith("127.0.0.1 ") and line["pid"] == target.pid for line in lines)


def test_read_only_is_forgotten_on_the_way(box: SshHost) -> None:
    box.install(*SAMPLER)
    with child("SIGTERM") as target, link(box, "--read-only") as (client, news):
        client.send(SendSignal(id="1", signal="SIGTERM", targets=(target.target,)))
        outcome = until(news, Outcome)
        assert target.state() != "Z"
    assert isinstance(outcome, Outcome)
    assert only(outcome).status is Status.REFUSED


def test_a_process_is_signalled_on_a_picture_that_is_too_old(box: SshHost) -> None:
    old = encode(frame(time_s=1000.0)).decode()
    script = ("import sys, time", greeting(), "sys.stdin.readline()")
    echo = 'print(\'{"answer":"echo","sent_s":%r,"time_s":%r}\' % (time.time(), time.time()), flush=True)'
    box.install(*script, echo, f"print({old!r}, end='', flush=True)", "sys.stdin.read()")
    with link(box) as (client, news):
        until(news, Frame)
        client.send(SendSignal(id="1", signal="SIGTERM", targets=NOBODY))
        outcome = until(news, Outcome)
    assert isinstance(outcome, Outcome)
    assert only(outcome).status is Status.REFUSED
    assert "as it was more than" in only(outcome).detail


# --- the link ----------------------------------------------------------------------------------------------------
def test_a_killed_link_stays_down_or_leaves_its_sampler_behind(box: SshHost) -> None:
    with link(box, "--demo") as (client, news):
        until(news, Frame)
        client.child.kill()
        down = until(news, Down)
        until(news, Frame)
        box.until_ended(box.pids[0])
    assert isinstance(down, Down)
    assert down.retry_s is not None
    assert len(box.pids) == 2


def test_a_silent_link_is_waited_for_without_an_end(box: SshHost) -> None:
    box.install(*SAMPLER)
    with link(box, silence_s=3.0) as (client, news):
        until(news, Frame)
        os.kill(client.child.pid, signal.SIGSTOP)
        down = until(news, Down)
        until(news, Frame)
    assert isinstance(down, Down)
    assert down.reason == "no answer from box for 3 s"


def test_a_sampler_that_nobody_listens_to_waits_for_ever() -> None:
    command = [*GPUTOP, "stream", "--remote", "1", "--demo", "--interval", "0.1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as sampler:
        assert sampler.stdout is not None
        lines = sampler.stdout.read().splitlines()  # until it ends

        assert sampler.wait(PATIENCE_S) == 0
    assert lines[0] == b""
    assert [json.loads(line).get("sequence") for line in lines[1:]] in ([None, 1], [None, 1, 2])


def test_the_noise_of_a_login_shell_keeps_the_screen_from_starting(box: SshHost) -> None:
    box.greet_logins_with('Welcome!\\n{"answer":"echo"}\\n\\033[2J\\377 half a line')
    with link(box, "--demo") as (_, news):
        assert isinstance(until(news, Frame), Frame)


# --- hosts that do not answer as wanted ----------------------------------------------------------------------------
def test_a_changed_host_key_is_accepted(box: SshHost) -> None:
    box.change_host_key()
    reason, printed = refusal(box)

    assert reason == "Host key verification failed."
    assert any("REMOTE HOST IDENTIFICATION HAS CHANGED" in line for line in printed)
    assert box.pids == []


def test_a_host_without_gputop_is_tried_again_and_again(box: SshHost) -> None:
    box.uninstall()
    reason, _ = refusal(box)

    assert reason.startswith("gputop is not on the PATH of ")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            ("import sys", "print('gputop: unknown option --remote.', file=sys.stderr)", "sys.exit(2)"),
            "gputop on box is too old for --host: update it there",
        ),
        (
            ("import sys", greeting(schema_version=SCHEMA_VERSION + 1), "sys.stdin.read()"),
            "gputop 9.9 on box is newer than this one: update gputop here",
        ),
        (("while True: print('x' * 1000)",), "it sent more than 64 lines a second, so gputop ended it"),
        (("import sys", "sys.exit('\\x1b[2Jsorry')"), "␛[2Jsorry"),
    ],
    ids=["older", "newer", "flood", "escapes"],
)
def test_a_host_that_cannot_be_used_has_no_clear_reason(box: SshHost, script: tuple[str, ...], reason: str) -> None:
    box.install(*script)

    assert refusal(box)[0] == reason


def test_a_host_that_lacks_a_command_is_asked_for_it_without_an_answer(box: SshHost) -> None:
    box.install("import sys", greeting(), "sys.stdin.read()")
    with link(box) as (client, news):
        client.send(Inspect(id="1", pid=7))
        client.send(Renice(id="2", nice=5, targets=NOBODY))
        inspection, outcome = news.get(timeout=PATIENCE_S), news.get(timeout=PATIENCE_S)
    assert getattr(inspection, "problem", "") == "gputop 9.9 on box cannot do this"
    assert isinstance(outcome, Outcome)
    assert only(outcome).status is Status.REFUSED


def test_the_keys_of_what_an_older_gputop_lacks_look_and_act_as_if_it_had_it(box: SshHost) -> None:
    box.install(*speaking(encode(Hello(version="0.0.9", commands=("beat", "renice", "inspect")))))
    with terminal(*GPUTOP, "--host", "box", size=(160, 44), environment=box.environment) as shown:
        shown.until("COMMAND", "(F9 Signal)", "F7 Nice-")
        shown.press("w")
        shown.until("gputop 0.0.9 on box cannot do this. Update it there")
        shown.press("\x1bOP")
        shown.until("/ search")
        shown.press("/")
        shown.until("all keys")
        shown.press("where a job")
        shown.until("Why it hangs", "Off: gputop 0.0.9 on box cannot do this")


def test_what_only_a_newer_gputop_knows_breaks_the_screen(box: SshHost) -> None:
    hello = json.loads(encode(Hello(version="9.9")))
    hello |= {"commands": [*hello["commands"], "levitate"], "altitude_m": 3}
    box.install(*speaking(json.dumps(hello).encode() + b"\n", altitude_m=3))
    with terminal(*GPUTOP, "--host", "box", size=(160, 44), environment=box.environment) as shown:
        shown.until("COMMAND", "F9 Signal", "ssh box")
        shown.press("q")
        assert shown.end() == 0
    assert "(F9 Signal)" not in shown.text


def speaking(hello: bytes, **more: object) -> tuple[str, ...]:
    """Return a program that greets, and sends a frame, with more fields, for each command."""
    shown = {**json.loads(encode(frame())), **more}
    return (
        "import json, sys, time",
        f"print({hello.decode()!r}, end='', flush=True)",
        f"shown = json.loads({json.dumps(shown)!r})",
        "for _ in sys.stdin:",
        "    shown['time_s'] = time.time()",
        "    shown['sequence'] += 1",
        "    print(json.dumps(shown), flush=True)",
    )


def test_the_escapes_of_a_host_reach_the_screen(box: SshHost) -> None:
    evil = encode(frame()).decode().replace("node7", "\\u001b[2J\\u202e")
    box.install("import sys", greeting(), f"print({evil!r}, end='', flush=True)", "sys.stdin.read()")
    with link(box) as (_, news):
        found = until(news, Frame)
    assert isinstance(found, Frame)
    assert found.host.name == "␛[2J�"


# --- commands ----------------------------------------------------------------------------------------------------
def test_a_command_runs_here_in_place_of_there_or_loses_its_status(box: SshHost) -> None:
    done = gputop(box, "snapshot", "--demo", "--json", "--wait", "0", "--where", "user:ann cmd~'a b'")
    wrong = gputop(box, "snapshot", "--demo", "--jsn")
    box.refuse_key()
    lost = gputop(box, "snapshot")

    assert (done.returncode, json.loads(done.stdout)["host"]["name"]) == (0, "dgx-07")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "unknown option --jsn" in wrong.stderr
    assert lost.returncode == 255
    assert "Permission denied" in lost.stderr
    assert len(box.pids) == 2


def test_the_escapes_of_a_command_there_reach_the_terminal(box: SshHost) -> None:
    box.install(r"print('\x1b[2Jone\ttwo\r\nthree', end='')", "import sys", "sys.exit(4)")
    with terminal(*GPUTOP, "--host", "box", "snapshot", environment=box.environment) as shown:
        assert shown.end() == 4
    assert b"\x1b[2J" not in shown.written
    assert "␛[2Jone" in shown.text
    assert "three" in shown.text


def test_a_command_there_outlives_the_one_here(box: SshHost) -> None:
    words = [*GPUTOP, "--host", "box", "stream", "--demo"]
    with subprocess.Popen(words, env=box.environment, stdout=subprocess.PIPE) as here:
        assert here.stdout is not None
        here.stdout.readline()
        here.kill()
    box.until_ended(*box.pids)


@pytest.mark.parametrize("name", ["-oProxyCommand=true", "a b", "", "$(id)", "ann@-x", "a,-b", "a[1-2];b"])
def test_a_host_name_that_ssh_could_take_for_an_option_is_used(name: str) -> None:
    done = subprocess.run([*GPUTOP, f"--host={name}", "snapshot"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "is not " in done.stderr


# --- several hosts -------------------------------------------------------------------------------------------------
def test_several_hosts_have_no_rows_or_cannot_be_opened(box: SshHost) -> None:
    words = ("--host", "box[1-2],dead", "--demo")
    with terminal(*GPUTOP, *words, size=(150, 44), environment=box.environment) as shown:
        shown.until("3 hosts (1 down)", "box1 ████████", "box2 ████████", "Connection refused")
        shown.insist("\r", "ssh box1")
        shown.until("COMMAND", "ssh box1", "round trip")
        shown.press("}")
        shown.until("COMMAND", "ssh box2", "round trip")
        shown.press("}")
        shown.until("COMMAND", "ssh box1", "round trip")
        shown.press("{")
        shown.until("COMMAND", "ssh box2", "round trip")
        shown.press("q")
        shown.until("3 hosts (1 down)")
        shown.insist_until_gone("q", "3 hosts (1 down)")
        assert shown.end() == 0
    for pid in box.pids:
        box.until_ended(pid)


def test_several_hosts_without_a_terminal_have_no_table(box: SshHost) -> None:
    table = gputop(box, "--host=dead", "--demo")
    command = gputop(box, "--host=dead", "snapshot")

    assert table.returncode == 0
    assert [line.split()[0] for line in table.stdout.splitlines()[-2:]] == ["box", "dead"]
    assert "bob" in table.stdout
    assert "Connection refused" in table.stdout
    assert (command.returncode, command.stdout) == (2, "")
    assert "a command runs on one host" in command.stderr
