"""Names of users: a directory server (LDAP, NIS) that does not answer costs its own names alone."""

from collections.abc import Callable
from functools import partial
from typing import Final

from gputop.core.text.text import clean
from gputop.machine.timed_calls import TimedCalls

PATIENCE_S: Final = 0.3
_HASTE_S: Final = 0.02  # after a look-up that was late


class UserNames:
    """Looks up each uid once, in a thread. ``users`` names the user of a uid."""

    def __init__(self, users: Callable[[int], str | None], patience_s: float = PATIENCE_S) -> None:
        self._users = users
        self._patience_s = patience_s
        self._calls = TimedCalls()
        self._names: dict[int, str] = {}
        self._is_slow = False

    def name(self, uid: int) -> str:
        """Return the name, or the number if there is none. Raises OSError while the look-up is late."""
        if uid not in self._names:
            timeout_s = min(self._patience_s, _HASTE_S) if self._is_slow else self._patience_s
            self._is_slow = True
            self._calls.make(uid, partial(self._look_up, uid), timeout_s)
            self._is_slow = False
        return self._names[uid]

    def _look_up(self, uid: int) -> None:
        self._names[uid] = clean(self._users(uid) or str(uid))  # a late answer counts too
