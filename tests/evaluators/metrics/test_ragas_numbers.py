"""Where Ragas defines a metric without a judge, or the formula behind the verdicts, the numbers are the same.

`ragas_numbers.json` holds random inputs and the scores that ragas 0.4.3 gave them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_otel_evaluators import evaluate
from rag_otel_evaluators.metrics.factual_correctness import ClaimAgreement
from rag_otel_evaluators.metrics.noise_sensitivity import misled_claims

NUMBERS: dict[str, Any] = json.loads(Path(__file__).with_name("ragas_numbers.json").read_text(encoding="utf-8"))
METRICS = [
    "non_llm_context_precision_with_reference",
    "non_llm_context_recall",
    "id_based_context_precision",
    "id_based_context_recall",
]


def test_retrieval() -> None:
    """Forty retrievals, by four metrics."""
    cases = NUMBERS["retrieval"]
    names = {"got": "retrieved_contexts", "good": "reference_contexts"}
    names |= {"ids": "retrieved_context_ids", "gids": "reference_context_ids"}
    results = evaluate([{name: case[key] for key, name in names.items()} for case in cases], metrics=METRICS)
    for metric in METRICS:
        assert results.scores(metric) == pytest.approx([case[metric] for case in cases], abs=1e-9)


@pytest.mark.parametrize("mode", ["relevant", "irrelevant"])
def test_noise_sensitivity(mode: Any) -> None:
    """Sixty tables of which chunk states which claim."""
    for case in NUMBERS["noise_sensitivity"]:
        useful = {chunk for claim in case["reference"] for chunk, stated in enumerate(claim) if stated}
        claims = [{chunk for chunk, stated in enumerate(claim) if stated} for claim in case["response"]]
        wrong = [chunks for chunks, right in zip(claims, case["right"], strict=True) if not right]
        assert misled_claims(wrong, useful, mode) / len(claims) == pytest.approx(case[mode])


def test_f_beta() -> None:
    """All counts up to three, with three values of beta."""
    for right, wrong, missing, beta, expected in NUMBERS["f_beta"]:
        agreement = ClaimAgreement(true_positives=right, false_positives=wrong, false_negatives=missing)
        assert agreement.score("f1", beta) == pytest.approx(expected, abs=1e-6)
