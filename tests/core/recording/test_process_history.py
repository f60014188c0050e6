"""What is remembered of single processes."""

import tracemalloc
from math import isnan

from examples import GIB, NOW, frame, process
from msgspec.structs import replace

from gputop.core.model.sample import Frame, GpuProcess, HostProcess
from gputop.core.recording.process_history import LENGTH, STEP_S, Tracks
from gputop.core.recording.window import Window


def at(second: float, *processes: HostProcess, relatives: tuple[HostProcess, ...] = ()) -> Frame:
    return frame(2, processes, time_s=NOW + second, relatives=relatives)


def test_a_process_is_followed_over_all_of_its_gpus() -> None:
    tracks = Tracks()
    both = process(7, 0, 1)
    busier = replace(both.gpus[1], sm_percent=20.0)
    tracks.remember(at(0, replace(both, gpus=(both.gpus[0], busier))))
    track = tracks.track(both.id)

    assert list(track.memory.last(9)) == [20 * GIB]
    assert list(track.sm.last(9)) == [50.0]
    assert list(track.cpu.last(9)) == [99.0]


def test_what_is_not_known_is_a_gap_and_no_zero() -> None:
    tracks = Tracks()
    silent = process(7, cpu_percent=None, gpus=(GpuProcess(gpu="GPU-0", gpu_index=0, type="C"),))
    tracks.remember(at(0, silent))
    track = tracks.track(silent.id)

    assert all(isnan(series.last(1)[0]) for series in (track.memory, track.sm, track.cpu))


def test_frames_within_a_step_are_left_out() -> None:
    tracks = Tracks()
    for second in range(11):
        tracks.remember(at(second, process(7)))

    assert tracks.track(process(7).id).cpu.count == 6
    assert tracks.times.window(100) == Window(NOW - 2, NOW + 10)


def test_frames_that_come_seldom_are_all_taken() -> None:
    tracks = Tracks()
    for second in (0, 10, 20):
        tracks.remember(replace(at(second, process(7)), interval_s=10.0))

    assert tracks.track(process(7).id).cpu.count == 3
    assert tracks.times.window(2) == Window(NOW, NOW + 20)


def test_an_hour_is_held() -> None:
    assert LENGTH * STEP_S == 3600


def test_a_crowd_has_shorter_series() -> None:
    tracks = Tracks()
    crowd = tuple(process(n) for n in range(1000, 1200))
    for number in range(310):
        tracks.remember(at(2 * number, *crowd))

    assert len(tracks.track(crowd[0].id).cpu.last(LENGTH)) == 300


def test_a_process_that_is_gone_for_a_moment_has_a_gap() -> None:
    tracks = Tracks()
    for second, processes in enumerate([(process(7),), (), (process(7),)]):
        tracks.remember(at(2 * second, *processes))
    values = list(tracks.track(process(7).id).cpu.last(9))

    assert [isnan(value) for value in values] == [False, True, False]


def test_a_process_that_stays_away_is_forgotten_but_who_holds_its_track_keeps_it() -> None:
    tracks = Tracks()
    tracks.remember(at(0, process(7)))
    held = tracks.track(process(7).id)
    for number in range(1, 40):
        tracks.remember(at(2 * number))

    assert held.cpu.last(99)[0] == 99.0
    assert tracks.track(process(7).id) is not held


def test_the_next_owner_of_a_pid_has_a_track_of_its_own() -> None:
    tracks = Tracks()
    tracks.remember(at(0, process(7)))
    other = process(7, start_ticks=999)
    tracks.remember(at(2, other))

    assert tracks.track(other.id).cpu.count == 1


def test_a_process_without_a_gpu_is_followed_once_it_is_looked_at() -> None:
    tracks = Tracks()
    loader = process(8, gpus=())
    track = tracks.track(loader.id)
    tracks.remember(at(0, process(7), relatives=(loader, process(9, gpus=()))))

    assert list(track.cpu.last(9)) == [99.0]
    assert isnan(track.memory.last(1)[0])


def test_two_thousand_processes_take_less_than_ten_megabytes() -> None:
    tracks = Tracks()
    processes = tuple(process(n, n % 16) for n in range(1000, 3000))
    tracemalloc.start()
    try:
        for number in range(301):
            tracks.remember(at(2 * number, *processes))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held < 10_000_000
