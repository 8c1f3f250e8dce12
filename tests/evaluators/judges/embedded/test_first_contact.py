"""What a new user tries first: obvious answers, each with the verdict that anyone would expect."""

from __future__ import annotations

import pytest

from rag_otel.model import Verdict
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

TOWER = "The tower is 330 metres high and was finished in 1889."
HIGH = "How high is the tower?"
SHOP = (
    "Orders can be returned within 30 days of delivery. Refunds are paid to the original card. "
    "Sale items are excluded. Standard shipping costs $4.99 and takes 3 to 5 business days. "
    "Support is open from Monday to Friday."
)
CURIE = (
    "Marie Curie was born in Warsaw on 7 November 1867. She won the Nobel Prize in Physics in 1903 and the Nobel Prize "
    "in Chemistry in 1911. Her husband was Pierre Curie."
)
PLANS = "| Plan | Price | Users |\n|---|---|---|\n| Basic | $10 | 1 |\n| Pro | $25 | 5 |"
ESPAÑOL = "La torre mide 330 metros de altura y se terminó en 1889. La entrada cuesta 1.234,56 euros."
DEUTSCH = "Der Turm ist 330 Meter hoch und wurde 1889 fertiggestellt. Der Umsatz betrug 1.234,56 Euro."
FRANÇAIS = "La tour mesure 330 mètres de haut et a été achevée en 1889. L'entrée coûte 29,40 euros."
中文 = "埃菲尔铁塔高330米，于1889年建成。铁塔位于巴黎。"
日本語 = "エッフェル塔の高さは330メートルで、1889年に完成しました。"
العربية = "يبلغ ارتفاع البرج 330 مترا واكتمل بناؤه في عام 1889."
हिन्दी = "टावर 330 मीटर ऊँचा है और 1889 में पूरा हुआ।"

SUPPORTED = (
    (TOWER, "The tower is 330 metres high."),
    (TOWER, "It was finished in 1889."),
    (TOWER, "The height of the tower is 330 metres."),
    (TOWER, "Yes, 330 metres."),
    (TOWER, "330 m"),
    (TOWER, "In 1889 the tower was finished; it is 330 meters high."),
    (SHOP, "You can return an order within 30 days of delivery."),
    (SHOP, "Shipping costs $4.99 and takes 3-5 business days."),
    (SHOP, "- Returns: within 30 days of delivery\n- Refunds: paid to the original card\n- Shipping: $4.99"),
    (SHOP, "Support is open Monday to Friday."),
    (SHOP, "Sale items are excluded."),
    (CURIE, "Marie Curie was born on November 7, 1867 in Warsaw."),
    (CURIE, "Marie Curie won two Nobel Prizes, in Physics in 1903 and in Chemistry in 1911."),
    (PLANS, "The Pro plan has a price of $25."),
    (PLANS, "| Plan | Price |\n|---|---|\n| Pro | $25 |"),
    (ESPAÑOL, "La torre mide 330 metros."),
    (ESPAÑOL, "La entrada cuesta 1234,56 euros."),
    (DEUTSCH, "Der Turm ist 330 Meter hoch."),
    (DEUTSCH, "Der Umsatz betrug 1234,56 Euro."),
    (FRANÇAIS, "La tour mesure 330 mètres de haut."),
    (中文, "铁塔高330米。"),
    (中文, "铁塔于1889年建成。"),
    (日本語, "エッフェル塔の高さは330メートルです。"),
    (العربية, "ارتفاع البرج ٣٣٠ مترا."),
    (हिन्दी, "टावर ३३० मीटर ऊँचा है।"),
)

INVENTED = (
    (TOWER, "The tower was sold to a circus in Nevada."),
    (TOWER, "The Eiffel tower was painted pink by aliens."),
    (TOWER, "The Eiffel Tower was built for the World Fair by Gustave Eiffel."),
    (TOWER, "John has a part-time job."),
    (TOWER, "Bananas are yellow."),
    (SHOP, "Gift cards never expire."),
    (SHOP, "Every customer receives a free umbrella."),
    (CURIE, "She discovered penicillin with Alexander Fleming."),
    (ESPAÑOL, "La torre fue vendida a un circo de Nevada."),
    (DEUTSCH, "Der Turm wurde an einen Zirkus verkauft."),
    (FRANÇAIS, "Des extraterrestres ont peint la girafe en rose."),
    (中文, "长城是秦始皇修建的。"),
    (日本語, "富士山は日本で一番高い山です。"),
    (العربية, "القطط تحب شرب الحليب."),
    (हिन्दी, "बिल्लियाँ दूध पीती हैं।"),
)

CONTRADICTED = (
    (TOWER, "The tower is not 330 metres high."),
    (TOWER, "The tower is 300 metres high."),
    (TOWER, "The tower is 330 feet high."),
    (TOWER, "The tower was finished in 1890."),
    (TOWER, "The tower was never finished."),
    (SHOP, "Sale items are included."),
    (SHOP, "Sale items are not excluded."),
    (SHOP, "Orders can be returned within 60 days of delivery."),
    (SHOP, "Orders cannot be returned within 30 days of delivery."),
    (SHOP, "Refunds are not paid to the original card."),
    (CURIE, "Marie Curie was born in Warsaw on 8 November 1867."),
    (CURIE, "Marie Curie was born in Warsaw on 7 March 1867."),
    (CURIE, "Marie Curie was born in Berlin on 7 November 1867."),
    (CURIE, "Her wife was Pierre Curie."),
    (ESPAÑOL, "La torre no mide 330 metros de altura."),
    (ESPAÑOL, "La torre mide 300 metros de altura."),
    (DEUTSCH, "Der Turm ist nicht 330 Meter hoch."),
    (DEUTSCH, "Der Turm ist 300 Meter hoch."),
    (FRANÇAIS, "La tour mesure 300 mètres de haut."),
    (FRANÇAIS, "La tour ne mesure pas 330 mètres de haut."),
    (中文, "铁塔高300米。"),
    (日本語, "エッフェル塔の高さは300メートルです。"),
    (العربية, "ارتفاع البرج ٣٠٠ مترا."),
    (हिन्दी, "टावर ३०० मीटर ऊँचा है।"),
)

ABSTAINED = (
    "I don't know.",
    "The context does not say how high the tower is.",
    "No lo sé.",
    "Das weiß ich nicht.",
    "Je ne sais pas.",
    "我不知道。",
    "わかりません。",
    "لا أعرف.",
    "मुझे नहीं पता।",
)


@pytest.mark.parametrize(("context", "answer"), SUPPORTED)
def test_what_the_context_says(context: str, answer: str) -> None:
    """What stands in the context, in its own or other words, is supported and the answer faithful."""
    result = Faithfulness().evaluate_sync(question=None, chunks=[context], response=answer)
    assert [claim.verdict for claim in result.claims] == [Verdict.SUPPORTED] * len(result.claims)
    assert (result.score, result.label) == (1.0, "faithful")


@pytest.mark.parametrize(("context", "answer"), INVENTED)
def test_what_is_made_up(context: str, answer: str) -> None:
    """What the context says nothing of is not supported, and the answer is not faithful."""
    result = Faithfulness().evaluate_sync(
        question=HIGH if context is TOWER else None, chunks=[context], response=answer
    )
    assert Verdict.SUPPORTED not in [claim.verdict for claim in result.claims]
    assert (result.score, result.label) == (0.0, "unfaithful")


@pytest.mark.parametrize(("context", "answer"), CONTRADICTED)
def test_what_the_context_denies(context: str, answer: str) -> None:
    """Another number, date, name or unit, a negation or an opposite beside the same words contradicts."""
    result = Faithfulness().evaluate_sync(question=None, chunks=[context], response=answer)
    assert [claim.verdict for claim in result.claims] == [Verdict.CONTRADICTED]
    assert (result.score, result.label) == (0.0, "unfaithful")


@pytest.mark.parametrize("answer", ABSTAINED)
def test_not_knowing(answer: str) -> None:
    """An answer that says it does not know, in any of these languages, claims nothing."""
    result = Faithfulness().evaluate_sync(question=HIGH, chunks=[TOWER], response=answer)
    assert (result.score, result.reason_code) == (None, "abstained")


@pytest.mark.parametrize(
    ("question", "context", "answer"),
    [
        # A German noun has a capital, and no name; a compound may be its last part.
        (
            "Was bekommt jeder Raum?",
            "Nach dem Umbau bekommt jeder Raum der Schule zwei Geräte.",
            "Nach dem Umbau bekommt jeder Raum der Schule zwei Lüftungsgeräte.",
        ),
        # What is asked for denies already.
        (
            "Who is exempt from paying for a first permit?",
            "Blue Badge holders pay nothing for the first permit.",
            "Holders of a Blue Badge.",
        ),
    ],
)
def test_what_contradicts_nothing(question: str, context: str, answer: str) -> None:
    result = Faithfulness().evaluate_sync(question=question, chunks=[context], response=answer)
    assert Verdict.CONTRADICTED not in [claim.verdict for claim in result.claims]
