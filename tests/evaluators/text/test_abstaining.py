"""Abstentions in five languages: told by statements about the documents or one's own knowledge, clause by clause."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from rag_otel_evaluators.metrics.metric import only_abstains
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


@pytest.mark.parametrize(
    "answer",
    [
        "The cause is unknown to scientists.",
        "The policy does not cover floods.",
        "Nobody knows why the ship was abandoned.",
        "The spokesperson said there was not enough evidence to confirm the leak.",
        "If there are no matches, the query returns an empty list.",
        "Based on the given passages, the lake does not freeze in winter.",
        "The new rules do not mention cyclists, so the fine was cancelled.",
        "The label is removed by leaving the bottle in hot water (Passage 3).",
        "Los peritos no lograron establecer por qué descarriló el tren.",
        "Según los textos, el lago no se hiela en invierno.",
        "Die Firma nannte den Kaufpreis nicht.",
        "Laut den Texten friert der See im Winter nicht zu.",
        "La mairie ne donne pas de renseignements par téléphone.",
        "D'après les textes, le lac ne gèle pas en hiver.",
        "发言人表示，目前没有足够的信息证实泄密一事。",
        "遗嘱里没有提到侄女，所以她一分钱也没分到。",
    ],
)
def test_what_others_say_or_do_not_know_is_a_claim(answer: str) -> None:
    """Reports, conditions, consequences, and other people's ignorance are of the world."""
    assert segment(answer).claims


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        (
            "The text gives no opening hours. Unfortunately, the museum is closed on Mondays.",
            "Unfortunately, the museum",
        ),
        ("I read that the tower is 330 m tall.", "I read that"),
        ("Contact the seller to cancel.", "Contact the seller"),
        ("Regarding pets, smoking is banned everywhere.", "Regarding pets"),
    ],
)
def test_manners_silence_no_claim(answer: str, claim: str) -> None:
    """Advice is manners only beside an abstention; an apology or what was read may carry a claim."""
    assert next(found.text for found in segment(answer).claims).startswith(claim)


DEVELOPMENT = Path(__file__).parents[3] / "benchmarks" / "contrast" / "abstention_dev"
UNSEEN_FACTS = (  # unlike those of the file, no example of the score
    "The landlord gives no reason for the increase.",
    "Nobody on the crew knew the captain's real name.",
    "The invoice does not list the serial numbers.",
    "The registry holds no records from before 1840.",
    "La receta no lleva azúcar.",
    "El archivo no conserva fotos de la guerra.",
    "Die Polizei machte keine Angaben zum Täter.",
    "Das Archiv besitzt keine Aufnahmen von ihr.",
    "Le ministre n'a donné aucune précision sur la date.",
    "La mairie ne possède pas de plan du réseau.",
    "市长没有回答记者的问题。",
    "这份合同没有规定违约金。",
)


@pytest.mark.parametrize("answer", [*(DEVELOPMENT / "facts.txt").read_text("utf-8").splitlines(), *UNSEEN_FACTS])
def test_a_fact_with_a_word_of_documents_or_of_lack_is_a_claim(answer: str) -> None:
    """A kit, a guide, a source or an article is a thing too; what ends, runs dry or is not in the box is a fact."""
    assert segment(answer).claims


@pytest.mark.parametrize(
    "answer",
    [
        "Gracias por su pregunta. Los documentos no indican el plazo.",
        "Das tut mir leid. Der Kontext enthält keine Angaben zum Preis. Unser Support hilft Ihnen gerne weiter.",
        "The documents do not mention your tariff code. Please consult a licensed customs broker.",
        "Please ask your pharmacist about that. The leaflet does not say.",
        "非常抱歉给您带来不便。手册中没有提到保修期。",
        "Je vous prie de m'excuser. La notice ne précise pas la durée.",
    ],
)
def test_manners_and_advice_beside_an_abstention(answer: str) -> None:
    """Thanks, apologies and advice claim nothing there, before the abstention or after it."""
    assert only_abstains(answer)


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("I'm sorry to say that the firm went bankrupt. The documents do not say why.", "I'm sorry to say"),
        ("Contact the seller within 14 days.", "Contact the seller"),
        ("Nein, die Meldung mit den Bildern macht den Anfang.", "Nein, die Meldung"),
        ("不会，只看总分有没有算对。", "不会，只看总分"),
        ("The museum opens at nine. Please ask at the desk. The page does not name a price.", "The museum opens"),
    ],
)
def test_what_is_said_beside_an_abstention_or_a_reply(answer: str, claim: str) -> None:
    """Bad news is a claim, and so is advice without an abstention; the "No," of a reply is no abstention."""
    assert segment(answer).claims[0].text.startswith(claim)


@pytest.mark.parametrize(("name", "least_recall"), [("a", 0.8), ("b", 0.7)])
def test_precision_and_recall_on_the_development_data_do_not_fall(name: str, least_recall: float) -> None:
    """Much of these sets is said in idioms; plain ways to say it are found, and hardly a claim is silenced."""
    counts: Counter[tuple[str, bool]] = Counter()
    for line in (DEVELOPMENT / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        counts[row["label"], only_abstains(row["text"])] += 1
    found = counts["abstains", True]
    assert found / (found + counts["abstains", False]) >= least_recall
    assert found / (found + counts["answers", True] + counts["mixed", True]) >= 0.97


def test_an_abstaining_clause_does_not_silence_the_claim_beside_it() -> None:
    """The half that claims is judged."""
    answer = "The passages say the tower is 330 m tall but do not say when it was built."
    segmentation = segment(answer)
    assert segmentation.abstained
    assert [claim.text for claim in segmentation.claims] == ["The passages say the tower is 330 m tall"]
