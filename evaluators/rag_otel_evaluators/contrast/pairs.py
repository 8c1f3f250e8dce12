"""The pairs of the frozen set, and a sample of them that keeps its mixture."""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources

from rag_otel.errors import ConfigurationError


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
