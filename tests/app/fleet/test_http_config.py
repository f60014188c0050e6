"""The file with the credentials of a server."""

from base64 import b64decode
from pathlib import Path

import pytest

from gputop.app.errors import BadRequestError
from gputop.app.fleet.http_config import access_of


def _file(folder: Path, text: str) -> str:
    path = folder / "http.yml"
    path.write_text(text)
    return str(path)


def test_a_password_comes_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("pass:word\n")
    file = _file(tmp_path, "basic_auth: {username: ann, password_file: password}\n")
    kind, _, word = access_of(file).headers["Authorization"].partition(" ")
    assert (kind, b64decode(word)) == ("Basic", b"ann:pass:word")


def test_a_token_comes_from_a_file_in_both_forms_of_prometheus(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("abc\n")
    for text in (f"authorization: {{credentials_file: {token}}}", f"bearer_token_file: {token}"):
        assert access_of(_file(tmp_path, text)).headers == {"Authorization": "Bearer abc"}


def test_headers_of_a_tenant_are_sent(tmp_path: Path) -> None:
    assert access_of(_file(tmp_path, "http_headers: {X-Scope-OrgID: {values: [ann]}}")).headers == {
        "X-Scope-OrgID": "ann"
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("basic_auth: {username: ann, password: topsecret}", "write the secret into a file"),
        ("authorization: {credentials: topsecret}", "write the secret into a file"),
        ("basic_auth: {username: ann}", "password_file is missing"),
        ("basic_auth: {username: ann, password_file: none}", "No such file"),
        ("oauth2: {}", "unknown key oauth2"),
        ("basic_auth: [1]", "is not a table"),
        ("just text", "is not a table"),
        ("a: [", "expected"),
        ("bearer_token_file: lines", "more than one line"),
        ("bearer_token_file: foreign", "not ASCII"),
        ('authorization: {type: "Bearer\\nX: 1", credentials_file: secret}', "more than one line"),
        ('bearer_token_file: "a\\0b"', "not the name of a file"),
        ('tls_config: {ca_file: "a\\0b"}', "not the name of a file"),
        ("http_headers: {'X Y': {values: [a]}}", "http_headers"),
        ("http_headers: {X-A: {values: 5}}", "are lists"),
        ('http_headers: {X-A: {values: ["a\\r\\nX-B: topsecret"]}}', "more than one line"),
        ("tls_config: {ca_file: none}", "tls_config: No such file"),
        ("{basic_auth: {username: a, password_file: token}, bearer_token_file: token}", "only one of"),
    ],
)
def test_a_file_that_is_wrong_is_refused_without_showing_a_secret(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "lines").write_text("a\nb: c")
    (tmp_path / "token").write_text("abc")
    (tmp_path / "secret").write_text("topsecret")
    (tmp_path / "foreign").write_text("topsecret\N{EURO SIGN}")
    with pytest.raises(BadRequestError) as error:
        access_of(_file(tmp_path, text))
    assert words in str(error.value)
    assert "topsecret" not in str(error.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(BadRequestError, match=r"/nowhere/http\.yml: No such file"):
        access_of("/nowhere/http.yml")
