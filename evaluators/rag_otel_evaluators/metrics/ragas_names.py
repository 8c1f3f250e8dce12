"""What the metrics of Ragas are called here, for who comes from there."""

from __future__ import annotations

from typing import Final

RAGAS_NAMES: Final = {
    "AnswerCorrectness": "answer_correctness",
    "AnswerRelevancy": "response_relevancy",
    "ContextPrecision": "context_precision_with_reference",
    "ContextRecall": "context_recall",
    "ContextRelevance": "context_relevance",
    "FactualCorrectness": "factual_correctness",
    "Faithfulness": "faithfulness",
    "IDBasedContextPrecision": "id_based_context_precision",
    "IDBasedContextRecall": "id_based_context_recall",
    "LLMContextPrecisionWithReference": "context_precision_with_reference",
    "LLMContextPrecisionWithoutReference": "context_precision",
    "LLMContextRecall": "context_recall",
    "NoiseSensitivity": "noise_sensitivity",
    "NonLLMContextPrecisionWithReference": "non_llm_context_precision_with_reference",
    "NonLLMContextRecall": "non_llm_context_recall",
    "ResponseRelevancy": "response_relevancy",
    "SemanticSimilarity": "semantic_similarity",
    "answer_relevancy": "response_relevancy",
}
"""Class, or name of a result's column, in Ragas -> name of the metric with the same formula."""
_CLASSES: Final = {"AspectCritic": "Aspect", "RubricsScore": "Rubric", "SimpleCriteriaScore": "Rubric"}
"""Class in Ragas -> class of `rag_otel_evaluators.metrics.critics` that takes its place."""


def advice(name: str) -> str | None:
    """What to write in place of a name of Ragas; None where it is none."""
    if name in RAGAS_NAMES:
        return f"write the name of the metric: {RAGAS_NAMES[name]!r}"
    if name in _CLASSES:
        return f"write rag_otel_evaluators.metrics.critics.{_CLASSES[name]}(...)"
    return None
