"""Abstentions in five languages: told by statements about the documents or one's own knowledge, clause by clause."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

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


FACTS = """
The guided tour ends before noon.
The river runs dry in August.
The train stops just before the bridge.
The trail runs cold after the second kilometre.
Batteries are not in there.
The box has nothing on the label.
The band has nothing to say about politics, Miller wrote.
The lamp glows in the dark.
The museum has no entry fee.
No detail is too small for the designers.
The app does not share any information with third parties.
The kit contains no screws.
The report contains no errors.
The manual covers the 2019 models only.
The guide costs 12 euros and includes no map.
The document must not be signed by hand.
The contract does not include maintenance.
The brochure is not free.
The article cannot be returned after 30 days.
The article is not available in red.
The page is missing a number.
The file contains no macros.
The source of the river is unknown.
I cannot recommend the hotel highly enough.
The text is not protected by copyright.
The information desk is closed on Sundays.
You do not need to provide any information.
No data is stored on the device.
The search results are not sorted by price.
Nothing in the garden is native.
The clinic gives no information over the phone.
The staff can't say when the lift will work again.
Der Tunnel bricht vorher ab.
Batterien sind nicht dabei.
Die Zeiger leuchten im Dunkeln.
Das Kabel ist nicht drin.
Der Bus fährt ohne Erfolg versprechende Route.
Die Suche nach dem Boot blieb erfolglos.
Das Handbuch ist nicht im Lieferumfang enthalten.
Der Vertrag enthält keine Mindestlaufzeit.
Die Broschüre kostet nichts.
Der Artikel ist nicht lieferbar.
Das Dokument wird nicht per Post verschickt.
Die Quelle ist nicht trinkbar.
Der Text darf nicht länger als 500 Wörter sein.
Es werden keine Daten gespeichert.
Für die Anmeldung sind keine weiteren Angaben erforderlich.
Der Händler macht keine Angaben zur Herkunft.
Le bus s'arrête avant le pont.
Les trains passent vite à Dijon.
Le chargeur n'est pas dedans.
Le pont ne mesure pas 12 mètres.
Le document n'est pas signé.
L'article n'est plus disponible en rouge.
Le contrat ne comprend pas l'entretien.
Aucune donnée n'est conservée.
La source n'est pas potable.
Le manuel n'est pas fourni avec l'appareil.
Aucune information personnelle n'est demandée.
Le passage est fermé le dimanche.
La luz se corta antes de las diez.
El tren se detiene antes del puente.
La fuente no es potable.
El documento no necesita firma.
El artículo no está disponible en rojo.
El contrato no incluye el mantenimiento.
No se guardan datos personales.
El manual no viene en la caja.
El texto no puede superar las 500 palabras.
No hace falta ningún dato adicional.
The search for the missing boat was unsuccessful.
El equipo buscó sin éxito.
文件不需要签名。
该商品没有红色。
本店不提供发票。
合同不包括维修。
文章不得超过500字。
不收集任何个人信息。
手册不在包装盒内。
此信息不会分享给第三方。
这条河的源头不明。
"""


@pytest.mark.parametrize("answer", FACTS.strip().splitlines())
def test_a_fact_with_a_word_of_documents_or_of_lack_is_a_claim(answer: str) -> None:
    """A kit, a guide, a source or an article is a thing too; what ends, runs dry or is not in the box is a fact."""
    assert segment(answer).claims


DEVELOPMENT = Path(__file__).parents[3] / "benchmarks" / "contrast" / "abstention_dev"


@pytest.mark.parametrize(("name", "least_recall"), [("a", 0.93), ("b", 0.85)])
def test_precision_and_recall_on_the_development_data_do_not_fall(name: str, least_recall: float) -> None:
    """These sets were looked at: the floor guards what was reached, it promises nothing for other answers."""
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
