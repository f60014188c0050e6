"""Delivery: what each kind of receiver gets, with words of a hostile process in it."""

import email
import email.policy
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from alert_examples import alert
from examples import NOW
from http_receiver import http_receiver

from gputop.app.alerting.delivery import Delivery
from gputop.core.settings.receivers import Receiver, ReceiverKind

HOSTILE = "x\r\nBcc: eve@example.org\r\n\r\n<!channel> & <http://evil|click> $(id) `id` \"'\\ \x1b[2J é"
LINK = "https://docs.example.org/findings.md#hardware"


def sender(kind: str, environment: Mapping[str, str] = os.environ, **values: Any) -> Delivery:
    receiver = Receiver(name="ops", kind=ReceiverKind(kind), **values)
    return Delivery(receiver, lambda _: LINK, environment)


def secret_file(tmp_path: Path, text: str) -> str:
    file = tmp_path / "secret"
    file.write_text(f"{text}\n")
    return str(file)


def program(tmp_path: Path, text: str) -> str:
    file = tmp_path / "program"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def test_a_webhook_gets_the_message_of_alertmanager() -> None:
    over = alert("leak.process", summary=HOSTILE).ended(NOW + 60)
    with http_receiver() as server:
        assert sender("webhook", url=server.url + "/in").send((alert(), over)).problem == ""
    message = server.messages[0]

    assert (message["version"], message["status"], message["receiver"]) == ("4", "firing", "ops")
    assert [one["status"] for one in message["alerts"]] == ["firing", "resolved"]
    assert message["alerts"][0]["endsAt"] == "0001-01-01T00:00:00Z"
    assert message["alerts"][1]["endsAt"] > message["alerts"][1]["startsAt"]
    assert message["alerts"][0]["annotations"]["runbook_url"] == LINK
    assert message["commonLabels"]["severity"] == "critical"
    assert "alertname" not in message["commonLabels"]
    assert set(message) == {
        "version", "groupKey", "truncatedAlerts", "status", "receiver", "groupLabels", "commonLabels",
        "commonAnnotations", "externalURL", "alerts",
    }  # fmt: skip


def test_slack_never_gets_a_call_of_people_or_a_link_from_a_process(tmp_path: Path) -> None:
    with http_receiver() as server:
        delivery = sender("slack", url_file=secret_file(tmp_path, server.url + "/services/T/B/x"))
        assert delivery.send((alert(summary=HOSTILE),)).problem == ""
    text = server.messages[0]["text"]

    assert "&lt;!channel&gt; &amp; &lt;http://evil|click&gt;" in text
    assert text.count("<") == 1
    assert f"<{LINK}|runbook>" in text
    assert server.requests[0]["path"] == "/services/T/B/x"


def test_a_message_for_slack_is_never_longer_than_its_limit(tmp_path: Path) -> None:
    many = tuple(alert(f"code{number}", summary="&" * 5000) for number in range(50))
    with http_receiver() as server:
        assert sender("slack", url_file=secret_file(tmp_path, server.url)).send(many).problem == ""
    text = server.messages[0]["text"]

    assert len(text) < 3100
    assert text.endswith(" more")


def test_a_mail_has_no_header_and_no_receiver_of_a_process(tmp_path: Path) -> None:
    name = program(tmp_path, f'printf "%s|" "$@" > {tmp_path}/args; cat > {tmp_path}/mail')
    delivery = sender("mail", to=("ops@example.org", "ann"), sendmail=(name, "-X"))
    host_problem = delivery.send((alert(summary=HOSTILE, label=HOSTILE), alert("leak.process"))).problem
    mail = email.message_from_bytes((tmp_path / "mail").read_bytes(), policy=email.policy.default)

    assert host_problem == ""
    assert (tmp_path / "args").read_text() == "-X|-i|--|ops@example.org|ann|"
    assert (mail["To"], mail["Bcc"], mail["Auto-Submitted"]) == ("ops@example.org, ann", None, "auto-generated")
    assert "findings: 2 new" in mail["Subject"]
    assert "$(id) `id`" in mail.get_content()
    assert LINK in mail.get_content()


def test_a_mail_program_that_fails_is_reported(tmp_path: Path) -> None:
    delivery = sender("mail", to=("ops@example.org",), sendmail=(program(tmp_path, "exit 75"),))

    assert delivery.send((alert(),)).problem.endswith("ended with status 75")


def test_a_command_gets_the_facts_and_no_shell_reads_them(tmp_path: Path) -> None:
    name = program(
        tmp_path, f'printf "%s\\n" "$GPUTOP_STAGE" "$GPUTOP_TEXT" "$#" > {tmp_path}/facts; cat > {tmp_path}/in'
    )
    assert sender("command", command=(name,)).send((alert(summary=HOSTILE).ended(NOW),)).problem == ""
    stage, text, count = (tmp_path / "facts").read_text().splitlines()

    assert (stage, count) == ("resolved", "0")
    assert text.startswith("over: GPU 0: x")
    assert "$(id) `id`" in text
    assert json.loads((tmp_path / "in").read_text())["code"] == "gpu.lost"


def test_a_desktop_that_is_absent_is_a_problem_and_not_a_crash() -> None:
    assert "no desktop" in sender("desktop", {"PATH": "/usr/bin"}).send((alert(),)).problem


def test_the_desktop_shows_many_findings_in_one_message_without_words_of_a_process(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program(tmp_path, f'printf "%s\\n" "$@" > {tmp_path}/args')
    (tmp_path / "program").rename(folder / "notify-send")
    delivery = sender("desktop", {"PATH": f"{folder}:/usr/bin:/bin", "DISPLAY": ":0"})
    many = (alert(summary=HOSTILE, label=HOSTILE), alert("leak.process"))

    assert delivery.send(many).problem == ""
    words = (tmp_path / "args").read_text().splitlines()
    assert words[:2] == ["--app-name=gputop", "--"]
    assert words[2].endswith("findings: 2 new")
    assert len(words) == 3


@pytest.mark.parametrize(("status", "is_final"), [(400, True), (422, True), (401, False), (404, False), (503, False)])
def test_a_receiver_that_refuses_the_message_is_final_and_any_other_error_is_not(
    status: int, *, is_final: bool
) -> None:
    with http_receiver([status]) as server:
        reply = sender("webhook", url=server.url).send((alert(),))

    assert (reply.is_final, f"HTTP status {status}" in reply.problem) == (is_final, True)


def test_a_secret_is_in_the_request_and_never_in_the_problem(tmp_path: Path) -> None:
    file = secret_file(tmp_path, "s3cr3t-token")
    with http_receiver([401]) as server:
        reply = sender("webhook", url=server.url, token_file=file).send((alert(),))

    assert server.requests[0]["Authorization"] == "Bearer s3cr3t-token"
    assert "s3cr3t" not in reply.problem


def test_a_url_that_does_not_answer_is_masked_in_the_problem(tmp_path: Path) -> None:
    url = secret_file(tmp_path, "http://ann:s3cr3t@127.0.0.1:1/T0/s3cr3t?key=s3cr3t")
    reply = sender("slack", url_file=url).send((alert(),))

    assert reply.problem == "http://127.0.0.1:1: Connection refused"


def test_a_secret_that_changes_is_read_again(tmp_path: Path) -> None:
    with http_receiver() as server:
        delivery = sender("webhook", url=server.url, user="ann", password_file=secret_file(tmp_path, "old"))
        delivery.send((alert(),))
        secret_file(tmp_path, "new")
        delivery.send((alert(),))

    assert [one["Authorization"] for one in server.requests] == ["Basic YW5uOm9sZA==", "Basic YW5uOm5ldw=="]


@pytest.mark.filterwarnings("ignore")  # of apprise's own libraries
def test_apprise_delivers_where_it_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("apprise", reason="apprise is not installed")
    with http_receiver() as server:
        url = secret_file(tmp_path, f"json://127.0.0.1:{server.port}/in")
        assert sender("apprise", url_file=url).send((alert(),)).problem == ""

    assert "gpu.lost" in json.dumps(server.messages[0])
