"""What of 10,000 planted secrets reaches a judge server, and what masking does to its verdicts.

    python benchmarks/privacy_egress.py

Leaks: made-up credentials and personal data in question, chunks and answer (`testkit/planted_secrets.py`); the server
keeps what it receives. Control: the same without masking. Effect: examples/data (335 answers), as they are, and with a
planted value in a chunk and the answer (the same value: supported; another: not). The judge is word overlap, over HTTP
(`testkit/word_overlap_judge.py`): it sees only whether words are the same, so this shows what masking does to the
comparison, not what it does to a language model's understanding.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

from rag_otel.cli.terminal import table
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.model import Evaluation
from rag_otel.safety.masking import CLASSES, SECRETS, Placeholders
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.egress import Egress
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import JudgeServer
from testkit.planted_secrets import KINDS, planted_case
from testkit.word_overlap_judge import answer

DATA = Path(__file__).parents[1] / "examples/data/ragtruth_qa_dev.jsonl"
AT_ONCE = 8
SECRETS_PER_CASE = 20


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--secrets", type=int, default=10_000)
    options = parser.parse_args()
    asyncio.run(_leaks(options.secrets))
    asyncio.run(_effect())


async def _leaks(secrets: int) -> None:
    cases = [planted_case(seed) for seed in range(secrets // SECRETS_PER_CASE)]
    rows = []
    for name, mask in (("nothing masked", ()), ("all classes masked", CLASSES)):
        with JudgeServer(answer=answer) as server:
            results = await _evaluated(server, mask, [(each.question, each.chunks, each.response) for each in cases])
            received = [json.dumps(request.body, ensure_ascii=False) for request in server.requests]
        seen = sum(secret in "\n".join(received) for case in cases for secret in case.secrets)
        judged = sum(result.score is not None for result in results)
        rows.append((name, str(sum(len(each.secrets) for each in cases)), str(seen), f"{judged}/{len(cases)}"))
    print(table([("", "secrets planted", "received by the judge", "answers judged"), *rows]))


async def _effect() -> None:
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    plain = [(row["question"], tuple(row["contexts"]), row["response"]) for row in rows]
    lines = []
    for name, cases in (("as they are", plain), ("with planted values", [_planted(*each) for each in plain])):
        with JudgeServer(answer=answer) as server:
            before = await _evaluated(server, (), cases)
            for mask in ((SECRETS,), CLASSES):
                after = await _evaluated(server, mask, cases)
                lines.append((name, "+".join(mask), *_changes(before, after), _milliseconds(mask, cases)))
    heads = ("answers", "masked", "verdicts", "changed", "scores changed", "CPU a request, ms")
    print(table([heads, *lines]))


def _changes(before: Sequence[Evaluation], after: Sequence[Evaluation]) -> tuple[str, str, str]:
    pairs = [
        (one.verdict, other.verdict)
        for first, second in zip(before, after, strict=True)
        for one, other in zip(first.claims, second.claims, strict=True)
    ]
    changed = sum(one is not other for one, other in pairs)
    scores = sum(first.score != second.score for first, second in zip(before, after, strict=True))
    return str(len(pairs)), f"{changed} ({changed / len(pairs):.2%})", f"{scores} of {len(before)}"


def _planted(question: str, chunks: tuple[str, ...], response: str) -> tuple[str, tuple[str, ...], str]:
    draw = random.Random(response)
    kind = draw.choice(KINDS)
    text, value = kind(draw)
    said = value if draw.random() < 0.5 else kind(draw)[1]
    return (
        question,
        (*chunks, f"For this question {text}."),
        f"{response}\nFor this question {text.replace(value, said)}.",
    )


def _milliseconds(mask: tuple[str, ...], cases: Sequence[tuple[str, tuple[str, ...], str]]) -> str:
    """CPU time of finding and replacing, for the texts and once more for the prompt made of them."""
    started = time.process_time()
    for question, chunks, response in cases:
        placeholders = Placeholders(mask)
        for text in (question, *chunks, response, "\n".join((question, *chunks, response))):
            for _ in placeholders.learn(text):
                pass
        placeholders.mask("\n".join((question, *chunks, response)))
    return f"{(time.process_time() - started) / len(cases) * 1e3:.2f}"


async def _evaluated(
    server: JudgeServer, mask: tuple[str, ...], cases: Sequence[tuple[str, tuple[str, ...], str]]
) -> list[Evaluation]:
    model = openai_model("openai/judge", api_base=server.url, egress=Egress(mask=mask))
    metric, gate = Faithfulness(judge=LlmJudge(model=model)), asyncio.Semaphore(AT_ONCE)

    async def one(question: str, chunks: tuple[str, ...], response: str) -> Evaluation:
        async with gate:
            return await evaluate(metric, question=question, chunks=chunks, response=response, timeout_s=60)

    return list(await asyncio.gather(*(one(*case) for case in cases)))


if __name__ == "__main__":
    main()
