"""Answers of servers, and files that say how to reach or to be one: read, or refused with a reason; nothing crashes."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from fuzz import BETWEEN
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.json import encode

from gputop.app.errors import BadRequestError
from gputop.app.exporting import hpc_jobs, state
from gputop.app.fleet import http_config
from gputop.app.listening import web_config
from gputop.core.fleet.answer import ALERTS, Answers, Sample, Series, ValueAnswer
from gputop.core.fleet.build import alerts_of, hosts_of
from gputop.core.fleet.exposition import answers_of
from gputop.core.fleet.host_list import hosts_in
from gputop.core.fleet.model import totals
from gputop.core.fleet.plan import OF_LABELS, queries
from gputop.core.text.text import is_clean
from gputop.report.fleet import csv
from gputop.wire.prometheus import client
from gputop.wire.prometheus.http import HttpError, endpoint

DEEP = 50_000
NUMBERS = ("0", "-1", "1e999", "NaN", "+Inf", "-Inf", "9" * 400, "0x1", "٣", "", "null")
HIDDEN = "geheim"
EVIL = ("\x1b]0;x\x07", "\x9b2J", "\u202e", "\n", "\x00", "é", "1" * 300)
NAMES = ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_GPU_UTIL", "gputop_job_gpus", "gputop_finding")
LABELS = ("gpu", "Hostname", "instance", "UUID", "modelName", "GPU_I_ID", "job", "user", "stage", "kind", "alertname")


def of(*words: str) -> SearchStrategy[bytes]:
    """Return bytes out of these words, numbers of all kinds, and anything else."""
    parts = st.sampled_from((*words, *NUMBERS)) | st.text(max_size=4)
    return st.lists(parts, max_size=20).map(lambda held: "".join(held).encode(errors="surrogatepass"))


def assert_clear(error: Exception) -> None:
    assert is_clean(str(error))
    assert 0 < len(str(error)) < 1000
    assert HIDDEN not in str(error)


def assert_harmless(answers: Answers) -> None:
    hosts = hosts_of("server", answers, ("gpu", "rack"))
    assert is_clean(encode([totals(hosts), *hosts]).decode())
    assert all(is_clean(line) for line in csv(hosts).splitlines())


@given(of(*NAMES, "{", "}", " ", "\n", "# TYPE ", '"', "\\", ",", "=", *(f'{name}="' for name in LABELS)))
def test_pages_of_exporters(raw: bytes) -> None:
    assert_harmless(answers_of(raw.decode("utf-8", "replace"), "node7:9400"))


@BETWEEN
@example("\ud7fcx: 1".encode())
@given(
    of("tls_server_config:", "basic_auth_users:", "http_server_config:", "headers:", " cert_file: ", " key_file: ", "x",
       "{", "}", "\n", "\n  ", "client_auth_type: ", "RequireAndVerifyClientCert", "cipher_suites: [", "]", "&a ", "*a",
       "min_version: TLS12", '"\\0"', "- ", "|\n", "ann: ", "$2b$10$" + "a" * 53)
)  # fmt: skip
def test_web_configurations(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "web.yml"
    file.write_bytes(raw)
    try:
        web_config.access_of(str(file))
    except BadRequestError as error:
        assert_clear(error)


@BETWEEN
@given(
    of("basic_auth:", "authorization:", "bearer_token_file: ", "tls_config:", "http_headers:", " username: ", "file",
       " password_file: ", " credentials_file: ", " type: ", " ca_file: ", " values: [", "]", "{", "}", "\n", "\n  ",
       "X-Scope", '"\\0"', '"\\r\\n"', "- ", "&a ", "*a")
)  # fmt: skip
def test_configurations_of_clients(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "http.yml"
    file.write_bytes(raw)
    (tmp_path / "file").write_text(f"{HIDDEN}€")
    try:
        access = http_config.access_of(str(file))
    except BadRequestError as error:
        assert_clear(error)
    else:
        assert all(f"{name}{value}".isprintable() and value.isascii() for name, value in access.headers.items())


ANY = st.recursive(
    st.none() | st.booleans() | st.sampled_from((*NUMBERS, *EVIL, 1e308, -1, 2**64 - 1)) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(LABELS), inner, max_size=3),
    max_leaves=6,
)
METRIC = st.dictionaries(st.sampled_from(LABELS), st.sampled_from((*EVIL, "0", "node7:9400", "firing")), max_size=5)
RESULT = st.fixed_dictionaries(
    {
        "metric": METRIC | ANY,
        "value": st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(NUMBERS)) | ANY,
    }
)
ALERT = st.fixed_dictionaries({"labels": METRIC | ANY, "state": st.sampled_from(("firing", "pending", "\x1b"))})
ANSWER = st.fixed_dictionaries(
    {"status": st.sampled_from(("success", "success", "error", "\x1b[2J"))},
    optional={"data": st.fixed_dictionaries({}, optional={"result": st.lists(RESULT, max_size=4) | ANY,
                                                          "alerts": st.lists(ALERT, max_size=4) | ANY}) | ANY,
              "error": ANY, "warnings": st.lists(st.sampled_from(EVIL)) | ANY},
)  # fmt: skip
KEYS = [query.key for query in queries(("rack",))]


@given(st.lists(st.tuples(st.sampled_from(KEYS), ANSWER.map(encode) | st.binary(max_size=60)), max_size=8))
def test_answers_of_prometheus(replies: list[tuple[str, bytes]]) -> None:
    values: dict[str, list[Sample]] = {}
    labels: dict[str, list[Series]] = {}
    for key, raw in replies:
        try:
            if key in OF_LABELS:
                labels[key] = client._decoded((200, raw), client._labels).data.result
            else:
                values[key] = client._decoded((200, raw), client._values).data.result
            alerts = client._decoded((200, raw), ALERTS.decode).data.alerts
            assert all(is_clean(encode(alert).decode()) for alert in alerts_of("server", alerts))
        except HttpError as error:  # noqa: PERF203 - few
            assert_clear(error)
    assert_harmless(Answers(values, labels))


@pytest.mark.parametrize(
    "raw", ['{"status":"success","x":' + "[" * DEEP, "[" * DEEP, '{"data":{"result":' * DEEP], ids="abc"
)
@pytest.mark.parametrize("decode", [client._labels, client._values, ALERTS.decode], ids="abc")
def test_an_answer_that_is_nested_without_end_is_refused(raw: str, decode: Callable[[bytes], ValueAnswer]) -> None:
    with pytest.raises(HttpError):
        client._decoded((200, raw.encode()), decode)


@BETWEEN
@given(of("train-1", "\n", '"', "\\", "{", "}", "=", "\r", "\x1b[2J", "\x85"))
def test_files_of_a_job_mapping(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "0").write_bytes(raw)
    (jobs,) = hpc_jobs.jobs_in(str(tmp_path)).values()

    assert len(jobs) <= 16
    assert all(job and "\n" not in job for job in jobs)


@BETWEEN
@given(of('{"boot":"', '","kept":[', '{"account":', "]", "}", ",", '"', "version", ":", "[" * 3000))
def test_files_of_counters(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "export.json"
    file.write_bytes(raw)

    assert isinstance(state.load(str(file)), tuple)


@example("http://host/\x1b[2J")
@given(of("http://", "https://", "[", "]", ":", "@", "/", "9090", "host", "?", "#", "::1", "\x1b", " ").map(
    lambda raw: raw.decode("utf-8", "replace")))  # fmt: skip
def test_addresses_of_servers(text: str) -> None:
    with suppress(ValueError):
        assert is_clean(endpoint(text).name)
    with suppress(ValueError):
        assert all(is_clean(host) for host in hosts_in(text))


@pytest.mark.parametrize("label", ["a" * 2_000_000, 'gpu="' + "\\a" * 500_000, "a," * 500_000], ids="abc")
def test_a_page_with_a_label_without_end_holds_up_the_fleet(label: str) -> None:
    page = f'DCGM_FI_DEV_GPU_TEMP{{{label}}} 1\nDCGM_FI_DEV_GPU_TEMP{{gpu="0",Hostname="n"}} 41\n'
    hosts = hosts_of("server", answers_of(page, "n:9400"))

    assert [host.temperature_c for host in hosts if host.name == "n"] == [41.0]
