"""A copy of gputop for a host that lacks it, after a question."""

import subprocess
from typing import Final

from gputop.app.remote.consent import Consents
from gputop.app.remote.luggage import fitting, packed
from gputop.app.terminal import Person
from gputop.core.model.units import bytes_text
from gputop.core.text.text import clean
from gputop.wire.ssh import unpack
from gputop.wire.ssh.command import BROUGHT, Remote

_FITS: Final = "import sys, platform; print('%d.%d' % sys.version_info[:2], platform.machine())"
# $1: a name of Python; $2: what it must print; $3: the program that asks it; $4: the program to run
_SCRIPT: Final = (
    'for p in "$1" python3; do '
    '[ "$("$p" -c "$3" 2>/dev/null)" = "$2" ] && exec "$p" -I -c "$4"; '
    "done; "
    'echo "it has no Python $2, but $(python3 -c "$3" 2>/dev/null || echo none)" >&2; exit 2'
)
_MOST_LETTERS: Final = 300


def bring(remote: Remote, person: Person, consents: Consents) -> str:
    """Copy gputop to a host if the user agrees; return why it was not copied, or an empty text. Ask once per host."""
    answer = consents.of(remote.host)
    if answer is False:
        return f"you did not agree to copy it there. To be asked again: gputop hosts add {remote.host}"
    if answer is None and not person.can_answer():
        return "no terminal to ask whether to copy it there"
    archive = packed()
    person.warn(
        f"gputop is not installed on {remote.host}. It can bring a copy of itself: {bytes_text(len(archive))} into"
    )
    person.warn(f"{BROUGHT} there. Nothing else changes. To remove it: gputop hosts clean {remote.host}")
    if answer is None:
        answer = person.agrees("Copy gputop there?")
        problem = consents.keep((remote.host,), answer)
        if problem:
            person.warn(problem)
    if not answer:
        return (
            f"you did not agree to copy it there. gputop asks once; to be asked again: gputop hosts add {remote.host}"
        )
    return _copied(remote, archive)


def _copied(remote: Remote, archive: bytes) -> str:
    """Send the archive; return why it cannot be used there."""
    with open(unpack.__file__, encoding="utf-8") as opened:
        program = f"{opened.read()}\nunpack({BROUGHT!r})\n"
    fits = fitting()
    words = ("sh", f"python{fits.partition(' ')[0]}", fits, _FITS, program)
    done = subprocess.run(
        remote.shell(_SCRIPT, words, can_ask=True), input=archive, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return ""
    last = clean(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])[:_MOST_LETTERS]
    return f"the copy could not be made: {last or f'status {done.returncode}'}"
