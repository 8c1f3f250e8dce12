"""HHEM-2.1-Open as a judge: a small trained classifier in this process, for English; no key, no server.

It reads a premise and a hypothesis and gives the probability that the first supports the second. Every claim is laid
against every chunk (a long one in windows) and counts as supported as well as its best window supports it; a claim
that no window supports alone is laid once more against its two best together, because some claims need two.

`hhem_checkpoint` loads it, `hhem_windows` cuts premises; needs the extra `hhem`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from rag_otel.errors import PermanentError
from rag_otel.evaluation.support import UNFAITHFUL_FROM
from rag_otel.model import Chunk, Claim, ClaimVerdict, Quote, Usage, Verdict
from rag_otel_evaluators.judges.hhem_checkpoint import PUBLISHED_MODEL, Checkpoint, load_checkpoint
from rag_otel_evaluators.judges.hhem_windows import ChunkWindow, nearest_sentence, window_spans
from rag_otel_evaluators.judges.judge import Judgement
from rag_otel_evaluators.judges.local_thread import ModelThread

SUPPORTED_FROM: Final = 1.0 - UNFAITHFUL_FROM
"""Probability from which a passage supports a claim: where `Faithfulness` draws the line for every judge. Its authors
use 0.5 (`Faithfulness(judge=hhem_judge(supported_from=0.5), unfaithful_from=0.5)`)."""
_LEAST_PREMISE: Final = 64
"""Tokens of a window, however long the claims are."""
_BATCH_TOKENS: Final = 8192
"""Tokens, padding included, of one forward pass: bounds memory (about 1 GB of activations for the published model)."""
_NAMED_WINDOWS: Final = 3
"""How many of the windows that support a claim are named and quoted."""

TextPair: TypeAlias = tuple[str, str]
"""(premise, hypothesis)"""
Supports: TypeAlias = list[tuple[float, ChunkWindow]]
"""How well each window supports one claim, best first."""


def hhem_judge(
    model: str | Path = PUBLISHED_MODEL,
    *,
    revision: str | None = None,
    device: str | None = None,
    window_tokens: int = 512,
    supported_from: float = SUPPORTED_FROM,
) -> HhemJudge:
    """Load HHEM from a folder or the Hugging Face hub; takes seconds, so at start-up. See `load_checkpoint`.

    Raises ConfigurationError where the extra is not installed or the files are not there or not HHEM's.
    """
    checkpoint = load_checkpoint(model, revision=revision, device=device)
    name = "hhem-2.1-open" if str(model) == PUBLISHED_MODEL else f"hhem/{Path(model).name}"
    return HhemJudge(checkpoint, name=name, window_tokens=window_tokens, supported_from=supported_from)


class HhemJudge:
    """A `Judge` by a premise-hypothesis classifier. It cannot tell `contradicted` from `not_enough_info`."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        name: str = "hhem",
        window_tokens: int = 512,
        supported_from: float = SUPPORTED_FROM,
    ) -> None:
        """`window_tokens`: what the network reads at once, prompt and claim included."""
        self._checkpoint = checkpoint
        self._name = name
        self._window_tokens = window_tokens
        self._supported_from = supported_from
        self._thread = ModelThread("hhem")

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> str:
        return f"1+{self._checkpoint.fingerprint}.{self._window_tokens}.{self._supported_from:g}"

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. The question is not read: a claim stands or falls by the chunks."""
        return await self._thread.run(lambda cancelled: self._judge(chunks, claims, cancelled))

    async def score(self, pairs: Sequence[TextPair]) -> list[float]:
        """Probability in 0..1, for each (premise, hypothesis), that the premise supports the hypothesis.

        In batches, in any order of lengths; nothing is truncated. Raises PermanentError where the network gives what
        is no number.
        """
        return await self._thread.run(lambda cancelled: self._score(pairs, cancelled))

    def _judge(self, chunks: Sequence[Chunk], claims: Sequence[Claim], cancelled: threading.Event) -> Judgement:
        windows = self._windows(chunks, claims)
        texts = [chunks[window.chunk].text[window.start : window.end] for window in windows]
        scores = self._score([(text, claim.text) for claim in claims for text in texts], cancelled)
        supports: list[Supports] = [
            sorted(
                zip(scores[row * len(windows) : (row + 1) * len(windows)], windows, strict=True),
                key=lambda support: -support[0],
            )
            for row in range(len(claims))
        ]
        joint = self._joint_scores(chunks, claims, supports, cancelled)
        verdicts = tuple(
            self._verdict(chunks, claim, support, joint.get(row))
            for row, (claim, support) in enumerate(zip(claims, supports, strict=True))
        )
        # The likeliest of them: taken as independent, ten claims at its usual 0.9 would make any answer unfaithful.
        risk = max(1.0 - (verdict.support_probability or 0.0) for verdict in verdicts)
        return Judgement(verdicts=verdicts, risk=risk, usage=Usage(cost_usd=0.0))

    def _windows(self, chunks: Sequence[Chunk], claims: Sequence[Claim]) -> list[ChunkWindow]:
        """Every chunk in windows that leave room for the longest claim."""
        tokenizer, prompt = self._checkpoint.tokenizer, self._checkpoint.prompt
        asked = tokenizer.encode_batch([prompt.fill("", claim.text) for claim in claims])
        budget = max(_LEAST_PREMISE, self._window_tokens - max(len(encoding.ids) for encoding in asked))
        encodings = tokenizer.encode_batch([chunk.text for chunk in chunks], add_special_tokens=False)
        return [
            ChunkWindow(chunk=number, start=start, end=end)
            for number, (chunk, encoding) in enumerate(zip(chunks, encodings, strict=True))
            for start, end in window_spans(chunk.text, encoding.offsets, budget)
        ]

    def _joint_scores(
        self,
        chunks: Sequence[Chunk],
        claims: Sequence[Claim],
        supports: Sequence[Supports],
        cancelled: threading.Event,
    ) -> Mapping[int, float]:
        """For each claim, by row, that no window supports alone: how well its two best do together."""
        rows = [
            row for row, support in enumerate(supports) if len(support) > 1 and support[0][0] < self._supported_from
        ]
        pairs = []
        for row in rows:
            reading_order = sorted((window for _, window in supports[row][:2]), key=lambda w: (w.chunk, w.start))
            premise = "\n\n".join(chunks[window.chunk].text[window.start : window.end] for window in reading_order)
            pairs.append((premise, claims[row].text))
        return dict(zip(rows, self._score(pairs, cancelled), strict=True))

    def _verdict(self, chunks: Sequence[Chunk], claim: Claim, support: Supports, joint: float | None) -> ClaimVerdict:
        if not support:
            return ClaimVerdict(
                claim=claim,
                verdict=Verdict.NOT_ENOUGH_INFO,
                support_probability=0.0,
                explanation="The chunks hold no words.",
            )
        best = support[0][0]
        together = joint is not None and joint >= self._supported_from
        probability = best if joint is None else max(best, joint)
        if together:
            deciding = [window for _, window in support[:2]]
        else:
            deciding = [window for score, window in support if score >= self._supported_from][:_NAMED_WINDOWS]
        quotes = _quotes(chunks, claim, deciding or [support[0][1]])
        supporting = "The two nearest passages together support" if together else "The best passage supports"
        return ClaimVerdict(
            claim=claim,
            verdict=Verdict.SUPPORTED if deciding else Verdict.NOT_ENOUGH_INFO,
            chunk_ids=tuple(dict.fromkeys(chunks[window.chunk].id for window in deciding)),
            quotes=quotes,
            explanation=f"{supporting} it with a probability of {probability:.2f}.",
            support_probability=probability,
        )

    def _score(self, pairs: Sequence[TextPair], cancelled: threading.Event) -> list[float]:
        prompt = self._checkpoint.prompt
        encodings = self._checkpoint.tokenizer.encode_batch([prompt.fill(*pair) for pair in pairs])
        rows = [encoding.ids for encoding in encodings]
        scores = [0.0] * len(rows)
        for batch in _batches([len(row) for row in rows]):
            if cancelled.is_set():
                break  # nobody waits for the result any more
            for row, score in zip(batch, self._checkpoint.consistency([rows[row] for row in batch]), strict=True):
                scores[row] = score
        if not all(math.isfinite(score) for score in scores):
            raise PermanentError(f"{self._name} gave what is no number: its weights are damaged")
        return scores


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Indices of rows in batches of like lengths, each within `_BATCH_TOKENS` or a single row."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if batches and (len(batches[-1]) + 1) * lengths[row] <= _BATCH_TOKENS:
            batches[-1].append(row)
        else:
            batches.append([row])
    return batches


def _quotes(chunks: Sequence[Chunk], claim: Claim, windows: Sequence[ChunkWindow]) -> tuple[Quote, ...]:
    """The sentence nearest to the claim out of each window, best window first, none twice."""
    quotes = []
    for window in windows:
        chunk = chunks[window.chunk]
        span = nearest_sentence(chunk.text, (window.start, window.end), claim.text)
        if span is not None:
            quotes.append(Quote(chunk_id=chunk.id, start=span[0], end=span[1], text=chunk.text[span[0] : span[1]]))
    return tuple(dict.fromkeys(quotes))
