"""A real local HTTP server that speaks the OpenAI protocol and fails on command.

    with JudgeServer(answer=lambda request: {"verdicts": []}) as server:
        server.fail_next(RateLimited(retry_after_s=1), ServerError(), Truncated())
        ...  # talk to server.url with any OpenAI client

Runs on a thread of its own, or as a process of its own:
`python -m testkit.judge_server --latency 0.2 --faults 0.2`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import importlib
import json
import math
import random
import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class JudgeRequest:
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    arrived_s: float
    """The server's own clock, in seconds."""

    @property
    def prompt(self) -> str:
        """All messages' text, in order."""
        return "\n".join(str(message["content"]) for message in self.body.get("messages", ()))

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that was asked for; None without structured output."""
        schema: dict[str, Any] | None = (self.body.get("response_format") or {}).get("json_schema", {}).get("schema")
        return schema


@dataclass(frozen=True)
class RateLimited:
    """429, with Retry-After where it is given."""

    retry_after_s: float | None = None


@dataclass(frozen=True)
class ServerError:
    """An HTTP error with OpenAI's error body."""

    status: int = 500
    code: str = "server_error"
    message: str = "the server had an error"


@dataclass(frozen=True)
class Hang:
    """No answer until the client gives up."""


@dataclass(frozen=True)
class ClosedConnection:
    """The connection is closed in place of an answer."""


@dataclass(frozen=True)
class Truncated:
    """The answer's text ends early, as when the output budget is used up."""

    keep: float = 0.6
    """Share of the text that arrives."""


@dataclass(frozen=True)
class Changed:
    """A well-formed answer with the wrong content."""

    change: Callable[[Any], Any]


@dataclass(frozen=True)
class Said:
    """What a model says, with what its server says about it. For `answer`."""

    text: str
    finish_reason: str = "stop"
    reasoning: str | None = None
    """Thoughts, in a field of their own."""


@dataclass(frozen=True)
class Body:
    """The whole body of an answer, in place of a chat completion. For `answer` and `embeddings`."""

    text: str
    content_type: str = "application/json"
    missing_bytes: int = 0
    """Bytes that are announced and never come: the connection is closed in their place."""


def cut_to_budget(request: JudgeRequest, text: str) -> Said:
    """The text up to the output budget of the request; a token is taken to be four characters."""
    budget = request.body.get("max_tokens") or request.body.get("max_completion_tokens")
    if budget is None or len(text) // 4 <= budget:
        return Said(text)
    return Said(text[: budget * 4], finish_reason="length")


Fault = RateLimited | ServerError | Hang | ClosedConnection | Truncated | Changed


def wrong_ids(answer: Any) -> Any:
    """Every evidence id points to what does not exist."""
    return json.loads(re.sub(r'"c\d+(\.s\d+)?"', '"c99.s99"', json.dumps(answer)))


def dropped_item(answer: Any) -> Any:
    """The last item of the first list is missing."""
    return {key: value[:-1] if isinstance(value, list) else value for key, value in answer.items()}


def doubled_item(answer: Any) -> Any:
    """The first item of each list comes twice."""
    return {key: [*value[:1], *value] if isinstance(value, list) else value for key, value in answer.items()}


ALL_FAULTS: tuple[Fault, ...] = (
    RateLimited(retry_after_s=0.2),
    ServerError(),
    Hang(),
    ClosedConnection(),
    Truncated(),
    Changed(wrong_ids),
)

Answer = Callable[[JudgeRequest], Any]
"""What the model says: an object becomes JSON text, a string is sent as it is."""


@dataclass
class JudgeServer:
    """The server; `with` starts and stops it."""

    answer: Answer = field(default=lambda request: "{}")
    latency_s: float = 0.0
    """Time that every answer takes."""
    fault_share: float = 0.0
    """Share of requests in 0..1 that get one of `fault_kinds`, by a seeded coin."""
    fault_kinds: Sequence[Fault] = ALL_FAULTS
    seed: int = 0
    port: int = 0
    requests: list[JudgeRequest] = field(default_factory=list)
    """Every request so far, in order of arrival."""
    finish_reason: str | None = None
    """Overrides `stop`."""
    usage: dict[str, Any] | Literal["counted"] | None = "counted"
    """What chat completions say of their tokens; None: nothing."""
    embeddings: Body | None = None
    """In place of vectors."""

    def __post_init__(self) -> None:
        self._faults: deque[Fault | None] = deque()
        self._coin = random.Random(self.seed)
        self._stop = asyncio.Event()
        self.in_flight = 0
        self.most_in_flight = 0

    @property
    def url(self) -> str:
        """What clients call `base_url`."""
        return f"http://127.0.0.1:{self.port}/v1"

    def fail_next(self, *faults: Fault | None) -> None:
        """The next requests get these, in order (None: a good answer); then all is well again."""
        self._faults.extend(faults)

    def __enter__(self) -> JudgeServer:
        started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self.serve(started.set),), daemon=True
        )
        self._thread.start()
        started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def serve(self, started: Callable[[], None]) -> None:
        """Serve until stopped; `started` is called when `url` is known. Connections that still hang are cut."""
        connections: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._converse(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", self.port, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        started()
        await self._stop.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError), contextlib.closing(writer):
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    if not await self._answer(request, writer):
                        return
                finally:
                    self.in_flight -= 1

    def _next_fault(self) -> Fault | None:
        if self._faults:
            return self._faults.popleft()
        if self.fault_share and self._coin.random() < self.fault_share:
            return self._coin.choice(self.fault_kinds)
        return None

    async def _answer(self, request: JudgeRequest, writer: asyncio.StreamWriter) -> bool:
        """False when the connection is to be closed."""
        fault = self._next_fault()
        match fault:
            case Hang():
                await asyncio.Future()
            case ClosedConnection():
                return False
            case RateLimited(retry_after_s=delay):
                headers = {} if delay is None else {"Retry-After": f"{delay:g}"}
                return await _write(writer, 429, _error("rate_limit_exceeded", "slow down"), headers)
            case ServerError(status=status, code=code, message=message):
                return await _write(writer, status, _error(code, message))
        await asyncio.sleep(self.latency_s)
        if request.path.endswith("/embeddings"):
            if self.embeddings is not None:
                return await _write_body(writer, self.embeddings)
            return await _write(writer, 200, _embeddings(request.body))
        said = self.answer(request)
        if isinstance(said, Body):
            return await _write_body(writer, said)
        if isinstance(fault, Changed):
            said = fault.change(said)
        reason, reasoning = self.finish_reason or "stop", None
        if isinstance(said, Said):
            said, reason, reasoning = said.text, said.finish_reason, said.reasoning
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        if isinstance(fault, Truncated):
            text, reason = text[: int(len(text) * fault.keep)], "length"
        completion = _completion(request, text, reason, reasoning)
        if self.usage is None:
            del completion["usage"]
        elif self.usage != "counted":
            completion["usage"] = self.usage
        return await _write(writer, 200, completion)


async def _read(reader: asyncio.StreamReader) -> JudgeRequest | None:
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return JudgeRequest(
        path=first.split()[1],
        headers=headers,
        body=json.loads(body or b"{}"),
        arrived_s=asyncio.get_running_loop().time(),
    )


async def _write(
    writer: asyncio.StreamWriter, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> bool:
    payload = json.dumps(body).encode()
    lines = {"Content-Type": "application/json", "Content-Length": str(len(payload)), **(headers or {})}
    head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    writer.write(head.encode() + payload)
    await writer.drain()
    return True


async def _write_body(writer: asyncio.StreamWriter, body: Body) -> bool:
    payload = body.text.encode()
    lines = {"Content-Type": body.content_type, "Content-Length": str(len(payload) + body.missing_bytes)}
    head = "HTTP/1.1 200 X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    writer.write(head.encode() + payload)
    await writer.drain()
    return not body.missing_bytes


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "code": code}}


def _completion(request: JudgeRequest, text: str, finish_reason: str, reasoning: str | None = None) -> dict[str, Any]:
    """A chat completion; a token is taken to be four characters."""
    message = {"role": "assistant", "content": text} | ({"reasoning_content": reasoning} if reasoning else {})
    used, said = len(request.prompt) // 4, len(text) // 4
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request.body.get("model"),
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
        "usage": {"prompt_tokens": used, "completion_tokens": said, "total_tokens": used + said},
    }


def embed(text: str, size: int = 64) -> list[float]:
    """A unit vector of hashed words: equal texts are equal, shared words are near."""
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower()):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % size] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    used = sum(len(text) for text in texts) // 4
    return {
        "object": "list",
        "model": body.get("model"),
        "data": [{"object": "embedding", "index": i, "embedding": embed(text)} for i, text in enumerate(texts)],
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def main() -> None:
    """Serve as a process of its own; the first line on stdout is the address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answer", help="module:function that answers a JudgeRequest")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds per answer")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that fail, 0..1")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    server = JudgeServer(latency_s=options.latency, fault_share=options.faults, seed=options.seed)
    if options.answer:
        module, _, name = options.answer.partition(":")
        server.answer = getattr(importlib.import_module(module), name)

    asyncio.run(server.serve(lambda: print(server.url, flush=True)))


if __name__ == "__main__":
    main()
