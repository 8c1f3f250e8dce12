"""Abstentions in five languages: told by statements about the documents or one's own knowledge, clause by clause."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.metrics.inputs import only_abstains
from rag_otel_evaluators.text.claim_segmentation import segment


@pytest.mark.parametrize(
    "answer",
    [
        "I have no idea.",
        "It is unclear from the passages.",
        "The context does not provide any information about the CEO.",
        "Unable to answer based on given passages.",
        "No se especifica en los documentos.",
        "La documentación no indica el precio.",
        "Los fragmentos no mencionan la fecha.",
        "Der Kontext enthält keine Informationen dazu.",
        "In den Texten wird der Preis nicht erwähnt.",
        "Le contexte ne fournit pas cette information.",
        "Ce point n'est pas abordé dans le document.",
        "根据提供的上下文，无法回答该问题。",
        "文档中未提及该产品的价格。",
    ],
)
def test_abstains(answer: str) -> None:
    """The answer says that it, or the documents, do not know, and nothing else."""
    assert only_abstains(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The app collects no personal information.",
        "No further information is required.",
        "I'm sorry to say that the company went bankrupt in 2019 with debts of 5 million dollars.",
        "The report was not released to the public.",
        "El informe no fue publicado.",
        "Der Bericht wurde nicht veröffentlicht.",
        "Le rapport n'a pas été publié.",
        "保修不包括水损。",
    ],
)
def test_a_denial_is_a_claim(answer: str) -> None:
    """What a thing does not do is said of the world: a claim."""
    segmentation = segment(answer)
    assert not segmentation.abstained
    assert len(segmentation.claims) == 1


def test_an_abstaining_clause_does_not_silence_the_claim_beside_it() -> None:
    """The half that claims is judged."""
    answer = "The passages say the tower is 330 m tall but do not say when it was built."
    segmentation = segment(answer)
    assert segmentation.abstained
    assert [claim.text for claim in segmentation.claims] == ["The passages say the tower is 330 m tall"]
