"""Tables of receivers: each mistake is named, and secrets stay in files."""

from typing import Any

import pytest

from gputop.core.settings.receivers import ReceiverKind, read_receivers, receiver
from gputop.core.settings.settings import Settings, parse
from gputop.core.settings.toml import effective

AM = {"kind": "alertmanager", "url": "http://127.0.0.1:9093"}


def mistakes(**values: Any) -> list[tuple[str, str]]:
    found, wrong = read_receivers({"ops": values})

    assert not (found and wrong)
    return [(path, message + (f" ({hint})" if hint else "")) for path, message, hint in wrong]


def test_a_valid_table_is_a_receiver() -> None:
    found, wrong = read_receivers({"ops": AM | {"stage": "alarm", "codes": ["gpu.lost"], "resend_s": 30}})
    one = receiver("ops", found["ops"])

    assert wrong == []
    assert (one.kind, one.url, one.stage.value, one.codes, one.resend_s) == (
        ReceiverKind.ALERTMANAGER, AM["url"], "alarm", ("gpu.lost",), 30.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "path", "message"),
    [
        ({}, "kind", "None is not one of alertmanager"),
        ({"kind": "slak"}, "kind", "'slak' is not one of alertmanager, webhook, slack, mail"),
        ({"kind": "slack"}, "", "a receiver of kind slack needs url_file"),
        ({"kind": "slack", "url": "https://hooks.slack.com/x"}, "url", "a receiver of kind slack has no such setting"),
        (AM | {"ulr": 1}, "ulr", "a receiver of kind alertmanager has no such setting (url)"),
        (AM | {"every_s": 5}, "every_s", "a receiver of kind alertmanager has no such setting"),
        (AM | {"resend_s": 0}, "resend_s", "0 is not a number of seconds from 1 to 3600"),
        (AM | {"stage": "bad"}, "stage", "'bad' is not one of observation, suspect, alarm"),
        (AM | {"url_file": "/x"}, "", "has both url and url_file; remove one"),
        (AM | {"user": "ann"}, "", "user and password_file need each other"),
        (AM | {"token_file": "token"}, "token_file", "'token' is not the full path of a file"),
        ({"kind": "webhook", "url": "ftp://x"}, "url", "'ftp://x' is not a URL such as http://127.0.0.1:9093"),
        ({"kind": "webhook", "url": "http://[::1"}, "url", "'http://[::1' is not a URL such as http://127.0.0.1:9093"),
        ({"kind": "webhook", "url": "http://x\r\nA: b"}, "url", "is not a URL"),
        ({"kind": "mail", "to": ["-X/etc/passwd"]}, "to", "is not a list of addresses"),
        ({"kind": "mail", "to": ["a@b\nBcc: eve@x"]}, "to", "is not a list of addresses"),
        ({"kind": "mail", "to": "ops@example.org"}, "to", "is not a list of addresses"),
        ({"kind": "command", "command": "rm -rf /"}, "command", "is not a list of words"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(values: dict[str, Any], path: str, message: str) -> None:
    wrong = mistakes(**values)

    assert wrong[0][0] == (f"receivers.ops{'.' if path else ''}{path}")
    assert message in wrong[0][1]


@pytest.mark.parametrize("url", ["http://ann:s3cr3t@host/", "https://host/in?token=s3cr3tvalue123"])
def test_a_secret_in_the_file_of_settings_is_refused_and_not_repeated(url: str) -> None:
    ((_, message),) = mistakes(kind="webhook", url=url)

    assert "contains a secret" in message
    assert "s3cr3t" not in message


@pytest.mark.parametrize("given", [1, "ops", [AM]])
def test_what_is_no_table_is_a_mistake(given: object) -> None:
    assert read_receivers(given)[1][0][0] == "receivers"
    assert read_receivers({"ops": given})[1][0][0] == "receivers.ops"


def test_the_file_of_settings_has_receivers_and_shows_them() -> None:
    settings, problems = parse({"receivers": {"ops": AM, "bad": {"kind": "mail"}}, "runbooks": "https://x/docs"})

    assert settings.receivers == {"ops": AM}
    assert [str(problem) for problem in problems] == ["receivers.bad: a receiver of kind mail needs to"]
    assert '[receivers.ops]\nkind = "alertmanager"\nurl = "http://127.0.0.1:9093"\n' in effective(settings)
    assert Settings().receivers == {}
