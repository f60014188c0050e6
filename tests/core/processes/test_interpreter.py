"""A row of the table begins with what runs, not with what runs it."""

import pytest

from gputop.core.processes.interpreter import without_interpreter


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/opt/llm/bin/python -u train.py --config a.toml", "train.py --config a.toml"),
        ("python3 -m lm_eval --model hf", "lm_eval --model hf"),
        ("/usr/bin/python3.11 -X dev -Wignore /srv/jobs/serve.py", "serve.py"),
        ("python", "python"),
        ("python -c import torch", "python -c import torch"),
        ("python3 --version", "python3 --version"),
        ("./pythonic run.py", "./pythonic run.py"),
        ("vllm serve model", "vllm serve model"),
        ("", ""),
    ],
)
def test_the_interpreter_and_its_options_are_dropped_and_nothing_else(command: str, shown: str) -> None:
    assert without_interpreter(command) == shown
