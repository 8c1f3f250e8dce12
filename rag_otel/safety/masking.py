"""Replaces credentials and personal data by placeholders (`<EMAIL_1>`), and placeholders by the originals.

    placeholders = Placeholders(("secrets", "email"))
    for _ in placeholders.learn(chunk): ...
    placeholders.mask("Write to ann@example.org")      # "Write to <EMAIL_1>"
    placeholders.restore("<EMAIL_1> is named")         # "ann@example.org is named"

The same value always has the same placeholder, so a reader of the masked texts can still compare them.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from typing import Final, Protocol, runtime_checkable

from rag_otel.errors import ConfigurationError
from rag_otel.safety.personal_data import FINDERS
from rag_otel.safety.private_keys import private_key_lines
from rag_otel.safety.redaction import credential_spans, known_secrets
from rag_otel.safety.secret_forms import random_spans

SECRETS: Final = "secrets"
CLASSES: Final = (SECRETS, *FINDERS)
_PLACEHOLDER: Final = re.compile(r"<([A-Z][A-Z0-9_]{0,40}_\d{1,6})>")
_IDENTIFIER: Final = re.compile(r"\W*(?:c\d{1,9}(?:\.s\d{1,9})?|\d{1,3})\W*", re.IGNORECASE)
"""Numbers of chunks and claims in a prompt, which stay."""
_WINDOW: Final = 500
"""Characters that are searched in one step."""
_BEFORE: Final = 100
"""Characters before a window that are searched again: the words that introduce a credential."""
_BREAK: Final = re.compile(r"[\s<>|，。；！？]")
_LONGEST_STEP: Final = 2_000
_SHORTEST: Final = 4
_SHORTEST_WORD: Final = 8
_SHORTEST_NUMBER: Final = 6


@runtime_checkable
class MaskEngine(Protocol):
    """Finds further values to mask. One method; called on a thread, may block."""

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        """(start, end, class) of each value, in characters; the class becomes the placeholder: `person`, ..."""
        ...


def check_classes(classes: Iterable[str]) -> tuple[str, ...]:
    """The classes to mask; `none` alone is no class. Raises ConfigurationError."""
    given = tuple(dict.fromkeys(each.strip().lower() for each in classes))
    if given == ("none",):
        return ()
    if unknown := [each for each in given if each not in CLASSES]:
        raise ConfigurationError(
            f"judge_mask: unknown {', '.join(unknown)}; there are: {', '.join(CLASSES)}, or `none` alone"
        )
    return given


class Placeholders:
    """The values found in the texts of one evaluation, and their placeholders. Not thread-safe."""

    def __init__(self, classes: Iterable[str] = (SECRETS,)) -> None:
        self._classes = tuple(classes)
        self._by_key: dict[tuple[str, str], str] = {}
        self._by_value: dict[str, str] = {}
        self._originals: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._reserved: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, text: str) -> Generator[None, None, None]:
        """Finds the values in a text; yields after each step, for `cooperatively`."""
        self._reserved.update(_PLACEHOLDER.findall(text))
        if SECRETS in self._classes:
            self._learn_secrets_anywhere(text)
        for start, end in _windows(text):
            self._learn_window(text[start:end])
            yield

    def learn_found(self, text: str, found: Iterable[tuple[int, int, str]]) -> None:
        """Takes what a `MaskEngine` found in the text."""
        for start, end, kind in found:
            self.add(text[start:end], kind)

    def add(self, value: str, kind: str) -> None:
        """Masks `value` from now on. Values of one class that differ in case and separators alone are one."""
        value = value.strip()
        if len(value) < _SHORTEST or value in self._by_value or _PLACEHOLDER.search(value):
            return
        kind = re.sub(r"\W", "_", kind.upper())
        spelled = (
            value if kind == "SECRET" else re.sub(r"[\s().-]", "", value.casefold()).removeprefix("00").lstrip("+")
        )
        name = self._by_key.get((kind, spelled)) or self._new_name(kind)
        self._by_key[kind, spelled] = self._by_value[value] = name
        self._originals.setdefault(name, value)
        self._pattern = None

    def mask(self, text: str) -> str:
        """The text with placeholders for all values known so far."""
        if not self._by_value:
            return text
        if self._pattern is None:
            self._pattern = re.compile("|".join(map(_as_pattern, sorted(self._by_value, key=len, reverse=True))))
        return self._pattern.sub(lambda found: f"<{self._by_value[found[0]]}>", text)

    def restore(self, text: str) -> str:
        """The text with the originals in place of the placeholders. Unknown placeholders stay."""
        return _PLACEHOLDER.sub(lambda found: self._originals.get(found[1], found[0]), text)

    @property
    def count(self) -> int:
        """How many different values were found."""
        return len(self._originals)

    def _new_name(self, kind: str) -> str:
        while True:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            name = f"{kind}_{self._counts[kind]}"
            if name not in self._reserved:
                return name

    def _learn_secrets_anywhere(self, text: str) -> None:
        for secret in known_secrets():
            if len(secret) >= _SHORTEST_WORD and secret in text:
                self.add(secret, "secret")
        for line in private_key_lines(text):
            self.add(line, "secret")

    def _learn_window(self, text: str) -> None:
        taken: list[tuple[int, int]] = []
        for kind in self._classes:
            spans = _secrets(text) if kind == SECRETS else FINDERS[kind](text)
            for start, end in spans:
                if all(end <= other_start or other_end <= start for other_start, other_end in taken):
                    taken.append((start, end))
                    self.add(text[start:end], "secret" if kind == SECRETS else kind)
                    if kind == SECRETS and text[:start].endswith("://"):  # user:password@
                        self.add(text[start:end].partition(":")[2], "secret")


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    """Of spans that overlap the first counts: a whole key rather than the part of it that looks random."""
    yield from _credentials(text)
    yield from random_spans(text)


def _credentials(text: str) -> Iterator[tuple[int, int]]:
    for start, end in credential_spans(text):
        assigned = text[max(0, start - 1) : start] in ('"', "'", "=")
        several = " " in text[start:end]  # the rest of a line, which may be prose
        for piece in re.finditer(r"\S+", text[start:end]):
            value = piece[0].rstrip(".,;:!?)'\"")
            if _looks_secret(value, assigned=assigned) and not (several and _is_plain_word(value)):
                yield start + piece.start(), start + piece.start() + len(value)


def _is_plain_word(value: str) -> bool:
    return value.isalpha() and (value.islower() or value.istitle() or value.isupper())


def _looks_secret(value: str, *, assigned: bool) -> bool:
    """False for words and short numbers after "password:" in running text; they would be masked wherever they stand."""
    if len(value) < _SHORTEST or _IDENTIFIER.fullmatch(value) or _PLACEHOLDER.search(value):
        return False
    if assigned:
        return True
    if value.isdigit():
        return len(value) >= _SHORTEST_NUMBER
    return len(value) >= _SHORTEST_WORD or not value.isalpha()


def _as_pattern(value: str) -> str:
    """A short plain word only where it stands alone; what is long or has a digit or a sign also inside other text."""
    literal = re.escape(value)
    return literal if len(value) >= _SHORTEST_WORD and not value.isalpha() else rf"(?<!\w){literal}(?!\w)"


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of overlapping parts that begin and end between words."""
    begin = 0
    while begin < len(text):
        cut = _BREAK.search(text, begin + _WINDOW, begin + _LONGEST_STEP)
        end = cut.start() if cut else min(len(text), begin + _LONGEST_STEP)
        start = begin
        if begin > _BEFORE:
            before = _BREAK.search(text, begin - _BEFORE, begin)
            start = before.end() if before else begin
        yield start, end
        begin = max(end, begin + 1)
