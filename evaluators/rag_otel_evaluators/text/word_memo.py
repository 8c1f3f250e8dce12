"""A memory of what was found out about words: texts repeat theirs, so most are looked up and not worked out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

V = TypeVar("V")

_MOST: Final = 20_000
"""Entries; a memo that is full is emptied, so that it stays small."""
_LONGEST: Final = 40
"""Characters: what is longer (a link, a line of a script without spaces) hardly comes again."""


class WordMemo(dict[str, V]):
    """word -> what `find_out` says of it, filled as words come by. Threads may share one: at worst two ask twice."""

    def __init__(self, find_out: Callable[[str], V]) -> None:
        super().__init__()
        self._find_out = find_out

    def __missing__(self, word: str) -> V:
        found = self._find_out(word)
        if len(word) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[word] = found
        return found
