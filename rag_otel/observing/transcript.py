"""What a stream has said so far: its pieces as one text and, where they are mappings, as one merged mapping."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from rag_otel.observing.allowance import MAX_CHARACTERS, MAX_WIDTH
from rag_otel.observing.shapes import response_in, text_of
from rag_otel.safety.guard import guarded


class _Pieces(list[str]):
    """Text that is joined when it is asked for: joining at every piece would copy what came before again and again."""


class Transcript:
    """Collects the items of one stream: strings, bytes, mappings, or message and completion chunks of a client."""

    __slots__ = ("_decoder", "_merged", "_pieces", "_size", "cut")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._merged: dict[Any, Any] = {}
        self._size = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self.cut = False
        """True when there was more than is kept: the call counts as incomplete, half an answer is not judged."""

    def add(self, item: object) -> None:
        """Take one item. Never raises; what says nothing is left out."""
        if self.cut:
            return
        if type(item) is str:
            self._keep(item)
            return
        with guarded("observe.transcript"):
            if isinstance(item, (bytes, bytearray, memoryview)):
                self._decoder = self._decoder or codecs.getincrementaldecoder("utf-8")("replace")
                self._keep(self._decoder.decode(bytes(item)))
            elif (said := said_in(item)) is not None:
                self._keep(said)
            elif isinstance(item, Mapping):
                self._merge(item)

    def _keep(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_CHARACTERS:
            self.cut = True
            self._pieces.clear()
            self._merged.clear()
        else:
            self._pieces.append(text)

    def _merge(self, item: Mapping[Any, Any]) -> None:
        """Text under one key is joined (an answer in pieces), anything else is replaced (the documents)."""
        for key, value in islice(item.items(), MAX_WIDTH):
            known = self._merged.get(key)
            if isinstance(value, str):
                self._size += len(value)
                self.cut = self.cut or self._size > MAX_CHARACTERS
                if type(known) is _Pieces:
                    known.append(value)
                else:
                    self._merged[key] = _Pieces((value,))
            else:
                self._merged[key] = value
        self.cut = self.cut or len(self._merged) > MAX_WIDTH

    @property
    def result(self) -> object:
        """What selectors see as `result`: the merged mapping, else the text, else None."""
        return self._joined() or self.text

    def _joined(self) -> dict[Any, Any]:
        return {key: "".join(value) if type(value) is _Pieces else value for key, value in self._merged.items()}

    @property
    def text(self) -> str | None:
        """What was said; the payload where it came as server-sent events."""
        if not self._pieces:
            return response_in(self._joined()) if self._merged else None
        text = "".join(self._pieces)
        return events_text(text) if is_events(text) else text


def said_in(item: object) -> str | None:
    """The text that one chunk of a client adds: OpenAI's `choices[0].delta.content`, LlamaIndex' `delta`, LangChain's
    `content`, Anthropic's `delta.text`. None for a mapping that is none of those."""
    choices = _field(item, "choices")
    if isinstance(choices, (list, tuple)):
        return text_of(_field(_field(choices[0], "delta"), "content")) if choices else None
    delta = _field(item, "delta")
    if delta is not None:
        return text_of(delta)
    return None if isinstance(item, Mapping) else text_of(item)


def is_events(text: str) -> bool:
    """True for the beginning of server-sent events."""
    return text.startswith(("data:", "event:", "id:", ": "))


def events_text(stream: str) -> str:
    """The data of server-sent events, joined: JSON payloads by their text, others as they are."""
    said = []
    for block in stream.replace("\r\n", "\n").split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        payload = "\n".join(lines)
        if lines and payload.strip() != "[DONE]":
            said.append(_payload_text(payload))
    return "".join(said)


def _payload_text(payload: str) -> str:
    try:
        value = json.loads(payload)
    except ValueError:
        return payload
    if isinstance(value, Mapping):
        return said_in(value) or response_in(value) or ""
    return value if isinstance(value, str) else payload


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
