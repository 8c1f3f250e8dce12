"""What a stream has said so far, and which of its items are held back for it."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from rag_otel.observing.transcript import Transcript, events_text, is_events


class StreamBuffer:
    """The text of a stream. Items that are text (`str`, or bytes of text) can be cut anywhere. Others (server-sent
    events, mappings, chunks of a client) are kept as they are."""

    def __init__(self, transcript: Transcript, answer_in: Callable[[object], str | None]) -> None:
        """`transcript` has each item before it is added. `answer_in`: the application's selector, for items that are no
        text."""
        self._transcript = transcript
        self._answer_in = answer_in
        self._decoder: codecs.IncrementalDecoder | None = None
        self._held: deque[tuple[Any, int]] = deque()
        """Items that are no text, each with the length of what had been said with it."""
        self.text = ""
        self.is_text: bool | None = None
        """None before the first item that says something."""

    @property
    def cut(self) -> bool:
        """True if the stream has said more than is judged."""
        return self._transcript.cut

    @property
    def result(self) -> object:
        """What selectors see as `result`."""
        return self._transcript.result

    def add(self, item: Any) -> None:
        """take one item."""
        said = self._decoded(item)
        if self.is_text is None and (said is None or said.strip()):
            self.is_text = said is not None and not is_events(said)
        if self.is_text is not False and said is not None:
            self.text += said
            return
        if said is not None:
            self.text += events_text(said)
        else:
            known = self._answer_in(self._transcript.result) or self._transcript.text or ""
            self.text = known if len(known) > len(self.text) else self.text
        self._held.append((item, len(self.text)))

    def items(self, until: int) -> Iterator[Any]:
        """The items that are held and say nothing beyond this offset; they are held no more."""
        while self._held and self._held[0][1] <= until:
            yield self._held.popleft()[0]

    def as_item(self, text: str) -> str | bytes:
        """A text as an item of this stream."""
        return text if self._decoder is None else text.encode()

    def _decoded(self, item: Any) -> str | None:
        if isinstance(item, str):
            return item
        if not isinstance(item, bytes | bytearray):
            return None
        self._decoder = self._decoder or codecs.getincrementaldecoder("utf-8")("replace")
        return self._decoder.decode(bytes(item))
