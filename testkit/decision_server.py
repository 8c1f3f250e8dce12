"""A local HTTP server of OpenAI's Decisions form, which also speaks System One, and fails on command.

Requests and answers of OpenAI's form are validated with the `openai` package's own types: a request that its types do
not allow is answered with 400, and an answer that they do not allow is an error of the test.

    with DecisionServer(decide=by_words) as server:
        ...  # server.url, server.bodies

As a process of its own, whose first line is the address: `python -m testkit.decision_server --latency 0.3 --queues`.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from openai.types import Decision, DecisionCreateParams
from pydantic import TypeAdapter, ValidationError

_REQUEST = TypeAdapter(DecisionCreateParams)
_CLAIM = re.compile(r"Claim: «(.*)»", re.DOTALL)
_WORD = re.compile(r"The control word of this text is (\w+)\.")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question of either form."""

    name: str
    instructions: str
    options: Sequence[str]

    @property
    def claim(self) -> str | None:
        """The claim that it is about."""
        found = _CLAIM.search(self.instructions)
        return None if found is None else found[1]


Decide = Callable[[Mapping[str, Any], Question], Mapping[str, float] | str]
"""(state, question) -> probability of each option, or `refuse`."""


def by_words(state: Mapping[str, Any], question: Question) -> dict[str, float]:
    """A judge of word overlap: a claim whose words all stand in one passage is supported, with a wrong number
    contradicted."""
    if question.claim is None:
        found = _WORD.search(str(state.get("note", "")))
        return sure(question.options, found[1] if found else "none")
    words = set(re.findall(r"\w+", question.claim.lower()))
    shares = {key: len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))
              for key, text in state["passages"].items()}  # fmt: skip
    best = max(shares, key=shares.__getitem__)
    if "supported" not in question.options:
        return sure(question.options, best if shares[best] > 0.3 else "none")
    numbers = set(re.findall(r"\d+", question.claim)) - set(re.findall(r"\d+", state["passages"][best]))
    if numbers and shares[best] > 0.3:
        return sure(question.options, "contradicted")
    return sure(question.options, "supported" if shares[best] >= 0.9 else "not_stated")


def all_supported(state: Mapping[str, Any], question: Question) -> dict[str, float]:
    """The first option of every question about a claim, in next to no time."""
    return by_words(state, question) if question.claim is None else sure(question.options, question.options[0])


def sure(options: Sequence[str], chosen: str, probability: float = 0.94) -> dict[str, float]:
    """Most of the probability on one option, in two decimals as servers give it."""
    rest = round((1 - probability) / max(1, len(options) - 1), 2)
    return {option: probability if option == chosen else rest for option in options}


@dataclass
class DecisionServer:
    """The server; `with` starts and stops it."""

    decide: Decide = by_words
    latency_s: float = 0.0
    queues: bool = False
    """Answers one request after the other, as some vendors do."""
    reads: int | None = None
    """Characters of the state, as JSON, that are read; the rest is cut off silently. None: all."""
    model: str | None = None
    """The version that says it has answered; None: the one that was asked."""
    change: Callable[[dict[str, Any]], Any] = lambda answer: answer
    """Of every answer, before it is sent. A changed answer is not validated."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._faults: deque[tuple[int, Mapping[str, str], str] | None] = deque()
        self._one_at_a_time = threading.Lock()

    @property
    def url(self) -> str:
        """The address up to the version."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def fail_next(self, *faults: tuple[int, Mapping[str, str], str] | None) -> None:
        """The next requests get (status, headers, body), None a good answer; then all is well again."""
        self._faults.extend(faults)

    def __enter__(self) -> DecisionServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer._serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        self.bodies.append(body)
        self.paths.append(request.path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        status, headers, payload = self._answer(body, request.path)
        request.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(payload)), **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(payload)

    def _answer(self, body: dict[str, Any], path: str) -> tuple[int, Mapping[str, str], bytes]:
        fault = self._faults.popleft() if self._faults else None
        if fault is not None:
            return fault[0], fault[1], fault[2].encode()
        if self.queues:
            with self._one_at_a_time:
                time.sleep(self.latency_s)
        else:
            time.sleep(self.latency_s)
        try:
            answer = self._system_one(body) if "state" in body else self._openai(body)
        except (ValidationError, ValueError) as error:
            return 400, {}, json.dumps({"error": {"message": str(error), "code": "invalid_request"}}).encode()
        return 200, {}, json.dumps(self.change(answer)).encode()

    def _openai(self, body: dict[str, Any]) -> dict[str, Any]:
        _REQUEST.validate_python(body)
        questions = body["questions"]
        if not 1 <= len(questions) <= 400:
            raise ValueError("1-400 questions")
        answers = []
        for each in questions:
            options = [choice["value"] for choice in each["choices"]]
            if not 2 <= len(options) <= 255:
                raise ValueError("2-255 choices")
            found = self.decide(self._state(body["input"]), _question(each["name"], each, options))
            answers.append(_openai_answer(each["name"], found))
        read = len(json.dumps(body)) // 4
        answer = {
            "model": self.model or body["model"],
            "answers": answers,
            "usage": {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 0,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": read,
            },
        }
        Decision.model_validate(answer)
        return answer

    def _system_one(self, body: dict[str, Any]) -> dict[str, Any]:
        answers = {}
        for name, each in body["questions"].items():
            found = self.decide(self._state(body["state"]), _question(name, each, list(each["criteria"])))
            answers[name] = _system_one_answer(found)
        usage = {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": 0}
        return {"model": self.model or body["model"], "answers": answers, "usage": usage}

    def _state(self, given: Any) -> Mapping[str, Any]:
        """The state, as far as it is read."""
        if isinstance(given, list):
            (part,) = given[0]["content"]
            if len(json.dumps(part["data"]).encode()) > 256 * 1024:
                raise ValueError("input_json of more than 256 KiB")
            given = part["data"]
        elif isinstance(given, str):
            given = json.loads(given)
        if self.reads is None:
            return dict(given)
        seen = {"passages": {}, **{key: value for key, value in given.items() if key != "note"}}
        return seen if len(json.dumps(given)) > self.reads else dict(given)


def _question(name: str, given: Mapping[str, Any], options: list[str]) -> Question:
    return Question(name=name, instructions=given["instructions"], options=options)


def _openai_answer(name: str, found: Mapping[str, float] | str) -> dict[str, Any]:
    if isinstance(found, str):
        return {"type": "refusal", "name": name}
    probabilities = [{"value": option, "probability": value} for option, value in found.items()]
    chosen = max(found, key=lambda option: found[option])
    return {"type": "choice", "name": name, "choice": chosen, "confidence": 0.5, "probabilities": probabilities}


def _system_one_answer(found: Mapping[str, float] | str) -> dict[str, Any]:
    if isinstance(found, str):
        return {"type": "refusal"}
    chosen = max(found, key=lambda option: found[option])
    return {"type": "choice", "choice": chosen, "confidence": 0.5, "probabilities": dict(found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds per request")
    parser.add_argument("--queues", action="store_true", help="one request after the other")
    parser.add_argument("--supported", action="store_true", help="call every claim supported, at no cost")
    options = parser.parse_args()
    decide = all_supported if options.supported else by_words
    with DecisionServer(decide=decide, latency_s=options.latency, queues=options.queues) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
