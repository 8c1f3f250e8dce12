"""What an older version of a judge has left in the cache of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_otel.model import Chunk, Claim
from rag_otel_evaluators.judges.cached import CachedJudge
from rag_otel_evaluators.judges.embedded.judge import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, Judgement
from rag_otel_evaluators.llm.cache import DiskCache

CHUNKS = [Chunk(id="0", text="The tower is 330 metres high.", position=0)]
ANSWER = "The tower is 300 metres high."
CLAIMS = [Claim(text=ANSWER, sentence_index=0, start=0, end=len(ANSWER))]


class VersionSix:
    """The embedded judge with the version that it had, and a risk that tells it apart."""

    name, version = "embedded", "6"

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        return Judgement(verdicts=(), risk=0.123)


async def test_a_verdict_of_an_older_version_is_not_used(tmp_path: Path) -> None:
    """It stays in the file, for whoever still asks that version; the new one judges anew."""

    async def risk_by(judge: Judge) -> tuple[float | None, bool]:
        cached = CachedJudge(judge, DiskCache(tmp_path / "verdicts"))
        found = await cached.judge(question=None, chunks=CHUNKS, response=ANSWER, claims=CLAIMS)
        return found.risk, found.usage is not None and found.usage.cached_calls == 1

    assert await risk_by(VersionSix()) == (0.123, False)
    assert await risk_by(VersionSix()) == (0.123, True)
    own, from_cache = await risk_by(EmbeddedJudge())
    assert own != 0.123
    assert not from_cache
    assert await risk_by(EmbeddedJudge()) == (own, True)
