"""The completion of a line by a real shell."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

PATIENCE_S: Final = 60
_BASH: Final = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_shtab_gputop
printf '%s\\n' "${COMPREPLY[@]}"
"""
_FISH: Final = "source $argv[1]; complete -C $argv[2]"
_ZSH: Final = """PS1='>'; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; setopt no_beep
zle -C all-matches complete-word _generic; bindkey '^A' all-matches
zstyle ':completion:all-matches:*' old-matches only; zstyle ':completion:all-matches::::' completer _all_matches
show() {{ print -r -- "$BUFFER" > {told}.new; mv {told}.new {told}; BUFFER='' }}
zle -N show; bindkey '^X' show; print READY
"""


def bash(share: Path, line: str) -> set[str]:
    """Call the function that bash calls, with the words of the line."""
    script = str(share / "bash-completion/completions/gputop")
    return set(_run("bash", "--norc", "-c", _BASH, "bash", script, *line.split(" ")).splitlines()) - {""}


def fish(share: Path, line: str) -> set[str]:
    """Have fish complete the line."""
    script = str(share / "fish/vendor_completions.d/gputop.fish")
    return {found.partition("\t")[0] for found in _run("fish", "--no-config", "-c", _FISH, script, line).splitlines()}


def zsh(share: Path, line: str) -> set[str]:
    """Press Tab in a zsh, have it insert all that it found, and show what the line is then."""
    with TemporaryDirectory() as folder, _zsh(share, told := Path(folder) / "line") as terminal:
        os.write(terminal, f"{line}\t\x01\x18".encode())  # complete, all matches, show
        _until(terminal, lambda _: told.exists())
        words = told.read_text().rstrip("\n").split(" ")
    return set(words[line.count(" ") :]) - {""}


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE_S)

    assert done.stderr == ""
    return done.stdout


@contextmanager
def _zsh(share: Path, told: Path) -> Iterator[int]:
    """Start one on a terminal of its own that will write its line to a file; end it afterwards."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "dumb"}
    ) as child:
        os.close(theirs)
        try:
            os.write(ours, _ZSH.format(folder=share / "zsh/site-functions", told=told).encode())
            _until(ours, lambda said: b"\nREADY" in said)
            yield ours
        finally:
            child.kill()
            os.close(ours)


def _until(terminal: int, is_over: Callable[[bytes], bool]) -> None:
    """Read what the shell says until it is over."""
    said, end = b"", time.monotonic() + PATIENCE_S
    while not is_over(said):
        assert time.monotonic() < end, said
        if select.select([terminal], [], [], 0.05)[0]:
            said += os.read(terminal, 65536)
