"""What is masked in environments and command lines, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_examples import HARMLESS, HARMLESS_COMMANDS, NAMED_VALUE, NAMES, VALUES, seen

from gputop.core.secrets.mask import is_secret, masked, masked_arguments
from gputop.core.secrets.shapes import MASK

WORDS = st.text(st.sampled_from("ab:=/@ \"'\\-{}&;?.\u240a\u2022"), max_size=12) | st.sampled_from(
    ["--password", "token=", "https://", "Bearer", "Authorization:", "curl", "-u", "-----BEGIN PRIVATE KEY-----"]
)


def test_the_tables_hold_at_least_120_shapes_80_names_and_80_harmless_variables() -> None:
    assert len(VALUES) >= 120
    assert len(NAMES) >= 80
    assert len(HARMLESS) >= 80


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_secret_is_never_shown_because_its_variable_has_an_innocent_name(value: str) -> None:
    assert is_secret("SETTING", value)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_secret_is_never_shown_in_a_command_line_because_its_option_has_an_innocent_name(value: str) -> None:
    commands = (
        ("python", "run.py", "--setting", value), ("python", "run.py", f"--setting={value}", "--port", "8000"),
        ("sh", "-c", f"SETTING='{value}' python run.py"), (f"run: {value}",), ("env", f"SETTING={value}", "python"),
    )  # fmt: skip
    shown = [" ".join(masked_arguments(command)) for command in commands]

    assert seen(value)
    assert [seen(text) for text in (*shown, masked(" ".join(commands[0])))] == [[]] * 6
    assert all(MASK in text for text in shown)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_never_shown_under_the_name_of_a_secret(name: str) -> None:
    option = name.lower().replace("_", "-")
    commands = (
        ("python", f"--{option}={NAMED_VALUE} and more", "-v"), ("python", f"--{option}", f"{NAMED_VALUE} and more"),
        ("env", f"{name}={NAMED_VALUE} and more"), ("sh", "-c", f"export {name}={NAMED_VALUE}; python run.py"),
        (f"python run.py --{option} {NAMED_VALUE}",), ("run", f'{{"{name}": "{NAMED_VALUE} and more"}}'),
    )  # fmt: skip
    shown = [" ".join(masked_arguments(command)) for command in commands]

    assert is_secret(name, NAMED_VALUE)
    assert not [text for text in shown if "hunter" in text or "more" in text]


@pytest.mark.parametrize("name", ["VLLM_API_KEY", "HF_TOKEN", "PGPASSWORD", "DB_PASS", "MYSQL_PWD", "BASIC_AUTH"])
def test_a_short_or_simple_value_is_masked_under_the_name_of_a_secret(name: str) -> None:
    assert is_secret(name, "x")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", "user:pw@proxy"), ("PIN", "1234"), ("OTP", "123456"), ("SESSION_ID", "8f3a9c1d2e"),
        ("S3_URL", "https://b/x?X-Amz-Signature=abcdef"), ("KAGGLE_KEY", "abcdefghijklmnopqrst"), ("API_KEY", "secret"),
    ],
)  # fmt: skip
def test_a_secret_is_never_shown_because_its_value_looks_ordinary(name: str, value: str) -> None:
    assert is_secret(name, value)


@pytest.mark.parametrize(("name", "value"), HARMLESS.items(), ids=HARMLESS)
def test_an_ordinary_variable_is_never_masked(name: str, value: str) -> None:
    assert not is_secret(name, value)


@pytest.mark.parametrize("command", HARMLESS_COMMANDS, ids=lambda command: " ".join(command[:1]))
def test_an_ordinary_command_line_is_never_masked(command: tuple[str, ...]) -> None:
    assert masked_arguments(command) == command
    assert masked(" ".join(command)) == " ".join(command)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("vllm serve llama --api-key abc --port 8000", f"vllm serve llama --api-key {MASK} --port 8000"),
        ("python a.py --hf-token=abc", f"python a.py --hf-token={MASK}"),
        ("train --db postgres://ann:pw@db/prod", f"train --db postgres://ann:{MASK}@db/prod"),
        ("curl -u ann:pw https://host", f"curl -u {MASK} https://host"),
        ("sshpass -p pw ssh -p 22 host", f"sshpass -p {MASK} ssh -p 22 host"),
        ("curl --user ann:pw https://host", f"curl --user {MASK} https://host"),
        ("aws configure set aws_session_token pw", f"aws configure set aws_session_token {MASK}"),
        (f"wandb login --relogin {'a1b2' * 10}", f"wandb login --relogin {MASK}"),
        ("mysql -uann -ppw prod", f"mysql -uann -p{MASK} prod"),
        ("docker login -u ann -p pw nvcr.io", f"docker login -u ann -p {MASK} nvcr.io"),
        ("redis-cli -h cache -a pw ping", f"redis-cli -h cache -a {MASK} ping"),
        ("jupyter lab --NotebookApp.token=abc --port=8888", f"jupyter lab --NotebookApp.token={MASK} --port=8888"),
        ("hydra logger.wandb_api_key=abc seed=1", f"hydra logger.wandb_api_key={MASK} seed=1"),
    ],
)
def test_a_mask_hides_the_secret_and_nothing_else(command: str, shown: str) -> None:
    assert " ".join(masked_arguments(command.split())) == shown
    assert masked(command) == shown


def test_a_mask_never_shows_how_long_a_secret_is() -> None:
    assert masked_arguments(["run", "--token", "a" * 5]) == masked_arguments(["run", "--token", "b" * 500])


@pytest.mark.parametrize("password", ["p@ss:w0rd@host.com", "a b", "x;y&z", "a'b", "-----", "f@1:80"])
def test_no_part_of_a_password_is_shown_because_of_the_signs_in_it(password: str) -> None:
    assert masked_arguments(["run", f"--password={password}", "-v"]) == ("run", f"--password={MASK}", "-v")


def test_an_empty_secret_does_not_hide_the_argument_after_it() -> None:
    assert masked_arguments(["jupyter", "--token", "", "notes"]) == ("jupyter", "--token", "", "notes")


def test_the_key_of_a_script_of_a_shell_does_not_hide_the_script() -> None:
    shown = masked_arguments(["bash", "-lc", "HF_TOKEN=abc python train.py"])

    assert shown == ("bash", "-lc", f"HF_TOKEN={MASK} python train.py")


@given(st.lists(WORDS, max_size=8))
def test_no_text_changes_the_number_of_arguments_and_a_second_mask_finds_nothing_new(arguments: list[str]) -> None:
    once = masked_arguments(arguments)

    assert len(once) == len(arguments)
    assert masked_arguments(once) == once
