"""Libraries in the processes of gputop: a plugin finds them as they are, whatever gputop left out for its own start."""

import json
import subprocess
from pathlib import Path

import pytest
from installed import install
from real_terminal import GPUTOP, terminal

PLUGIN = """
import asyncio, ssl
from datetime import datetime, timezone
from decimal import Decimal
from typing import Annotated, get_type_hints
from uuid import UUID

import msgspec
from typing_extensions import NotRequired, TypedDict

from gputop.plugin import API_VERSION, Metric, NvmlCall, Panel, Plugin, Unit


class Order(msgspec.Struct):
    id: UUID
    price: Decimal
    at: datetime
    next: "Order | None" = None


class Options(TypedDict):
    name: str
    price: NotRequired[Annotated[Decimal, "EUR"]]


def values():
    order = Order(UUID(int=7), Decimal("1.50"), datetime(2026, 1, 2, tzinfo=timezone.utc))
    assert msgspec.json.decode(msgspec.json.encode(order), type=Order) == order
    assert get_type_hints(Order)["next"] == Order | None
    assert msgspec.convert({"name": "x"}, Options) == {"name": "x"}
    assert msgspec.convert({"name": "x", "price": "2"}, Options)["price"] == Decimal(2)
    assert msgspec.json.schema(Options)["$defs"]["Options"]["required"] == ["name"]
    assert msgspec.inspect.type_info(UUID) == msgspec.inspect.UUIDType()


def context(side):
    made = ssl.SSLContext(side)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers("aNULL:@SECLEVEL=0")  # encryption without a certificate
    return made


async def talk():
    async def answer(reader, writer):
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context(ssl.PROTOCOL_TLS_SERVER))
    async with server:
        address = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(*address, ssl=context(ssl.PROTOCOL_TLS_CLIENT))
        writer.write(b"secret\\n")
        return (await reader.readline()).decode().strip()


def verdict(*_):
    values()
    return asyncio.run(talk())


PLUGIN = Plugin(
    name="libraries",
    api=API_VERSION,
    metrics=(Metric(key="words", label="Words", unit=Unit.NONE, origins=(NvmlCall("nvmlDeviceGetUUID", to=verdict),)),),
    panels=(Panel(key="words", title="Words", help="what came back", lines=lambda shown: [verdict() + " came back"]),),
)
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "libraries", PLUGIN)
    for name in ("PYTHONPATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


def test_a_plugin_of_a_headless_command_may_use_tls_and_all_types_of_msgspec() -> None:
    command = [*GPUTOP, "snapshot", "--demo", "workstation", "--json", "--wait", "0"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    frame = json.loads(done.stdout)

    assert [gpu["metrics"]["words"] for gpu in frame["gpus"]] == ["secret", "secret"]


def test_a_panel_of_the_screen_may_use_tls_and_all_types_of_msgspec() -> None:
    with terminal(*GPUTOP, "--demo", "workstation") as shown:
        shown.until("secret came back")
        shown.press("q")

        assert shown.end() == 0
