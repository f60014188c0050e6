"""A real `gputop export` on a box of the simulated driver."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exporters import Exporter, exporting
from expositions import Read, read


class Box:
    """An exporter on a box that can be changed while it runs."""

    def __init__(self, path: Path, exporter: Exporter) -> None:
        self._path = path
        self.exporter = exporter

    @property
    def instance(self) -> str:
        """Its address, as Prometheus labels it."""
        return f"{self.exporter.host}:{self.exporter.port}"

    def write(self, scenario: str) -> None:
        """Replace the scenario at one stroke."""
        fresh = self._path.with_suffix(".new")
        fresh.write_text(scenario)
        fresh.rename(self._path)

    def samples(self, wanted: str) -> dict[str, list[Read]]:
        """Return the samples by name, as soon as there is one that contains a text."""
        found: dict[str, list[Read]] = {}
        for sample in read(self.exporter.until(wanted)):
            found.setdefault(sample.name, []).append(sample)
        return found


@contextmanager
def box(folder: Path, scenario: str, *arguments: str) -> Iterator[Box]:
    path = folder / "box.scn"
    path.write_text(scenario)
    environment = {
        "NVML_MOCK_SCENARIO": str(path), "NVML_MOCK_STATE": str(folder / "state"), "XDG_STATE_HOME": str(folder),
    }  # fmt: skip
    with exporting(*arguments, **environment) as running:
        yield Box(path, running)
