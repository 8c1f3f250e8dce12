"""Random schedules of kills, failing and slow backends, full folders and clock jumps: an answer has one score."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from pathlib import Path

import pytest

from rag_otel import semconv
from testkit.http_receiver import Received, Receiver, http_receiver
from testkit.polling import eventually
from tests.durable.kit import ANSWER, IMPATIENT, Program, a_program, attribute, spans

_FAILING = 0.4
"""Share of requests that fail while programs are killed."""
_SLOW_S = 1.2
"""Longer than an impatient exporter waits."""


class Backend:
    """Takes, refuses, or takes and then says that it has not: by an error, or by an answer that comes too late."""

    def __init__(self, receiver: Receiver, rng: random.Random) -> None:
        self.receiver, self.rng, self.failing = receiver, rng, True
        receiver.respond = self.respond

    def respond(self, received: Received) -> tuple[int, bytes]:
        if not self.failing or self.rng.random() > _FAILING:
            return 200, b""
        kind = self.rng.choice(["refused", "taken", "late"])
        if kind == "refused":
            self.receiver.requests.remove(received)
        if kind == "late":
            time.sleep(_SLOW_S)
        return 503, b""


def score_keys(receiver: Receiver) -> dict[str, set[tuple[str, int]]]:
    """Trace id -> (name, span id) of every span with a score of the answer: under these a backend stores the score."""
    score, found = semconv.metric_key("gated", "score"), defaultdict(set)
    for span in spans(receiver):
        if attribute(span, score) is not None:
            found[f"{span.context.trace_id:032x}"].add((span.name, span.context.span_id))
    return found


def run(program: Program, rng: random.Random) -> None:
    """Some work, in any order. Commands that wait for the backend are bounded."""
    for _ in range(rng.randint(2, 5)):
        program.do(rng.choice(["answer 5", "answer 20", "answer 15 100000", "flush 0.5", "clock 3600", "clock -3600"]))


@pytest.mark.server
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 40))])
def test_an_answer_has_one_score(tmp_path: Path, seed: int) -> None:
    """Under one key: on its own span, or on one evaluation span. Copies have the same key. The last program, with a
    backend that works, leaves nothing behind. Takes some seconds: three programs are started."""
    rng = random.Random(seed)
    with http_receiver() as receiver:
        backend = Backend(receiver, rng)
        for number in range(2):
            hold, room = rng.choice([[], ["--hold", "0"]]), rng.choice([[], ["--max-bytes", str(2**20)]])
            with a_program(tmp_path, receiver.url, *IMPATIENT, *hold, *room) as program:
                program.do(f"from {number * 1_000}")
                run(program, rng)
                if rng.random() < 0.8:
                    program.kill()
                else:
                    program.exit()
        backend.failing = False
        with a_program(tmp_path, receiver.url) as program:
            eventually(lambda: (program.do("left"), program.left == 0)[1], within_s=120)
            program.do("from 9000")
            program.do("answer 1")
            program.do("flush")
            program.exit()
        keys = score_keys(receiver)
        answers = defaultdict(set)
        for span in spans(receiver):
            if span.name == ANSWER:
                answers[attribute(span, semconv.INPUT_VALUE)].add(span.context.span_id)
        assert keys
        assert {trace: names for trace, names in keys.items() if len(names) > 1} == {}
        assert {question: ids for question, ids in answers.items() if len(ids) > 1} == {}
