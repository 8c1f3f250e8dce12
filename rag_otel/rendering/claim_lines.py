"""An evaluation as lines of plain text: each claim with its verdict, chunk, quote and explanation.

    faithfulness 0.50: unfaithful, risk 0.91. 1 of 2 claims supported.

    ✗ contradicted: The tower was finished in 1899.
        chunk tower-2: "It was completed in March 1889."
        1889 is not 1899.

    ✓ supported: It stands in Paris.
        chunk tower-1: "The tower stands in Paris."

Trace views show the output of a span as text. The lines are also readable when a view renders them as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rag_otel.model import ClaimVerdict, Evaluation, Verdict
from rag_otel.safety.privacy import HiddenContent

_SIGNS: Final = {
    Verdict.CONTRADICTED: "✗ contradicted",
    Verdict.NOT_ENOUGH_INFO: "✗ not enough info",
    Verdict.UNJUDGED: "? unjudged",
    Verdict.SUPPORTED: "✓ supported",
}
_ORDER: Final = tuple(_SIGNS)
"""Unsupported claims come first."""
_INDENT: Final = "    "


def evaluations_as_text(evaluations: Sequence[Evaluation], hidden: HiddenContent, *, max_claims: int) -> str:
    """Returns one block of lines per evaluation, each with at most `max_claims` claims and the number of the others.

    `hidden` text of the answer or of the chunks is left out; verdicts, counts and chunk ids stay.
    """
    return "\n\n".join("\n".join(_block(each, hidden, max_claims)) for each in evaluations)


def _block(evaluation: Evaluation, hidden: HiddenContent, max_claims: int) -> Iterator[str]:
    yield _headline(evaluation)
    if evaluation.explanation and not evaluation.claims and not hidden.anything:
        yield f"{_INDENT}{_one_line(evaluation.explanation)}"
    claims = sorted(evaluation.claims, key=lambda each: _ORDER.index(each.verdict))
    for claim in claims[:max_claims]:
        yield ""
        yield from _claim(claim, hidden)
    if len(claims) > max_claims:
        yield ""
        yield f"({len(claims) - max_claims} more claims)"


def _headline(evaluation: Evaluation) -> str:
    score = "no score" if evaluation.score is None else f"{evaluation.score:.2f}"
    facts = [evaluation.label or "", "" if evaluation.risk is None else f"risk {evaluation.risk:.2f}"]
    if evaluation.reason_code:
        facts.append(f"reason {evaluation.reason_code}")
    rest = ", ".join(filter(None, facts))
    line = f"{evaluation.name} {score}" + (f": {rest}." if rest else ".")
    if evaluation.claims:
        line += f" {evaluation.supported_claims} of {len(evaluation.claims)} claims supported."
    return line


def _claim(claim: ClaimVerdict, hidden: HiddenContent) -> Iterator[str]:
    sign = _SIGNS[claim.verdict]
    yield sign if hidden.response else f"{sign}: {_one_line(claim.claim.text)}"
    quoted = () if hidden.documents else claim.quotes
    for quote in quoted:
        yield f'{_INDENT}chunk {quote.chunk_id}: "{_one_line(quote.text)}"'
    without_quote = [each for each in claim.chunk_ids if each not in {quote.chunk_id for quote in quoted}]
    if without_quote:
        yield (
            f"{_INDENT}chunks {', '.join(without_quote)}"
            if len(without_quote) > 1
            else (f"{_INDENT}chunk {without_quote[0]}")
        )
    if claim.explanation and not hidden.anything:
        yield f"{_INDENT}{_one_line(claim.explanation)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
