"""What of an environment is a secret."""

import pytest

from gputop.core.inspection.inspection import is_secret


@pytest.mark.parametrize(
    "name",
    [
        "VLLM_API_KEY", "HF_TOKEN", "aws_secret_access_key", "PGPASSWORD", "DB_PASS", "GOOGLE_APPLICATION_CREDENTIALS",
        "MYSQL_PWD", "BASIC_AUTH", "SENTRY_DSN", "SLACK_WEBHOOK_URL", "SESSION_COOKIE",
    ],
)  # fmt: skip
def test_a_name_that_sounds_like_a_secret_is_one(name: str) -> None:
    assert is_secret(name, "x")


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "PATH", "HOME", "CUDA_VISIBLE_DEVICES", "NCCL_DEBUG", "RANK"])
def test_usual_names_are_not(name: str) -> None:
    assert not is_secret(name, "/home/ann")


def test_an_address_with_a_password_is_a_secret_whatever_its_name() -> None:
    assert is_secret("DATABASE_URL", "postgres://ann:hunter2@db/prod")
    assert is_secret("MLFLOW", "https://:hunter2@host")


@pytest.mark.parametrize("value", ["https://host:8080/a@b:c", "http://ann@host/", "tcp://10.0.0.1:29500", "a:b@c"])
def test_an_address_without_a_password_is_none(value: str) -> None:
    assert not is_secret("ADDRESS", value)
