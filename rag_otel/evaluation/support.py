"""Which claims are supported, and what that makes of their answer: the one place that decides verdicts and label.

    p = 1 - probability that the chunks support a claim
    a claim is unsupported      from p >= t on; where its judge gives no probability, if its judge says so
    an answer is `unfaithful`   if and only if one of its judged claims is unsupported
    an answer is `faithful`     if all of its claims are judged and supported, so that its score is 1

It holds for every judge. The risk of an answer has no part in it: it is a probability for charts, drift and ranking.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from rag_otel.model import ClaimVerdict, Verdict

UNFAITHFUL_FROM: Final = 0.3
"""The default of t. On answers that people have marked, out of fold, 43% of those that the embedded judge labels
`unfaithful` with it are unfaithful, and it finds 72% of those that are (`benchmarks/faithfulness_quality.py`)."""
FAITHFULNESS: Final = "faithfulness"
"""The metric of which these labels are."""
FAITHFUL: Final = "faithful"
UNFAITHFUL: Final = "unfaithful"
UNSUPPORTED: Final = (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO)
"""The worst one first."""


def is_unsupported(support_probability: float, *, unfaithful_from: float = UNFAITHFUL_FROM) -> bool:
    """Whether a claim that the chunks support with this probability counts as unsupported."""
    return 1.0 - support_probability >= unfaithful_from


def settled(verdicts: Sequence[ClaimVerdict], *, unfaithful_from: float = UNFAITHFUL_FROM) -> tuple[ClaimVerdict, ...]:
    """The verdicts as their probabilities have them; where one differs from the judge's word, its explanation says so.

    Unjudged claims and verdicts without a probability stay as they are; what is no number within 0..1 is none.
    """
    return tuple(_settled(verdict, unfaithful_from) for verdict in verdicts)


def label_of(verdicts: Sequence[ClaimVerdict]) -> str | None:
    """The label of an answer with these claims. None without a judged claim, and while claims that are unjudged could
    still make it unfaithful."""
    said = {verdict.verdict for verdict in verdicts}
    if said.intersection(UNSUPPORTED):
        return UNFAITHFUL
    return FAITHFUL if said == {Verdict.SUPPORTED} else None


def worst_first(claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    """The unsupported claims: contradicted ones first, then those least likely to be supported."""
    failing = [claim for claim in claims if claim.verdict in UNSUPPORTED]
    return sorted(failing, key=lambda claim: (UNSUPPORTED.index(claim.verdict), claim.support_probability or 0.0))


def _settled(verdict: ClaimVerdict, unfaithful_from: float) -> ClaimVerdict:
    said, probability = verdict.verdict, verdict.support_probability
    if said is Verdict.UNJUDGED or probability is None:
        return verdict
    if not 0.0 <= probability <= 1.0:
        return dataclasses.replace(verdict, support_probability=None)
    unsupported = is_unsupported(probability, unfaithful_from=unfaithful_from)
    if unsupported == (said is not Verdict.SUPPORTED):
        return verdict
    needed = f"its probability of support is {probability:.2f}, and more than {1.0 - unfaithful_from:.2f} is needed"
    chunk_ids: tuple[str, ...] = ()
    if unsupported:
        now, why = Verdict.NOT_ENOUGH_INFO, f"Does not count as supported: {needed}."
    else:
        now, why = Verdict.SUPPORTED, f"Counts as supported: {needed}."
        chunk_ids = verdict.chunk_ids or tuple(dict.fromkeys(quote.chunk_id for quote in verdict.quotes))
    words = f" The judge said {said}: {verdict.explanation}" if verdict.explanation else f" The judge said {said}."
    return dataclasses.replace(verdict, verdict=now, chunk_ids=chunk_ids, explanation=why + words)
