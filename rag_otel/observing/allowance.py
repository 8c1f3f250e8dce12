"""How much of one call is looked at and kept, whatever its size: this is the request path of somebody's application.

What is more is left out, counted, and named on the span; an answer is not judged by half of its evidence, so a call
that was cut is not evaluated, for the reason `truncated`.
"""

from __future__ import annotations

from typing import Final

MAX_CHUNKS: Final = 500
"""Chunks of one call. Twenty microseconds each are ten milliseconds."""
MAX_CHARACTERS: Final = 1_000_000
"""Of a question, an answer or a reference."""
MAX_CHUNK_CHARACTERS: Final = 2_000_000
"""Of all chunks of one call. Text that is not ASCII is encoded once, at a nanosecond a character."""
MAX_ITEMS: Final = 5_000
"""Items of nested lists and mappings that are looked through for an answer or for chunks."""
MAX_WIDTH: Final = 200
"""Entries of one mapping, or messages of one conversation, that are looked at."""


class TooLargeError(Exception):
    """There is more to look through than a request should wait for: what is looked for counts as not found."""


class Allowance:
    """What may still be looked at for one call, and what was left out."""

    __slots__ = ("chunk_characters", "items", "omitted_characters", "omitted_chunks")

    def __init__(self) -> None:
        self.items = MAX_ITEMS
        self.chunk_characters = MAX_CHUNK_CHARACTERS
        self.omitted_chunks = 0
        self.omitted_characters = 0

    def look_at(self, count: int) -> None:
        """Count items that are about to be looked at. Raises TooLargeError."""
        self.items -= count
        if self.items < 0:
            raise TooLargeError

    def text(self, text: str) -> str:
        """As much of a text as is kept, fit for an attribute."""
        if len(text) <= MAX_CHARACTERS and text.isascii():  # by far the most usual
            return text
        return self._kept(text, MAX_CHARACTERS)

    def chunk_text(self, text: str) -> str:
        """The same for the text of a chunk."""
        if len(text) <= self.chunk_characters and text.isascii():
            self.chunk_characters -= len(text)
            return text
        kept = self._kept(text, self.chunk_characters)
        self.chunk_characters -= len(kept)
        return kept

    def chunk_texts(self, texts: list[str]) -> list[str]:
        """The same for the texts of several chunks."""
        size = sum(map(len, texts))
        if size <= self.chunk_characters and all(map(str.isascii, texts)):  # by far the most usual
            self.chunk_characters -= size
            return texts
        return [self.chunk_text(text) for text in texts]

    def _kept(self, text: str, most: int) -> str:
        if len(text) > most:
            self.omitted_characters += len(text) - most
            text = text[:most]
        return text if text.isascii() else encodable(text)


def encodable(text: str) -> str:
    """The text with `?` for each lone surrogate, character by character, so that offsets stay.

    One of them in an attribute makes the OTLP encoder fail, and a whole batch of spans is lost.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
