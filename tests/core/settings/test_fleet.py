"""The table [fleet]: what it may say, and each mistake with its place."""

import pytest

from gputop.core.settings.fleet import read_fleet
from gputop.core.settings.settings import parse
from gputop.core.settings.toml import effective


def test_a_table_of_servers_is_kept_and_shown() -> None:
    values = {"prometheus": ["http://p:9090"], "labels": ["rack"], "interval_s": 5}
    settings, problems = parse({"fleet": values})
    assert problems == ()
    assert settings.fleet == values
    assert '[fleet]\nprometheus = ["http://p:9090"]\nlabels = ["rack"]\ninterval_s = 5\n' in effective(settings)


@pytest.mark.parametrize(
    ("values", "path", "words"),
    [
        ({"prometheus": "http://p"}, "fleet.prometheus", "not a list of URLs"),
        ({"prometheus": ["p:9090"]}, "fleet.prometheus", "is not a URL"),
        ({"prometheus": ["http://ann:topsecret@p"]}, "fleet.prometheus", "must not contain a password"),
        ({"http_config": "relative.yml"}, "fleet.http_config", "not the full path"),
        ({"labels": ["a)b"]}, "fleet.labels", "not a list of labels"),
        ({"interval_s": 0}, "fleet.interval_s", "not a number of seconds"),
        ({"promtheus": []}, "fleet.promtheus", "unknown setting"),
        ("http://p", "fleet", "must be a table"),
    ],
)
def test_each_mistake_is_named_with_its_place_and_shows_no_password(values: object, path: str, words: str) -> None:
    found, ((where, message, _),) = read_fleet(values)
    assert (found, where) == ({}, path)
    assert words in message
    assert "topsecret" not in message
