"""gputop notify and gputop watch --notify: real receivers, an Alertmanager among them, and bad configurations."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from alertmanager import alertmanager, free_port
from http_receiver import HttpReceiver, http_receiver

from gputop.core.notification.outbox import KeptAlert

PATIENCE_S = 120.0
TLS = '[receivers.ops]\nkind = "webhook"\nurl = "https://127.0.0.1:1"\n'
LEAST = ["--demo", "trouble", "--interval", "0.2"]


def configured(home: Path, text: str) -> dict[str, str]:
    """Write a configuration file; return the environment that has it."""
    folder = home / "gputop"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)
    return os.environ | {"XDG_CONFIG_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


def gputop(*arguments: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True, check=False, text=True, timeout=PATIENCE_S, env=environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@contextmanager
def running(*arguments: str, environment: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """Run gputop; end it with SIGINT."""
    command = [sys.executable, "-m", "gputop", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


def test_findings_reach_a_service_of_apprise_and_its_secret_stays_hidden(tmp_path: Path) -> None:
    pytest.importorskip("apprise", reason="apprise is not installed")
    file = tmp_path / "apprise-url"
    file.touch(0o600)
    environment = configured(tmp_path, "")
    with http_receiver() as server:
        file.write_text(f"json://ann:s3cr3t@127.0.0.1:{server.port}/in\n")
        with running("notify", f"apprise:{file}", *LEAST, environment=environment):
            assert server.until(lambda: any("alarm stuck.collective: job" in one["message"] for one in server.messages))
    refused = gputop("notify", "--test", f"apprise:{file}", environment=environment)

    assert server.requests[0]["Authorization"].startswith("Basic ")
    assert refused.stdout == "apprise: failed: apprise could not deliver the message\n"
    assert "s3cr3t" not in refused.stdout + refused.stderr


def test_a_test_message_reaches_each_receiver_and_the_outcomes_are_printed(tmp_path: Path) -> None:
    with http_receiver() as server:
        text = f'[receivers.good]\nkind = "webhook"\nurl = "{server.url}"\n[receivers.bad]\nkind = "webhook"\nurl = "http://127.0.0.1:1"\n'
        environment = configured(tmp_path, text)
        both = gputop("notify", "--test", environment=environment)
        good = gputop("notify", "--test", "good", environment=environment)
        bad = gputop("notify", "--test", "bad", environment=environment)

    assert both.stdout == "good: delivered\nbad: failed: http://127.0.0.1:1: Connection refused\n"
    assert (both.returncode, good.returncode, bad.returncode) == (1, 0, 4)
    assert server.messages[0]["alerts"][0]["labels"]["alertname"] == "gputop.test"


def test_findings_reach_a_webhook_that_the_command_line_names(tmp_path: Path) -> None:
    with http_receiver() as server:
        environment = configured(tmp_path, "")
        with running("notify", f"webhook:{server.url}/in", *LEAST, environment=environment) as process:
            assert server.until(lambda: bool(server.bodies))
        alerts = server.messages[0]["alerts"]

    assert process.returncode == 0
    assert {"gpu.lost", "stuck.collective"} & {one["labels"]["alertname"] for one in alerts}
    assert all(one["status"] == "firing" for one in alerts)


def firing(server: HttpReceiver) -> list[str]:
    return [one["fingerprint"] for message in server.messages for one in message["alerts"] if one["status"] == "firing"]


def test_a_killed_gputop_sends_what_was_due_and_nothing_twice(tmp_path: Path) -> None:
    environment = configured(tmp_path, "")
    with http_receiver() as old, http_receiver() as new, http_receiver([503] * 1000) as down:
        words = (f"webhook:{old.url}", f"webhook:{down.url}")
        with running("notify", *words, *LEAST, environment=environment) as process:
            assert old.until(lambda: bool(old.bodies))
            assert down.until(lambda: bool(down.bodies))
            wait_until_kept(tmp_path / "state" / "gputop" / "alerts", set(firing(old)))
            process.kill()
        before, failed = firing(old), len(firing(down))
        due = set(firing(down))
        down.answers.clear()
        with running("notify", *words, f"webhook:{new.url}", *LEAST, environment=environment):
            assert new.until(lambda: set(before) <= set(firing(new)))  # found again
            assert down.until(lambda: due <= set(firing(down)[failed:]))

    assert set(before)
    assert len(firing(old)) == len(set(firing(old)))
    assert not [one for message in old.messages for one in message["alerts"] if one["status"] == "resolved"]


def wait_until_kept(folder: Path, fingerprints: set[str]) -> None:
    """Wait until a file says that a receiver has these alerts."""
    end = time.monotonic() + PATIENCE_S
    while not any(fingerprints <= has_got(file) for file in folder.glob("*.json")):
        assert time.monotonic() < end
        time.sleep(0.05)


def has_got(file: Path) -> set[str]:
    alerts = msgspec.json.decode(msgspec.json.encode(json.loads(file.read_text())["alerts"]), type=list[KeptAlert])
    return {one.alert.fingerprint for one in alerts if one.known is False}


def test_watch_sends_what_it_finds_before_it_ends(tmp_path: Path) -> None:
    with http_receiver() as server:
        environment = configured(tmp_path, "")
        done = gputop("watch", "--for", "1s", "--notify", f"webhook:{server.url}", *LEAST, environment=environment)

    assert done.returncode == 2
    assert server.messages[0]["alerts"]


def test_the_exporter_sends_what_it_finds(tmp_path: Path) -> None:
    with http_receiver() as server:
        words = ("export", "--listen", "127.0.0.1:0", "--notify", f"webhook:{server.url}", *LEAST)
        with running(*words, environment=configured(tmp_path, "")) as process:
            assert server.until(lambda: bool(server.bodies))

    assert process.returncode == 0
    assert server.messages[0]["receiver"] == "webhook"


def test_only_the_chosen_codes_are_sent_by_mail_of_a_real_program(tmp_path: Path) -> None:
    program = tmp_path / "sendmail"
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/new && mv {tmp_path}/new {tmp_path}/mail\n")
    program.chmod(0o755)
    text = f'[receivers.ann]\nkind = "mail"\nto = ["ann"]\nsendmail = ["{program}"]\ncodes = ["leak"]\n'
    done = gputop("watch", "--for", "1s", "--notify", "ann", *LEAST, environment=configured(tmp_path, text))
    mail = (tmp_path / "mail").read_text()

    assert done.returncode == 2
    assert "To: ann\n" in mail
    assert "leak.process" in mail
    assert "stuck" not in mail.replace("=\n", "")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", [], "no receiver: add [receivers.NAME] to"),
        ('[receivers.ops]\nkind = "slack"\n', [], "line 1: receivers.ops: a receiver of kind slack needs url_file"),
        ('[receivers.ops]\nkind = "webhook"\nurl = "x"\n', [], "line 3: receivers.ops.url: 'x' is not a URL"),
        ('[receivers.ops]\nkind = "slack"\nurl_file = "/nonexistent/x"\n', [], "cannot read /nonexistent/x: No such"),
        (f'{TLS}ca_file = "/nonexistent/ca"\n', [], "receiver ops: cannot use /nonexistent/ca: No such file"),
        (f'{TLS}cert_file = "/proc/version"\n', [], "receiver ops: cannot use /proc/version: this is not PEM"),
        ("", ["chat"], "no such receiver: chat"),
        ("", ["webhook:nowhere"], "webhook: 'nowhere' is not a URL"),
        ("", ["webhook:http://a:s3cr3t@x/"], "webhook: contains a secret"),
        ("", ["slack:http://hooks/s3cr3t"], "slack: 'http://hooks/s3cr3t' is not the full path of a file"),
        ("=", [], "this is not TOML"),
    ],
)
def test_a_bad_configuration_is_one_line_and_status_2(
    tmp_path: Path, text: str, arguments: list[str], message: str
) -> None:
    done = gputop("notify", *arguments, environment=configured(tmp_path, text))

    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_slack_url_is_in_a_file_and_not_on_the_command_line_or_in_an_error(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("http://127.0.0.1:1/services/T0/B0/s3cr3t\n")
    done = gputop("notify", "--test", f"slack:{file}", environment=configured(tmp_path, ""))

    assert done.stdout == "slack: failed: http://127.0.0.1:1: Connection refused\n"
    assert "s3cr3t" not in done.stderr


def test_a_snapshot_loads_nothing_of_it_also_with_receivers_in_the_settings(tmp_path: Path) -> None:
    text = '[receivers.ops]\nkind = "alertmanager"\nurl = "http://127.0.0.1:9093"\n'
    code = (
        "import os, sys\nos._exit = lambda status: (print(*sys.modules, file=sys.stderr), sys.exit(status))\n"
        "sys.argv = ['gputop', 'snapshot', '--demo', '--json', '--wait', '0']\n"
        "from gputop.__main__ import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=configured(tmp_path, text)
    )
    loaded = set(done.stderr.split())

    assert loaded.isdisjoint({"http.client", "ssl", "email", "urllib.request", "apprise"})
    assert not [name for name in loaded if name.startswith(("gputop.app.alerting", "gputop.machine.notify"))]


def test_a_frame_reaches_an_alertmanager_that_comes_up_later(tmp_path: Path) -> None:
    port = free_port()
    text = f'[receivers.ops]\nkind = "alertmanager"\nurl = "http://127.0.0.1:{port}"\ncodes = ["leak"]\n'
    environment = configured(tmp_path, text)
    with http_receiver() as hook, running("notify", *LEAST, environment=environment) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any("Connection refused. gputop tries again" in line for line in lines)
        with alertmanager(tmp_path, port, hook.url) as server:
            assert any("it works again" in line for line in lines)
            assert hook.until(lambda: bool(hook.bodies))
            known = server.alerts()
        fired = hook.messages[0]["alerts"]

    assert [one["labels"]["alertname"] for one in fired] == ["leak.process"]
    assert {one["fingerprint"] for one in fired} == {one["fingerprint"] for one in known}
