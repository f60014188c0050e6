"""The yardstick of a snapshot asks for what the catalogue names, or the comparison would flatter somebody."""

import importlib.util
from pathlib import Path
from types import ModuleType

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import Field, FieldRate, Gpm, NvmlCall


def bare() -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("bare", Path(__file__).parents[2] / "bench" / "bare.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_makes_every_call_of_the_catalogue() -> None:
    asked = {(name, args) for name, args in bare().CALLS}
    first = [metric.origins[0] for metric in CATALOGUE]

    assert {(origin.name, origin.args) for origin in first if isinstance(origin, NvmlCall)} - asked == set()


def test_it_reads_every_field_value_of_the_catalogue() -> None:
    first = [metric.origins[0] for metric in CATALOGUE]
    wanted = {(origin.id, origin.scope) for origin in first if isinstance(origin, (Field, FieldRate))}

    assert wanted - set(bare().FIELDS) == set()


def test_it_reads_every_profiling_metric_of_the_catalogue() -> None:
    wanted = {origin.id for metric in CATALOGUE for origin in metric.origins if isinstance(origin, Gpm)}

    assert wanted - set(bare().PROFILING) == set()
