"""Verdicts on disk, by content: a judge in this process that is slow is asked once for each answer.

A language model has a cache of its own, of its answers (`llm.client`); this one is for judges without one.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter

from rag_otel.model import Chunk, Claim, Usage
from rag_otel_evaluators.judges.judge import Judge, Judgement, most_calls_of
from rag_otel_evaluators.llm.cache import AnswerCache, content_key

_CACHE_FORMAT: Final = 2
"""Raise it when what is stored for a given key changes its meaning."""
_JUDGEMENT: Final = TypeAdapter(Judgement)


class CachedJudge:
    """A `Judge` that remembers. It relies on what a judge's `version` promises: same version, same judgement."""

    def __init__(self, judge: Judge, cache: AnswerCache) -> None:
        self._judge = judge
        self._cache = cache

    @property
    def name(self) -> str:
        return self._judge.name

    @property
    def version(self) -> str:
        return self._judge.version

    @property
    def most_calls(self) -> int:
        return most_calls_of(self._judge)

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. What was judged before costs nothing now. Only what is judged in full is kept."""
        key = content_key(
            {
                "format": _CACHE_FORMAT,
                "judge": [self.name, self.version],
                "question": question,
                "chunks": [[chunk.id, chunk.text] for chunk in chunks],
                "response": response,
                "claims": [dataclasses.astuple(claim) for claim in claims],
            }
        )
        stored = await asyncio.to_thread(self._cache.get, key)
        if stored is not None:
            return dataclasses.replace(_JUDGEMENT.validate_python(stored), usage=Usage(cost_usd=0.0, cached_calls=1))
        judgement = await self._judge.judge(question=question, chunks=chunks, response=response, claims=claims)
        if judgement.reason_code is None:
            await asyncio.to_thread(self._cache.put, key, _JUDGEMENT.dump_python(judgement, mode="json"))
        return judgement
