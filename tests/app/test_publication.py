"""The last frame as series, at any age."""

from examples import frame, process

from gputop.app.exporting.publication import Publication
from gputop.app.exporting.site import answer
from gputop.core.model.metric import Missing
from gputop.core.usage.ledger import Ledger
from gputop.core.usage.past import Past
from gputop.report.prometheus.scene import Shape
from gputop.wire.http_server import Request


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def published(clock: Clock) -> Publication:
    publication = Publication(Shape(), Past(Ledger()), clock)
    publication.publish(frame(2), 0.01)
    return publication


def test_before_the_first_sample_there_is_no_health_and_no_age() -> None:
    publication = Publication(Shape(), Past(Ledger()), Clock())
    health = answer(Request("GET", "/health"), publication)

    assert (health.status, health.body) == (503, b"no sample yet\n")
    assert "gputop_build_info" in publication.text()
    assert "gputop_sample_age_seconds" not in publication.text()


def test_a_late_sample_is_served_with_its_age() -> None:
    clock = Clock()
    publication = published(clock)
    clock.now += 42.5
    text = publication.text()

    assert "gputop_sample_age_seconds 42.5\n" in text
    assert "DCGM_FI_DEV_GPU_TEMP{" in text
    assert answer(Request("GET", "/health"), publication).status == 200


def test_readings_of_a_driver_that_hangs_end_and_do_not_pass_for_present_ones() -> None:
    clock = Clock()
    publication = published(clock)
    clock.now += 90
    text = publication.text()
    health = answer(Request("GET", "/health"), publication)

    assert "gputop_sample_age_seconds 90.0\n" in text
    assert "DCGM_" not in text
    assert "gputop_gpu_" not in text
    assert (health.status, health.body) == (503, b"the last sample is 90 s old: the driver may hang\n")


def test_readings_return_with_the_next_sample() -> None:
    clock = Clock()
    publication = published(clock)
    clock.now += 90
    publication.text()
    publication.publish(frame(1), 0.01)

    assert "DCGM_FI_DEV_GPU_TEMP{" in publication.text()
    assert 'gpu="1"' not in publication.text()


def test_readings_of_processes_that_another_user_cannot_see_are_counted_by_their_reason() -> None:
    hidden = process(5, missing={"cpu_percent": Missing.FORBIDDEN, "memory_bytes": Missing.FORBIDDEN})
    publication = Publication(Shape(), Past(Ledger()), Clock())
    publication.publish(frame(1, processes=(hidden, process(6))), 0.01)

    assert 'gputop_missing_process_readings{reason="forbidden"} 2\n' in publication.text()
