"""HTTP to receivers: servers that are slow, broken or hostile."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from http_receiver import http_receiver

from gputop.machine.notify.http import Request, Tls, place_of, post

PATIENCE_S = 30.0


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a server that treats each connection as the test says; yield its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    serve(connection)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/secret-path"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(PATIENCE_S)


def request(url: str, deadline_s: float = PATIENCE_S, tls: Tls = Tls()) -> Request:  # noqa: B008 - immutable
    return Request(url=url, body=b"{}", deadline_s=deadline_s, tls=tls)


def read_request(connection: socket.socket) -> None:
    """Read all of a request: to close a connection with unread data would take the answer back."""
    received = b""
    while not received.endswith(b"\r\n\r\n{}"):
        more = connection.recv(65_536)
        if not more:
            return
        received += more


def dripping(connection: socket.socket) -> None:
    """Answer a character at a time, without an end."""
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        connection.sendall(b"x")
        time.sleep(0.02)  # the pace of the server, not of the test


def continuing(connection: socket.socket) -> None:
    """Promise an answer for ever."""
    read_request(connection)
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def silent(connection: socket.socket) -> None:
    while connection.recv(65_536):
        pass


@pytest.mark.parametrize("serve", [dripping, continuing, silent])
def test_a_server_that_never_finishes_does_not_hold_the_thread(serve: Callable[[socket.socket], None]) -> None:
    with raw_server(serve) as url, pytest.raises(OSError, match=r"no answer within 0\.3 s|not HTTP") as caught:
        post(request(url, deadline_s=0.3))

    assert "secret-path" not in str(caught.value)


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"\0" * 100_000, b"HTTP/1.1 999999 X\r\n\r\n"])
def test_what_is_not_http_is_an_error_and_not_a_crash(answer: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)

    with raw_server(serve) as url, pytest.raises(OSError, match=r"HTTP|reset|closed"):
        post(request(url))


def test_an_endless_answer_is_not_read_to_its_end() -> None:
    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    with raw_server(serve) as url:
        assert post(request(url)).status == 200


def test_a_redirect_is_not_followed() -> None:
    with http_receiver() as other, http_receiver([302], {"Location": other.url}) as server:
        assert post(request(server.url)).status == 302
        assert other.bodies == []


@pytest.mark.parametrize(
    ("text", "wanted"), [("7", 7.0), ("9999999999", None), ("soon", None), ("²", None), ("-1", None)]
)
def test_only_a_plain_number_of_seconds_is_a_pause(text: str, wanted: float | None) -> None:
    def serve(connection: socket.socket) -> None:
        read_request(connection)
        head = f"HTTP/1.1 429 Slow\r\nRetry-After: {text}\r\nContent-Length: 0\r\n\r\n"
        connection.sendall(head.encode("latin-1"))

    with raw_server(serve) as url:
        assert post(request(url)).after_s == wanted


def test_a_message_shows_the_server_and_no_more_of_the_url() -> None:
    assert place_of("https://ann:pw@hooks.example.org:8443/T0/B0/secret?key=1") == "https://hooks.example.org:8443"


def test_the_proxy_of_the_environment_gets_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with http_receiver() as proxy:
        monkeypatch.setenv("http_proxy", f"http://ann:pw@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert post(request("http://alerts.example.org/in")).status == 200
        with http_receiver() as here:
            assert post(request(here.url)).status == 200  # loopback needs no proxy

    assert len(here.bodies) == len(proxy.bodies) == 1
    assert proxy.requests[0]["path"] == "http://alerts.example.org/in"
    assert proxy.requests[0]["Proxy-Authorization"] == "Basic YW5uOnB3"


# --- TLS ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Return a folder with a certificate and key for 127.0.0.1, which are their own authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    (tmp_path / "both.pem").write_bytes((tmp_path / "cert.pem").read_bytes() + (tmp_path / "key.pem").read_bytes())
    return tmp_path


def secured(keys: Path) -> Callable[[socket.socket], None]:
    """Return a server that requires a certificate of the client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(keys / "both.pem")
    context.load_verify_locations(keys / "cert.pem")
    context.verify_mode = ssl.CERT_REQUIRED

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            read_request(secure)
            secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    return serve


def test_a_server_is_believed_only_with_a_certificate_of_the_named_authority(keys: Path) -> None:
    ca, both = str(keys / "cert.pem"), str(keys / "both.pem")
    with raw_server(secured(keys)) as plain:
        url = plain.replace("http:", "https:")
        with pytest.raises(OSError, match=r"certificate verify failed|CERTIFICATE_VERIFY_FAILED"):
            post(request(url))
        with pytest.raises(OSError):  # noqa: PT011 - the text of OpenSSL depends on its version
            post(request(url, tls=Tls(ca)))

        assert post(request(url, tls=Tls(ca, both))).status == 200


def test_a_server_that_never_finishes_the_handshake_does_not_hold_the_thread() -> None:
    with raw_server(silent) as url, pytest.raises(OSError, match=r"no answer within 0\.3 s"):
        post(request(url.replace("http:", "https:"), deadline_s=0.3))
