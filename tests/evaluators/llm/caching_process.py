"""A process that asks a judge's server the same questions as others do at the same time: for tests.

python -m tests.evaluators.llm.caching_process URL STORE QUESTIONS
"""

from __future__ import annotations

import asyncio
import sys

from pydantic import BaseModel

from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.cache import open_cache
from rag_otel_evaluators.llm.structured import Message


class Verdicts(BaseModel):
    verdicts: list[str]


async def main(url: str, store: str, questions: int) -> None:
    model = openai_model("openai/local", api_base=url, api_key="key", cache=open_cache(store, keep_s=60))
    asked = [[Message(role="user", content=f"Is it so? {number}")] for number in range(questions)] * 2
    answers = await asyncio.gather(*(model.complete(messages, Verdicts) for messages in asked))
    assert all(answer.value is not None for answer in answers)
    print(
        sum(answer.usage.calls for answer in answers), sum(answer.usage.cached_calls for answer in answers), flush=True
    )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
