"""gputop export as its clients see it: a real server on a real socket, on a simulated machine."""

import gzip
import http.client
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from exporters import PATIENCE_S, Exporter, exporting
from expositions import promtool, read

READY = "gputop_gpu_info"


@pytest.fixture(scope="module")
def exporter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exporter]:
    state = str(tmp_path_factory.mktemp("state"))
    with exporting("--demo", "training", XDG_STATE_HOME=state) as running:
        running.until(READY)
        yield running


def test_a_scrape_has_all_gpus_in_both_vocabularies(exporter: Exporter) -> None:
    status, text = exporter.get()
    samples = read(text)

    assert status == 200
    for name in ("DCGM_FI_DEV_GPU_TEMP", "gputop_gpu_temperature_celsius"):
        assert {sample.labels["gpu"] for sample in samples if sample.name == name} == set("01234567")


def test_no_series_comes_twice(exporter: Exporter) -> None:
    names = [line.rpartition(" ")[0] for line in exporter.get()[1].splitlines() if not line.startswith("#")]

    assert len(names) == len(set(names))


def test_promtool_accepts_what_is_gputops_own(exporter: Exporter) -> None:
    lines = exporter.get()[1].splitlines(keepends=True)

    assert promtool("".join(line for line in lines if "DCGM_" not in line)) == ""


def test_health_and_page_answer_as_those_of_dcgm_exporter(exporter: Exporter) -> None:
    assert exporter.get("/health") == (200, "OK\n")
    assert 'href="metrics"' in exporter.get("/")[1]
    assert exporter.get("/nothing")[0] == 404


def test_the_answer_has_the_type_that_prometheus_3_requires_and_is_packed_on_request(exporter: Exporter) -> None:
    with closing(http.client.HTTPConnection(exporter.host, exporter.port, timeout=PATIENCE_S)) as client:
        client.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        response = client.getresponse()
        packed = response.read()
        client.request("GET", "/metrics")  # on the same connection
        plain = client.getresponse().read()

    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert READY.encode() in gzip.decompress(packed)
    assert READY.encode() in plain


def test_several_scrapers_are_served_at_once(exporter: Exporter) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: exporter.get(), range(64)))

    assert {status for status, _ in answers} == {200}
    assert all(READY in text for _, text in answers)


def test_clients_that_never_finish_their_request_keep_nobody_out(exporter: Exporter) -> None:
    slow = [socket.create_connection((exporter.host, exporter.port), PATIENCE_S) for _ in range(100)]
    for one in slow[::2]:
        one.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")

    assert exporter.get()[0] == 200
    for one in slow:
        one.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\r\n\r\n", b"400"),
    ],
)
def test_a_bad_request_gets_a_short_answer_and_the_end(exporter: Exporter, sent: bytes, status: bytes) -> None:
    with socket.create_connection((exporter.host, exporter.port), PATIENCE_S) as client:
        client.sendall(sent)
        answer = b"".join(iter(lambda: client.recv(4096), b""))

    assert answer.split()[1] == status


def test_endless_headers_end_the_connection_and_harm_nobody_else(exporter: Exporter) -> None:
    with (
        socket.create_connection((exporter.host, exporter.port), PATIENCE_S) as client,
        pytest.raises(ConnectionError),
    ):
        client.sendall(b"GET /metrics HTTP/1.1\r\n" + (b"X: " + b"x" * 1000 + b"\r\n") * 20_000)

    assert exporter.get()[0] == 200


def test_a_signal_ends_it_with_success() -> None:
    with exporting("--demo") as running:
        running.child.send_signal(signal.SIGTERM)

        assert running.child.wait(PATIENCE_S) == 0


def test_a_textfile_is_whole_at_any_time_and_gone_at_the_end(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "gputop", "export", "--demo", "--textfile", str(tmp_path), "--processes", "3"],
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        path = tmp_path / "gputop.prom"
        end = time.monotonic() + PATIENCE_S
        while not path.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        text = path.read_text()
        others = [name for name in os.listdir(tmp_path) if name.endswith(".prom")]
    finally:
        child.terminate()
        child.wait(PATIENCE_S)

    assert text.endswith("\n")
    assert READY in text
    assert len({s.labels["pid"] for s in read(text) if s.name == "gputop_process_start_time_seconds"}) == 3
    assert others == ["gputop.prom"]
    assert not path.exists()


def test_the_unit_runs_the_same_command_and_systemd_understands_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gputop", "export", "--service", "--listen", ":9400", "--web-config", "/etc/a b%.yml"],
        capture_output=True, check=True, text=True, timeout=60,
    )  # fmt: skip
    (start,) = (line for line in done.stdout.splitlines() if line.startswith("ExecStart="))

    assert start.endswith('-m gputop export --listen :9400 --web-config "/etc/a b%%.yml"')
    if shutil.which("systemd-analyze"):
        path = tmp_path / "gputop-export.service"
        path.write_text(done.stdout.replace("Documentation=man:gputop(1)\n", ""))
        checked = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, check=False, text=True)
        assert [line for line in checked.stderr.splitlines() if "gputop-export" in line] == []


def test_the_unit_writes_a_file_that_node_exporter_cannot_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gputop", "export", "--service", "--textfile", str(tmp_path)]
    unit = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout

    assert "UMask=0022\n" in unit


def test_jobs_of_a_prolog_are_a_label_until_the_epilog_removes_them(tmp_path: Path) -> None:
    (tmp_path / "0").write_text("84213\n\n")
    (tmp_path / "README").write_text("nothing")
    with exporting("--demo", "--hpc-job-mapping-dir", str(tmp_path)) as running:
        text = running.until('hpc_job="84213"')
        (tmp_path / "0").unlink()
        end = time.monotonic() + PATIENCE_S
        while "hpc_job" in running.get()[1]:
            assert time.monotonic() < end
    samples = [sample for sample in read(text) if "hpc_job" in sample.labels]

    assert {sample.labels["gpu"] for sample in samples} == {"0"}


# --- bad configuration: one line, exit status 2 -------------------------------------------------------------------
def refused(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gputop", "export", "--demo", *arguments],
        capture_output=True, check=False, text=True, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    return done.stderr


def test_a_port_in_use_ends_with_one_line(exporter: Exporter) -> None:
    said = refused("--listen", f"127.0.0.1:{exporter.port}")

    assert f"cannot listen on 127.0.0.1:{exporter.port}: Address already in use" in said


@pytest.mark.parametrize("address", ["9400", "127.0.0.1:", "127.0.0.1:99999", "no-such-host.invalid:9400"])
def test_an_impossible_address_ends_with_one_line(address: str) -> None:
    assert address in refused("--listen", address)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("tls_server_config: {cert_file: a", "not YAML"),
        ("tls_server_config: {cert: a}", "cert"),
        ("tls_server_config: {cert_file: absent.pem, key_file: absent.key}", "absent.pem or the key"),
        ("tls_server_config: {cert_file: web.yml, key_file: web.yml}", "web.yml is unusable"),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAnyClientCert}", "not supported"),
        ("basic_auth_users: {ann: secret}", "not a bcrypt hash"),
        ('http_server_config: {headers: {X-A: "a\\nb"}}', "not a header"),
        ('tls_server_config: {cert_file: "a\\0b", key_file: b}', "not the name of a file"),
        ("[1, 2]", "object"),
    ],
)  # fmt: skip
def test_a_bad_web_configuration_ends_with_one_line(tmp_path: Path, content: str, said: str) -> None:
    if "basic_auth" in content:
        pytest.importorskip("bcrypt")
    path = tmp_path / "web.yml"
    path.write_text(content)
    text = refused("--web-config", str(path))

    assert said in text
    assert "web.yml" in text
    assert "secret" not in text


def test_a_textfile_needs_a_directory(tmp_path: Path) -> None:
    assert "it is not a directory" in refused("--textfile", str(tmp_path / "absent"))


def test_a_job_mapping_needs_a_directory(tmp_path: Path) -> None:
    assert "cannot read jobs from" in refused("--hpc-job-mapping-dir", str(tmp_path / "absent"))


def test_a_file_of_collectors_chooses_the_series_of_dcgm_and_other_lines_are_told(tmp_path: Path) -> None:
    file = tmp_path / "counters.csv"
    file.write_text("DCGM_FI_DEV_GPU_TEMP, gauge, Temperature\nDCGM_FI_DEV_GPU_TMP, gauge, Temperature\n")
    with exporting("--demo", "--collectors", str(file)) as running:
        names = {sample.name for sample in read(running.until(READY))}
        assert running.child.stderr

    assert {name for name in names if name.startswith("DCGM")} == {"DCGM_FI_DEV_GPU_TEMP"}


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"DCGM_FI_DEV_GPU_TEMP, gauge", "line 1: expected FIELD"), (b"\xff\xfe", "is not text"), (None, "No such file")],
)
def test_an_unusable_file_of_collectors_ends_with_one_line(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "counters.csv"
    if content is not None:
        file.write_bytes(content)

    assert said in refused("--collectors", str(file))


def test_an_unknown_group_of_series_ends_with_one_line() -> None:
    assert "'nonsense' is not one of dcgm, dcgm-more, gputop" in refused("--series", "dcgm,nonsense")


def test_an_absent_web_configuration_ends_with_one_line(tmp_path: Path) -> None:
    assert "No such file" in refused("--web-config", str(tmp_path / "web.yml"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_uses_no_key_that_another_user_can_replace(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 1001, 1001)
    web = tmp_path / "web.yml"
    web.write_text("tls_server_config: {cert_file: theirs/cert.pem, key_file: theirs/key.pem}")

    assert "root alone" in refused("--web-config", str(web))


# --- TLS, client certificates, passwords ---------------------------------------------------------------------------
@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a certificate for localhost, which is its own authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("keys")
    certificate(folder)
    return folder


def certificate(folder: Path) -> None:
    """Write a new certificate and its key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder, check=True, capture_output=True, timeout=60,
    )  # fmt: skip


def context(keys: Path, *, shows: bool = False) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=keys / "cert.pem")
    if shows:
        made.load_cert_chain(keys / "cert.pem", keys / "key.pem")
    return made


def test_tls_serves_whoever_trusts_the_certificate(keys: Path) -> None:
    (keys / "tls.yml").write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}")
    with exporting("--demo", "--web-config", str(keys / "tls.yml")) as running:
        assert running.url.startswith("https://")
        assert running.get("/", tls=context(keys))[0] == 200
        with pytest.raises((OSError, http.client.HTTPException)):
            running.get("/")  # in the clear


@pytest.mark.parametrize(("sans", "status"), [("", 200), (", client_allowed_sans: [other]", 403)])
def test_client_certificates_are_required(keys: Path, sans: str, status: int) -> None:
    (keys / "mutual.yml").write_text(
        "tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_ca_file: cert.pem,"
        f" client_auth_type: RequireAndVerifyClientCert{sans}}}"
    )
    with exporting("--demo", "--web-config", str(keys / "mutual.yml")) as running:
        assert running.get("/", tls=context(keys, shows=True))[0] == status
        with pytest.raises((OSError, http.client.HTTPException)):
            running.get("/", tls=context(keys))


def test_a_renewed_certificate_is_served_without_a_restart(keys: Path, tmp_path: Path) -> None:
    web = tmp_path / "web.yml"
    for name in ("cert.pem", "key.pem"):
        shutil.copy(keys / name, tmp_path)
    web.write_text("tls_server_config: {cert_file: cert.pem, key_file: key.pem}")
    with exporting("--demo", "--web-config", str(web)) as running:
        before = ssl.get_server_certificate((running.host, running.port), timeout=PATIENCE_S)
        certificate(tmp_path)
        after = ssl.get_server_certificate((running.host, running.port), timeout=PATIENCE_S)

    assert before != after
    assert after.split() == (tmp_path / "cert.pem").read_text().split()


def test_a_removed_user_is_refused_at_once_and_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    bcrypt = pytest.importorskip("bcrypt")
    hashed = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    web = tmp_path / "web.yml"
    web.write_text(f"basic_auth_users: {{ann: '{hashed}', bob: '{hashed}'}}\n")
    with exporting("--demo", "--web-config", str(web)) as running:
        assert running.get("/", user="ann:right")[0] == 200
        web.write_text(f"basic_auth_users: {{bob: '{hashed}'}}\n")
        assert running.get("/", user="ann:right")[0] == 401
        web.write_text("basic_auth_users: {")
        assert [running.get("/", user=f"{name}:right")[0] for name in ("ann", "bob")] == [401, 200]
        end = time.monotonic() + PATIENCE_S
        while 'gputop_unread_source{source="web_config"' not in running.get(user="bob:right")[1]:
            assert time.monotonic() < end
        web.unlink()
        assert running.get("/", user="ann:right")[0] == 401


def test_passwords_are_required(tmp_path: Path) -> None:
    bcrypt = pytest.importorskip("bcrypt")
    hashed = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    (tmp_path / "web.yml").write_text(
        f"basic_auth_users: {{ann: '{hashed}'}}\nhttp_server_config: {{headers: {{X-Frame-Options: deny}}}}\n"
    )
    with exporting("--demo", "--web-config", str(tmp_path / "web.yml")) as running:
        assert running.get("/")[0] == 401
        assert running.get("/", user="ann:wrong")[0] == 401
        assert running.get("/", user="bob:right")[0] == 401
        assert running.get("/", Authorization="Basic ***")[0] == 401
        assert running.get("/", user=f"ann:{'x' * 100}")[0] == 401
        assert [running.get("/", user="ann:right")[0] for _ in range(2)] == [200, 200]  # the second from memory
