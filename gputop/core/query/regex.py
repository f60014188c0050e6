"""Regular expressions that cannot hang: searched in time linear in the text, whatever the pattern and the text are.

Command lines come from other users, and `re` takes for ever on (a+)+$ or .*a.*b.*c with a text made for it. Here a
pattern becomes a list of instructions, and a text is read once with the set of places that may have been reached
(Thompson); sets and steps are remembered, so that the usual text costs a look-up per character.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.query.regex_syntax import Chars, Edge, Either, Part, PatternError, Repeat, Sequence, parsed

_MOST_INSTRUCTIONS: Final = 1000
_MOST_STATES: Final = 1000
_MOST_ANSWERS: Final = 5000
_BORDER, _OTHER, _WORD = range(3)  # what stands before or after a place: nothing, no word character, one


class _Take(Struct, frozen=True):
    test: Callable[[str], bool]


class _Go(Struct):
    to: tuple[int, ...]


class _State:
    """The instructions that may come next, before empty steps; ``before``: the kind of the character before."""

    def __init__(self, places: frozenset[int], before: int) -> None:
        self.places = places
        self.before = before
        self.steps: dict[str, _State | None] = {}  # None: found


class Pattern:
    """A pattern for `search`: regardless of case, without groups that are remembered and without looking around.

    Raises `PatternError` where the text is no such pattern.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._program: list[_Take | _Go | Edge] = []
        self._emit(parsed(text))
        self._end = len(self._program)
        self._states: dict[tuple[frozenset[int], int], _State] = {}
        self._answers: dict[str, bool] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def search(self, text: str) -> bool:
        """Say whether the pattern is found anywhere in the text."""
        known = self._answers.get(text)
        if known is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            known = self._answers[text] = self._search(text)
        return known

    def _search(self, text: str) -> bool:
        state: _State | None = self._state(frozenset({0}), _BORDER)
        for character in text:
            if state is None:
                return True
            state = state.steps[character] if character in state.steps else self._step(state, character)
        return state is None or self._end in self._reached(state, _BORDER)

    def _step(self, state: _State, character: str) -> _State | None:
        after = _WORD if character.isalnum() or character == "_" else _OTHER
        reached = self._reached(state, after)
        following: _State | None = None
        if self._end not in reached:
            taken = {place + 1 for place in reached if self._takes(place, character)}
            following = self._state(frozenset(taken | {0}), after)  # 0: the pattern may begin anywhere
        state.steps[character] = following
        return following

    def _takes(self, place: int, character: str) -> bool:
        instruction = self._program[place]
        return isinstance(instruction, _Take) and instruction.test(character)

    def _state(self, places: frozenset[int], before: int) -> _State:
        found = self._states.get((places, before))
        if found is None:
            if len(self._states) >= _MOST_STATES:
                for old in self._states.values():
                    old.steps.clear()
                self._states.clear()
            found = self._states[places, before] = _State(places, before)
        return found

    def _reached(self, state: _State, after: int) -> set[int]:
        """Return all places that empty steps lead to."""
        reached: set[int] = set()
        waiting = list(state.places)
        while waiting:
            place = waiting.pop()
            if place in reached:
                continue
            reached.add(place)
            match self._program[place] if place < self._end else None:
                case _Go(to=to):
                    waiting.extend(to)
                case Edge(sign=sign) if _stands(sign, state.before, after):
                    waiting.append(place + 1)
        return reached

    def _add(self, instruction: _Take | _Go | Edge) -> None:
        self._program.append(instruction)
        if len(self._program) > _MOST_INSTRUCTIONS:
            raise PatternError("this pattern is too large", 0)

    def _emit(self, part: Part) -> None:
        match part:
            case Chars(test=test):
                self._add(_Take(test))
            case Edge():
                self._add(part)
            case Sequence(parts=parts):
                for inner in parts:
                    self._emit(inner)
            case Either(parts=parts):
                self._emit_either(parts)
            case Repeat():
                self._emit_repeat(part)

    def _emit_either(self, parts: tuple[Part, ...]) -> None:
        ends: list[_Go] = []
        for part in parts[:-1]:
            fork = self._fork()
            self._emit(part)
            ends.append(self._fork())
            fork.to = (fork.to[0], len(self._program))
        self._emit(parts[-1])
        for end in ends:
            end.to = (len(self._program),)

    def _emit_repeat(self, repeat: Repeat) -> None:
        for _ in range(repeat.least):
            self._emit(repeat.part)
        forks: list[_Go] = []
        for _ in range(1 if repeat.most is None else repeat.most - repeat.least):
            start = len(self._program)
            forks.append(self._fork())
            self._emit(repeat.part)
            if repeat.most is None:
                self._add(_Go((start,)))
        for fork in forks:
            fork.to = (fork.to[0], len(self._program))

    def _fork(self) -> _Go:
        """Add a jump to the next instruction; where else it leads is filled in later."""
        fork = _Go((len(self._program) + 1,))
        self._add(fork)
        return fork


def _stands(sign: str, before: int, after: int) -> bool:
    if sign == "^":
        return before == _BORDER
    if sign == "$":
        return after == _BORDER
    return ((before == _WORD) != (after == _WORD)) == (sign == "b")
