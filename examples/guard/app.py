"""An app whose answers are judged before the user sees them: unsupported sentences are left out, streams are held
back sentence by sentence, and one answer is blocked.

    python examples/guard/app.py

It needs no API key: the embedded judge decides, on the processor of the app, in some milliseconds. With a language
model as judge (`instrument(judge="openai/gpt-4o-mini", evaluations_per_minute=60)`) nothing else changes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from opentelemetry.sdk.trace import TracerProvider

import rag_otel

PASSAGES = ["The Eiffel Tower was completed in 1889. It is 330 metres tall."]
GENERATED = "The Eiffel Tower was completed in 1889. It was sold to a circus in Nevada in 1999. It is 330 metres tall."


@rag_otel.observe(guard=rag_otel.Guard(action="remove", deadline=10))
def answer(question: str) -> dict[str, object]:
    """The user gets the sentences that the passages support."""
    return {"answer": GENERATED, "documents": PASSAGES}


@rag_otel.observe(guard=rag_otel.Guard(action="annotate", deadline=10))
async def stream(question: str) -> AsyncIterator[str]:
    """Each sentence leaves after its verdict."""
    rag_otel.record_chunks(PASSAGES)
    for token in re.findall(r"\s?\S+", GENERATED):
        await asyncio.sleep(0.001)
        yield token


async def main() -> None:
    # In production: instrument(phoenix_endpoint=...), as the app starts.
    rag_otel.instrument(TracerProvider())
    question = "How tall is the Eiffel Tower?"
    print("removed:  ", answer(question)["answer"])
    print("annotated:", "".join([token async for token in stream(question)]))
    guarded = await rag_otel.guard(question, PASSAGES, GENERATED, action="block", deadline=10)
    claims = [claim.claim.text for claim in guarded.verdict.unsupported_claims]
    print(f"{guarded.outcome}:  ", guarded.response, claims)


if __name__ == "__main__":
    asyncio.run(main())
