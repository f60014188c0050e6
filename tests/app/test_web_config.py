"""Passwords of the exporter, with a check in place of bcrypt that is as slow as the test wants."""

import asyncio
import threading
from base64 import b64encode

import pytest

from gputop.app.listening.web_config import Access, WebConfig
from gputop.wire.http_server import Request

PATIENCE_S = 30
USERS = {"ann": "$2b$12$" + "a" * 53, "bob": "$2b$04$" + "b" * 53}


def request(credentials: str = "") -> Request:
    headers = {"authorization": f"Basic {b64encode(credentials.encode()).decode()}"} if credentials else {}
    return Request("GET", "/metrics", headers)


class SlowCheck:
    """Checks passwords as soon as it may. ``against``: the hashes that it was asked for."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.against: list[bytes] = []

    def __call__(self, password: str, hashed: bytes) -> bool:
        self.against.append(hashed)
        assert self.may.wait(PATIENCE_S)
        return password == "right"  # noqa: S105 - of a test


async def status(access: Access, credentials: str = "") -> int:
    response = await access.refusal(request(credentials))
    return response.status if response else 200


async def test_wrong_passwords_keep_out_a_user_whose_password_is_known() -> None:
    check = SlowCheck()
    access = Access(WebConfig(basic_auth_users=USERS), matches=check)
    check.may.set()
    assert await status(access, "ann:right") == 200
    check.may.clear()
    strangers = [asyncio.create_task(status(access, f"ann:{number}")) for number in range(100)]
    await asyncio.sleep(0)

    assert await status(access, "ann:right") == 200
    assert await status(access) == 401
    check.may.set()
    answers = await asyncio.gather(*strangers)
    assert answers.count(503) == 92
    assert answers.count(401) == 8
    assert await status(access, "bob:right") == 200


async def test_the_time_of_an_answer_reveals_which_users_exist() -> None:
    check = SlowCheck()
    check.may.set()
    access = Access(WebConfig(basic_auth_users=USERS), matches=check)

    assert [await status(access, f"{name}:wrong") for name in ("ann", "eve")] == [401, 401]
    assert check.against == [USERS["ann"].encode()] * 2


@pytest.mark.parametrize("password", ["right", "wrong"])
async def test_an_unknown_user_with_the_password_of_another_may_read(password: str) -> None:
    check = SlowCheck()
    check.may.set()

    assert await status(Access(WebConfig(basic_auth_users=USERS), matches=check), f"eve:{password}") == 401
