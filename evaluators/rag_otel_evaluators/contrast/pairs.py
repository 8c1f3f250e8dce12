"""The pairs of the frozen set, a sample of them that keeps its mixture, and a judge run over both answers of each."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from importlib import resources

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.evaluate import UNREADABLE
from rag_otel.model import Evaluation, ReasonCode
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.metrics.metric import as_chunks
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.rows import evaluate_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two answers to one question over the same passages; they differ in one point."""

    id: str
    language: str
    phenomenon: str
    """What the point is: `number`, `negation`, `multi_hop`, ..."""
    question: str
    contexts: tuple[str, ...]
    faithful: str
    unfaithful: str


def load_pairs() -> list[Pair]:
    """All 919, in their order."""
    packed = resources.files(__package__).joinpath("contrast_test.jsonl.gz").read_bytes()
    rows = map(json.loads, gzip.decompress(packed).decode("utf-8").splitlines())
    return [Pair(**{**row, "contexts": tuple(row["contexts"])}) for row in rows]


def choose(
    pairs: Sequence[Pair],
    *,
    languages: Collection[str] = (),
    phenomena: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> list[Pair]:
    """The pairs of these languages and phenomena (empty: all), `limit` of them at most.

    A sample takes every combination of language and phenomenon in turn, so that a small one holds all of them. Raises
    ConfigurationError for a language or a phenomenon that no pair has.
    """
    for kind, given in (("language", languages), ("phenomenon", phenomena)):
        known = sorted({str(getattr(pair, kind)) for pair in pairs})
        if unknown := sorted(set(given) - set(known)):
            raise ConfigurationError(f"{kind}: no pair is of {', '.join(unknown)}; there are: {', '.join(known)}")
    kept = [
        pair
        for pair in pairs
        if (not languages or pair.language in languages) and (not phenomena or pair.phenomenon in phenomena)
    ]
    if limit is None or limit >= len(kept):
        return kept
    chance = random.Random(seed)
    kinds: defaultdict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in chance.sample(kept, len(kept)):
        kinds[pair.language, pair.phenomenon].append(pair)
    piles = chance.sample(list(kinds.values()), len(kinds))
    turns = [pile[turn] for turn in range(max(map(len, piles))) for pile in piles if turn < len(pile)]
    chosen = {pair.id for pair in turns[:limit]}
    return [pair for pair in kept if pair.id in chosen]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair with what a judge said of each answer."""

    pair: Pair
    faithful: Evaluation
    unfaithful: Evaluation

    @property
    def obstacle(self) -> str | None:
        """Why an answer could not be put to the judge: its server failed, or the money was spent. None where both were.
        This says nothing of how well the judge judges; an answer of its own that cannot be read does, and is none."""
        return next(
            (
                f"{each.reason_code}: {each.explanation}"
                for each in (self.faithful, self.unfaithful)
                if each.error_type not in (None, UNREADABLE) or each.reason_code == ReasonCode.BUDGET
            ),
            None,
        )


def judge_pairs(
    pairs: Sequence[Pair],
    evaluator: Evaluator,
    *,
    concurrency: int,
    timeout_s: float = 600.0,
    budget_usd: float | None = None,
) -> Generator[JudgedPair, None, None]:
    """Each pair with both evaluations, in order. A failure is an evaluation too."""
    rows = [
        Row(number=number, values={}, question=pair.question, chunks=tuple(as_chunks(pair.contexts)), response=answer)
        for number, (pair, answer) in enumerate(
            ((pair, answer) for pair in pairs for answer in (pair.faithful, pair.unfaithful)), start=1
        )
    ]
    judged = evaluate_rows(rows, [evaluator], concurrency=concurrency, timeout_s=timeout_s, budget_usd=budget_usd)
    for pair in pairs:
        (faithful,), (unfaithful,) = next(judged).evaluations, next(judged).evaluations
        yield JudgedPair(pair=pair, faithful=faithful, unfaithful=unfaithful)
