"""Names of signals."""

import signal

import pytest

from gputop.core.protocol.signals import SIGNALS, signal_name, signal_number


@pytest.mark.parametrize("text", ["SIGTERM", "sigterm", "TERM", " term ", "15"])
def test_a_signal_has_its_name_with_and_without_sig_and_its_number(text: str) -> None:
    assert signal_name(text) == "SIGTERM"


@pytest.mark.parametrize("known", SIGNALS, ids=lambda known: known.name)
def test_every_signal_is_found_by_name_and_number(known: object) -> None:
    assert isinstance(known, type(SIGNALS[0]))
    assert signal_name(known.name) == signal_name(str(known.number)) == known.name
    assert signal_number(known.name) == known.number == getattr(signal, known.name)


def test_all_signals_of_the_kernel_are_listed() -> None:
    assert [known.number for known in SIGNALS] == list(range(1, 32))


@pytest.mark.parametrize(
    ("text", "number"),
    [("SIGRTMIN", signal.SIGRTMIN), ("rtmin+3", signal.SIGRTMIN + 3), ("SIGRTMAX-1", signal.SIGRTMAX - 1)],
)
def test_realtime_signals_are_counted_from_their_ends(text: str, number: int) -> None:
    assert signal_number(signal_name(text)) == number


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SIGTREM", "did you mean SIGTERM?"),
        ("kil", "did you mean SIGKILL?"),
        ("0", "no signal '0'"),
        ("-9", "no signal '-9'"),
        ("4711", "no signal '4711'"),
        ("", "no signal ''"),
        ("SIGRTMIN+99", "no signal 'SIGRTMIN+99'"),
        ("99", "no signal '99': SIGTERM, TERM and 15 are the same"),
    ],
)
def test_a_signal_that_is_not_one_is_refused_with_a_hint(text: str, said: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - its text is looked at
        signal_name(text)

    assert said in str(refusal.value)
