"""What a decision model as judge asks, costs and takes, beside a chat model in one call and in Ragas' two steps.

    python benchmarks/decisions.py

Requests, tokens and dollars: answers of 1, 6 and 20 claims over five passages of 1,000 characters (of examples/data),
against local servers of OpenAI's two forms; what went over the wire is counted with gpt-4o's tokenizer, which is no
decision vendor's. The chat judge's answers are those of testkit/word_overlap_judge.py. Prices: dollars for a million
tokens in and out, as of the date that is printed; a chat model's are those of the same vendor's model.

Answers a second: a server that takes 300 ms for a request, and one that takes one request at a time, both in a process
of their own, with 1, 8 and 32 answers in flight. CPU is the asking process's own.

Doubts: in how many claims of answers of language models the reader of numbers, dates, units and names finds a conflict
that makes a model's `supported` doubtful, by what people marked. It stays on below 2% of the claims that nobody marked.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import tiktoken
from faithfulness_quality import is_marked

from rag_otel.cli.terminal import table
from rag_otel.model import Chunk
from rag_otel_evaluators.judges.decision_model import decision_model, limits_of
from rag_otel_evaluators.judges.decision_verdicts import plain_conflict
from rag_otel_evaluators.judges.decisions import DecisionJudge
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge, Strategy
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.decisions.providers import PRICED_ON, PRICES
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.text.claim_segmentation import segment
from rag_otel_evaluators.text.sentences import sentence_spans
from rag_otel_evaluators.text.statement import AnalysedStatement
from testkit.decision_server import DecisionServer
from testkit.judge_server import JudgeRequest, JudgeServer
from testkit.word_overlap_judge import answer as oracle

DATA = Path(__file__).parents[1] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
QUESTION = "What do the passages say?"
CLAIMS = (1, 6, 20)
CHAT_PRICE = (0.10, 0.50)
"""gpt-6-luna as a chat model."""
IN_FLIGHT = (1, 8, 32)
LATENCY_S = 0.3
LITELLM = importlib.util.find_spec("litellm")
assert LITELLM is not None
assert LITELLM.origin is not None
os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(LITELLM.origin).parent / "litellm_core_utils" / "tokenizers")
ENCODING = tiktoken.get_encoding("o200k_base")
"""litellm brings its data."""
PER_MESSAGE = 4
MOST_DOUBTED = 0.02


def material() -> tuple[list[Chunk], list[str]]:
    """Five passages of 1,000 characters, and claims of usual length."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    everything = " ".join(dict.fromkeys(text for row in rows for text in row["contexts"]))
    texts = [everything[start : start + 1_000] for start in range(0, 5_000, 1_000)]
    claims = dict.fromkeys(claim.text for row in rows for claim in segment(row["response"]).claims)
    usual = [text for text in claims if 60 <= len(text) <= 140 and text[0].isupper() and text.endswith(".")]
    alone = [text for text in usual if len(segment(text).claims) == 1]
    return [Chunk(id=str(n), text=text, position=n) for n, text in enumerate(texts)], alone


def count(text: str) -> int:
    return len(ENCODING.encode(text))


def asked_of_decisions(body: dict[str, Any]) -> int:
    """Tokens of the state and of the questions."""
    (part,) = body["input"][0]["content"]
    texts = [json.dumps(part["data"], ensure_ascii=False)]
    for question in body["questions"]:
        texts.append(question["instructions"])
        texts += [f"{each['value']}: {each.get('description', '')}" for each in question["choices"]]
    return sum(map(count, texts))


async def by_decisions(chunks: list[Chunk], response: str) -> tuple[int, int, int]:
    """(requests, tokens in, tokens out)"""
    name = "decisions/openai/gpt-6-luna"
    with DecisionServer() as server:
        model = decision_model(name, api_base=server.url, api_key="k")
        judge = DecisionJudge(model=model, limits=limits_of(name)[0])
        await Faithfulness(judge=judge).evaluate(question=QUESTION, chunks=chunks, response=response)
        return len(server.bodies), sum(map(asked_of_decisions, server.bodies)), 0


async def by_chat(chunks: list[Chunk], response: str, strategy: Strategy) -> tuple[int, int, int]:
    """(requests, tokens in, tokens out)"""
    sent, said = 0, 0

    def answer(request: JudgeRequest) -> Any:
        nonlocal sent, said
        texts = [str(message["content"]) for message in request.body["messages"]]
        found = oracle(request)
        sent += sum(PER_MESSAGE + count(text) for text in texts) + count(json.dumps(request.schema or ""))
        said += count(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
        return found

    with JudgeServer(answer=answer) as server:
        judge = LlmJudge(model=openai_model("openai/judge", api_base=server.url), strategy=strategy)
        await Faithfulness(judge=judge).evaluate(question=QUESTION, chunks=chunks, response=response)
        return len(server.requests), sent, said


def dollars(into: int, out: int, price: tuple[float, float]) -> str:
    return f"{into * price[0] + out * price[1]:.0f}"


async def tokens() -> None:
    chunks, claims = material()
    decision_prices = {name: price.usd for name, price in PRICES.items() if name in SHOWN}
    rows = []
    for number in CLAIMS:
        response = " ".join(claims[:number])
        assert len(segment(response).claims) == number
        requests, into, out = await by_decisions(chunks, response)
        for name, usd in decision_prices.items():
            rows.append([f"{number}", SHOWN[name], f"{requests}", f"{into}", f"{out}", dollars(into, out, (usd, 0.0))])
        for strategy, label in STRATEGIES.items():
            requests, into, out = await by_chat(chunks, response, strategy)
            rows.append([f"{number}", label, f"{requests}", f"{into}", f"{out}", dollars(into, out, CHAT_PRICE)])
    header = ["claims", "judge", "requests", "tokens in", "tokens out", "USD a million answers"]
    print(f"Prices as of {PRICED_ON}.\n{table(rows, header=header)}\n")


SHOWN = {
    "perplexity/pplx-decider": "pplx-decider, .02",
    "typesafe/jev-": "jev, .042",
    "openai/gpt-6-luna": "gpt-6-luna decisions, .10",
}
STRATEGIES: dict[Strategy, str] = {
    "single": "gpt-6-luna chat, one call, .10/.50",
    "two_step": "gpt-6-luna chat, two steps as Ragas",
}


@contextmanager
def a_server(*options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "testkit.decision_server", "--supported"]
    command += ["--latency", str(LATENCY_S), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


async def run(address: str, in_flight: int, answers: int) -> tuple[float, float, float]:
    """(answers a second, CPU milliseconds an answer, median seconds an answer)"""
    chunks, claims = material()
    name = "decisions/systemone/any"
    model = decision_model(name, api_base=address, limits=RateLimits(concurrency=in_flight))
    metric = Faithfulness(judge=DecisionJudge(model=model, limits=limits_of(name)[0]))
    gate = asyncio.Semaphore(in_flight)

    async def one(number: int) -> float:
        async with gate:
            started = time.perf_counter()
            response = " ".join(claims[number % 20 : number % 20 + 6])
            result = await metric.evaluate(question=f"{QUESTION} {number}", chunks=chunks, response=response)
            assert result.reason_code is None, result
            return time.perf_counter() - started

    await one(0)
    cpu, wall = time.process_time(), time.perf_counter()
    took = sorted(await asyncio.gather(*(one(number) for number in range(answers))))
    wall = time.perf_counter() - wall
    return answers / wall, 1_000 * (time.process_time() - cpu) / answers, took[len(took) // 2]


def speed() -> None:
    rows = []
    for label, options, most in (("300 ms a request", (), 400), ("one request at a time", ("--queues",), 40)):
        for in_flight in IN_FLIGHT:
            with a_server(*options) as address:
                rate, cpu_ms, median_s = asyncio.run(run(address, in_flight, min(most, 20 * in_flight)))
            ideal = in_flight / LATENCY_S if not options else 1 / LATENCY_S
            cells = [f"{rate:.1f}", f"{rate / ideal:.2f}", f"{cpu_ms:.1f}", f"{median_s:.2f}"]
            rows.append([label, str(in_flight), *cells])
    header = ["server", "in flight", "answers/s", "of the ideal", "CPU ms an answer", "median s"]
    print(table(rows, header=header))


def doubts() -> bool:
    """Whether the reader fires rarely enough."""
    counts = {False: [0, 0], True: [0, 0]}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts = [AnalysedStatement(text[start:end]) for text in row["contexts"] for start, end in sentence_spans(text)]
        for claim in segment(row["response"]).claims:
            marked = is_marked(row["response"], claim.start, claim.end, row["spans"])
            counts[marked][0] += 1
            counts[marked][1] += plain_conflict(claim, texts) is not None
    for marked, (claims, doubted) in counts.items():
        whose = "marked as unsupported" if marked else "not marked"
        print(f"claims {whose} by people: {claims}, doubted: {doubted} ({doubted / claims:.1%})")
    return counts[False][1] <= MOST_DOUBTED * counts[False][0]


def main() -> int:
    seldom = doubts()
    asyncio.run(tokens())
    speed()
    return 0 if seldom else 1


if __name__ == "__main__":
    sys.exit(main())
