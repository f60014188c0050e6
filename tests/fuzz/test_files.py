"""Files that somebody wrote or that got lost on the way: read, or refused with a reason; nothing crashes.

Those of /proc, requests and logs are in test_readings.py, frames, commands, recordings and filters in test_lines.py.
"""

from contextlib import suppress
from pathlib import Path

import pytest
from broken_hosts import Clinic
from fuzz import BETWEEN, FEWER
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gputop.app.control.mig import requested
from gputop.app.errors import BadRequestError
from gputop.app.settings import settings_file
from gputop.core.mig.mig_parted import ConfigError
from gputop.core.recording.playback import Playing, place
from gputop.core.settings.receivers import receiver
from gputop.core.settings.settings import Settings
from gputop.core.text.text import is_clean
from gputop.wire.encoder import encode

DEEP = 5_000
NUMBERS = ("0", "-1", "1e999", "nan", "9" * 400, "0x", "٣")


def of(*words: str) -> SearchStrategy[bytes]:
    """Return bytes out of these words, numbers of all kinds, and anything else."""
    parts = st.sampled_from((*words, *NUMBERS)) | st.text(max_size=4)
    return st.lists(parts, max_size=20).map(lambda held: "".join(held).encode(errors="surrogatepass")) | st.binary(
        max_size=120
    )


@BETWEEN
@given(of("[", "]", "\n", " = ", "detectors", ".leak", "keys", ".quit", '"', "'", "true", "read_only", "theme", "#"))
def test_configurations(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(raw)
    held, problems = settings_file.load(str(file))

    assert isinstance(held, Settings)
    assert all(is_clean(str(problem)) and 0 < len(str(problem)) < 1000 for problem in problems)


@BETWEEN
@given(
    of("[receivers.", "a", "]", "\n", " = ", "kind", "url", "url_file", "to", "command", "every_s", "codes", "stage",
       '"slack"', '"mail"', '"webhook"', '"alertmanager"', '"http://h"', '"/f"', "true", "[", '"x"', "1979-05-27", "{")
)  # fmt: skip
def test_receivers(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"[receivers.ops]\n" + raw)
    held, problems = settings_file.load(str(file))

    assert all(receiver(name, values).name == name for name, values in held.receivers.items())
    assert all(is_clean(str(problem)) and 0 < len(str(problem)) < 1000 for problem in problems)


@BETWEEN
@given(
    of("version: v1\n", "mig-configs:\n", "  all-1g:\n", "    - devices: ", "all", "[0, 1]", "\n", "      ",
       "mig-enabled: true", "mig-devices: ", "{", "}", ": ", "&a ", "*a", "!!python/object:os.system ", "- ", "|\n")
)  # fmt: skip
def test_yaml_of_mig_parted(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(raw)
    with suppress(ConfigError):
        requested._config(str(file))


@BETWEEN
@given(
    of('{"gputop_mig":1,"gpus":[', '{"uuid":"GPU-0","name":"H100","is_on":true,"instances":[', '{"profile":"1g.10gb"',
       ',"start":0', ',"compute":["1c"]', "}", "]", ",", "null", "[" * 2000)
)  # fmt: skip
def test_checkpoints(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "layout.json"
    file.write_bytes(raw)
    with suppress(BadRequestError):
        requested._checkpoint(str(file))


GARBAGE = of(
    "NVRM version: ", "570.124.06", "nvidia", "{", '"runtimes"', ":", "}", "0::/", "docker-", "r-xp ", "\n", "btime ",
    "libnvidia-ml.so", "0x10de", "NVRM: Xid (PCI:0000:01:00): 79",
)  # fmt: skip


@pytest.mark.parametrize(
    "text", ["a = " + "[" * DEEP, "[" * DEEP, '{"x":' * DEEP, "- " * DEEP, "{a: " * DEEP], ids="abcde"
)
def test_a_file_that_is_nested_without_end_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)

    assert isinstance(settings_file.load(str(file))[0], Settings)
    with suppress(ConfigError):
        requested._config(str(file))
    with pytest.raises(BadRequestError):
        requested._checkpoint(str(file))


@FEWER
@given(st.lists(st.tuples(st.integers(0, 999), GARBAGE), min_size=1, max_size=6))
def test_what_the_doctor_reads(tmp_path_factory: pytest.TempPathFactory, garbage: list[tuple[int, bytes]]) -> None:
    box = Clinic(tmp_path_factory.mktemp("box"))
    files = sorted(path for path in box.folder.rglob("*") if path.is_file() and not path.is_symlink())
    for number, raw in garbage:
        files[number % len(files)].write_bytes(raw)

    assert encode(box.diagnose())


@given(of(*"0123456789:+-@%.hms ", "99999999").map(lambda raw: raw.decode("utf-8", "replace")))
def test_places_on_a_tape(text: str) -> None:
    at_s = place(text, Playing(at_s=1000.0, length_s=7200.0), 43_200.0)

    assert at_s is None or 0.0 <= at_s <= 7200.0
