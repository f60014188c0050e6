"""A probe as a process: what it says, and what is made of one that says nothing."""

import sys
import textwrap
import threading
from collections.abc import Callable

from gputop.core.probing.progress import Course, Run, Wish
from gputop.wire.prober import ProbeClient, probe_command

WISH = Wish(gpus=("GPU-a", "GPU-b"))
REPORT = (
    '{"news":"ended","report":{"started_s":1.0,"duration_s":2.0,"host":"h","driver":null,"probe":"p",'
    '"level":"quick","status":"pass","exit_status":0}}'
)


def client(script: str) -> ProbeClient:
    return ProbeClient(None, lambda _: [sys.executable, "-c", textwrap.dedent(script)], lambda: 5.0)


def ended(prober: ProbeClient, seen: Callable[[Run], object] = lambda _: None) -> Run:
    """Run it to its end; ``seen``: is shown all on the way."""
    over = threading.Event()

    def news() -> None:
        assert prober.run is not None
        seen(prober.run)
        if prober.run.is_over:
            over.set()

    prober.start(WISH, news)
    assert over.wait(60)
    assert prober.run is not None
    return prober.run


def test_news_arrive_in_their_order_and_what_is_none_is_passed_over() -> None:
    seen: list[Course] = []
    run = ended(
        client(
            f"""
            print('hello')
            print('{{"news":"course","devices":[{{"label":"GPU 0","done":0.5,"left_s":4.0}}]}}')
            print('[[[')
            print('{REPORT}')
            """
        ),
        lambda run: seen.append(run.course),
    )

    assert seen[0].text == "50%, 4s left"
    assert run.report is not None
    assert (run.wish, run.began_s, run.problem) == (WISH, 5.0, "")


def test_one_without_a_result_says_what_it_said_last() -> None:
    run = ended(client("import sys; sys.exit('gputop: torch is in none of: /a')"))

    assert run.problem == "torch is in none of: /a"


def test_how_one_dies_is_told() -> None:
    assert ended(client("import os; os.kill(os.getpid(), 9)")).problem == "it was killed by signal 9"
    assert ended(client("raise SystemExit(130)")).problem == "stopped"
    assert ended(client("raise SystemExit(5)")).problem == "it ended with status 5 and no result"


def test_a_probe_that_floods_its_stderr_takes_all_memory_or_blocks() -> None:
    flood = "import sys\nwhile True: sys.stderr.write('x' * 100_000 + '\\n')"
    run = ended(client(flood))

    assert run.problem == "it sent more than 1 MiB a second on stderr, so gputop ended it"


def test_a_probe_that_fills_its_stderr_before_its_report_never_ends() -> None:
    run = ended(client(f"import sys; sys.stderr.write('x' * 1_000_000); print('{REPORT}')"))

    assert run.report is not None


def test_a_probe_that_sends_an_endless_line_takes_all_memory() -> None:
    run = ended(client("import sys\nwhile True: sys.stdout.write('x' * 1_000_000)"))

    assert run.problem == "it sent a line of more than 32 MiB, so gputop ended it"


def test_one_that_cannot_be_started_is_told() -> None:
    run = ended(ProbeClient(None, lambda _: ["/nothing/here"], lambda: 5.0))

    assert run.problem == "it could not start: No such file or directory"


def test_stopping_closes_its_stdin_and_its_last_words_count() -> None:
    prober = client(f"import sys; print('{{\"news\":\"course\"}}', flush=True); sys.stdin.read(); print('{REPORT}')")
    run = ended(prober, lambda run: None if run.is_over else prober.stop())

    assert run.is_stopping
    assert run.report is not None


def test_one_that_is_stopped_before_it_began_ends_as_well() -> None:
    prober = client(f"import sys; sys.stdin.read(); print('{REPORT}')")
    over = threading.Event()
    prober.start(WISH, over.set)
    prober.stop()

    assert over.wait(60)


def test_only_one_runs_at_a_time_and_another_one_after_it() -> None:
    prober = client(f"import sys; sys.stdin.read(); print('{REPORT}')")
    over = threading.Event()
    prober.start(WISH, over.set)
    prober.start(Wish(cpus=1), over.set)
    first = prober.run
    prober.stop()
    assert over.wait(60)
    again = ended(client(f"print('{REPORT}')"))

    assert first is not None
    assert first.wish == WISH
    assert again.report is not None


def test_who_has_closed_it_is_told_no_more() -> None:
    told: list[int] = []
    script = f"import sys; print('{{\"news\":\"course\"}}', flush=True); sys.stdin.read(); print('{REPORT}')"
    prober = client(script)
    there = threading.Event()

    def news() -> None:
        told.append(1)
        there.set()

    prober.start(WISH, news)
    assert there.wait(60)
    prober.close()
    for thread in threading.enumerate():
        if thread.name == "probe":
            thread.join(60)

    assert told == [1]


def test_the_command_names_what_is_wished() -> None:
    gpus, cpus = probe_command(WISH, ["--demo", "mig"]), probe_command(Wish(cpus=2, is_forced=True))

    assert gpus[3:] == ["probe", "--control", "--level", "quick", "--gpu", "GPU-a,GPU-b", "--demo", "mig"]
    assert cpus[3:] == ["probe", "--control", "--level", "quick", "--device", "cpu:2", "--force"]
