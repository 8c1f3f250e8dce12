"""Tokens per faithfulness evaluation: the single structured call against the two steps, on the same rows.

    python benchmarks/judge_tokens.py

Every row of examples/data is evaluated with both strategies against a local server that answers at length and as a
good judge would (testkit/word_overlap_judge.py: one to a few statements per sentence, some twelve words of reason a
verdict). What went over the wire, both ways, is counted with tiktoken's o200k_base (gpt-4o's), of which litellm
brings the data. A real model splits sentences into more statements than the oracle: that makes the two steps dearer.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm
import tiktoken

from rag_otel.cli.terminal import table
from rag_otel_evaluators.judges.llm import llm_model
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge, Strategy
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import JudgeRequest, JudgeServer
from testkit.word_overlap_judge import answer as oracle

DATA = Path(__file__).parents[1] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
TOKENIZERS = Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers"
TARGET = 0.65
PER_MESSAGE = 4
"""Tokens that OpenAI's chat format adds to each message."""


@dataclass
class Meter:
    """Counts what the server is sent and says."""

    encoding: tiktoken.Encoding = field(default_factory=lambda: tiktoken.get_encoding("o200k_base"))
    sent: int = 0
    said: int = 0
    calls: int = 0

    def answer(self, request: JudgeRequest) -> Any:
        said = oracle(request)
        self.calls += 1
        texts = [str(message["content"]) for message in request.body["messages"]]
        schema = json.dumps(request.schema) if request.schema else ""
        self.sent += sum(PER_MESSAGE + self._count(text) for text in texts) + self._count(schema)
        self.said += self._count(json.dumps(said, ensure_ascii=False, separators=(",", ":")))
        return said

    def _count(self, text: str) -> int:
        return len(self.encoding.encode(text, disallowed_special=()))


async def tokens_of(strategy: Strategy, rows: list[dict[str, Any]]) -> tuple[list[int], Meter]:
    """Tokens of each row, in and out together, and the totals."""
    meter = Meter()
    each: list[int] = []
    with JudgeServer(answer=meter.answer) as server:
        # A name that litellm knows to hold answers to a schema: the schema is sent once, and counted.
        model = llm_model("openai/gpt-4o-mini", api_base=server.url, api_key="none")
        metric = Faithfulness(judge=LlmJudge(model=model, strategy=strategy))
        for row in rows:
            before = meter.sent + meter.said
            await metric.evaluate(question=row["question"], chunks=row["contexts"], response=row["response"])
            each.append(meter.sent + meter.said - before)
    return each, meter


def main() -> int:
    """Print the table; 1 when the target is missed."""
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(TOKENIZERS))
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    results = {strategy: asyncio.run(tokens_of(strategy, rows)) for strategy in ("single", "two_step")}
    counted = [index for index, tokens in enumerate(results["two_step"][0]) if tokens]
    lines = []
    for strategy, (each, meter) in results.items():
        n = len(counted)
        lines.append(
            [strategy, str(n), f"{meter.calls / n:.2f}", f"{meter.sent / n:.0f}", f"{meter.said / n:.0f}",
             f"{statistics.mean(each[i] for i in counted):.0f}"]
        )  # fmt: skip
    print(table(lines, header=["strategy", "rows", "calls", "tokens in", "tokens out", "tokens"]))
    single, two_step = (sum(results[strategy][0]) for strategy in ("single", "two_step"))
    print(f"single / two_step = {single / two_step:.3f} (at most {TARGET})")
    return 0 if single <= TARGET * two_step else 1


if __name__ == "__main__":
    sys.exit(main())
