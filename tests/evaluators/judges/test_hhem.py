"""HHEM: the published layout loads without remote code, scores as its authors define it, and judges claims."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel.model import Chunk, ClaimVerdict, Verdict
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.text.claim_segmentation import segment
from testkit.when_used import WhenUsed

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import T5ForTokenClassification

    from rag_otel_evaluators.judges.hhem import HhemJudge

pytestmark = pytest.mark.torch

torch = WhenUsed("torch")
load_file = WhenUsed("safetensors.torch", "load_file")
save_file = WhenUsed("safetensors.torch", "save_file")
hhem_judge = WhenUsed("rag_otel_evaluators.judges.hhem", "hhem_judge")

PAIRS = [
    ("The tower is 330 metres high.", "The tower is high."),
    ("I live in California.", "I live in the United States."),
    ("I live in the United States.", "I live in California."),
    ("A long premise about bread and water. " * 40, "Bread needs water."),
    ("Braces {text1} and {text2} are text here.", "So are these: {text2}."),
    ("", "Nothing was said."),
]
PASSAGES = (
    "The Eiffel Tower is 330 metres high. It was finished in 1889 for a world fair. Gustave Eiffel's company built it.",
    "Bread is baked from flour, water and yeast. Salt gives it taste.",
    "Paris is the capital of France and lies on the Seine.",
)
ANSWER = "The tower is 330 metres high. It was finished in 1889. Bread needs yeast. Paris lies on the Loire."


def published_scores(
    network: T5ForTokenClassification, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]
) -> list[float]:
    """What the model's card defines, one pair at a time: softmax[1] of the first token of the filled prompt."""
    scores = []
    for premise, hypothesis in pairs:
        text = (
            "<pad> Determine if the hypothesis is true given the premise?\n\n"
            f"Premise: {premise}\n\nHypothesis: {hypothesis}"
        )
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([tokenizer.encode(text).ids])).logits
        scores.append(float(torch.softmax(logits[0, 0], dim=-1)[1]))
    return scores


def chunks_of(*texts: str) -> list[Chunk]:
    return [Chunk(id=f"doc-{number}", text=text, position=number) for number, text in enumerate(texts)]


async def judge_answer(judge: HhemJudge, texts: Sequence[str] = PASSAGES) -> tuple[ClaimVerdict, ...]:
    judgement = await judge.judge(
        question=None, chunks=chunks_of(*texts), response=ANSWER, claims=segment(ANSWER).claims
    )
    return judgement.verdicts


async def test_scores_are_the_published_definition(
    hhem_folder: Path, t5_network: T5ForTokenClassification, t5_tokenizer: Tokenizer
) -> None:
    """Batched, padded and loaded by our own code, each score equals that of the network it was saved from."""
    scores = await hhem_judge(hhem_folder).score(PAIRS)
    assert scores == pytest.approx(published_scores(t5_network, t5_tokenizer, PAIRS), abs=1e-5)
    assert max(scores) - min(scores) > 0.01, "the scores must differ for this to say anything"


async def test_the_embedding_may_be_stored_under_either_name(hhem_folder: Path) -> None:
    """safetensors keeps one of two tied tensors, and which one depends on who saved it."""
    expected = await hhem_judge(hhem_folder).score(PAIRS)
    weights = load_file(hhem_folder / "model.safetensors")
    weights["t5.transformer.encoder.embed_tokens.weight"] = weights.pop("t5.transformer.shared.weight")
    save_file(weights, hhem_folder / "model.safetensors")
    assert await hhem_judge(hhem_folder).score(PAIRS) == expected


async def test_a_claim_is_supported_as_its_best_passage_supports_it(hhem_folder: Path) -> None:
    """The support is the best score over the passages, alone or the two best together; the threshold decides."""
    probe = hhem_judge(hhem_folder)
    claims = segment(ANSWER).claims
    alone = [await probe.score([(text, claim.text) for text in PASSAGES]) for claim in claims]
    threshold = sorted(max(scores) for scores in alone)[2]
    verdicts = await judge_answer(hhem_judge(hhem_folder, supported_from=threshold))
    for claim, scores, verdict in zip(claims, alone, verdicts, strict=True):
        expected, best = max(scores), {scores.index(max(scores))}
        if expected < threshold:
            best = set(sorted(range(3), key=lambda number: -scores[number])[:2])
            premise = "\n\n".join(PASSAGES[number] for number in sorted(best))
            expected = max(expected, (await probe.score([(premise, claim.text)]))[0])
        assert verdict.support_probability == pytest.approx(expected, abs=1e-5)
        assert (verdict.verdict is Verdict.SUPPORTED) == (expected >= threshold)
        assert bool(verdict.chunk_ids) == (verdict.verdict is Verdict.SUPPORTED)
        if verdict.chunk_ids:
            assert {f"doc-{number}" for number in best} <= set(verdict.chunk_ids)
    assert {verdict.verdict for verdict in verdicts} > {Verdict.SUPPORTED}


@pytest.mark.parametrize("supported_from", [0.0, 1.0])
async def test_quotes_are_verbatim_and_near(hhem_folder: Path, supported_from: float) -> None:
    """A quote is the passage's sentence that shares most words with the claim, also where nothing is supported."""
    verdicts = await judge_answer(hhem_judge(hhem_folder, supported_from=supported_from), PASSAGES[:1])
    texts = {f"doc-{number}": text for number, text in enumerate(PASSAGES)}
    for verdict in verdicts:
        for quote in verdict.quotes:
            assert quote.text == texts[quote.chunk_id][quote.start : quote.end]
    assert [quote.text for quote in verdicts[0].quotes] == ["The Eiffel Tower is 330 metres high."]


async def test_a_long_premise_is_read_to_its_end(
    hhem_folder: Path, t5_network: T5ForTokenClassification, t5_tokenizer: Tokenizer
) -> None:
    """A passage beyond the window is judged in windows, none longer than the window, the last one included."""
    filler = "Bread is baked from flour and water, and the dough rests for an hour. "
    passage = filler * 60 + PASSAGES[0]
    judge = hhem_judge(hhem_folder, window_tokens=200, supported_from=0.0)
    [first, *_] = await judge_answer(judge, [passage])
    assert "The Eiffel Tower is 330 metres high." in [quote.text for quote in first.quotes]
    whole = published_scores(t5_network, t5_tokenizer, [(passage, ANSWER)])
    assert await judge.score([(passage, ANSWER)]) == pytest.approx(whole, abs=1e-5), "score() itself cuts nothing"


async def test_chunks_without_words_support_nothing(hhem_folder: Path) -> None:
    """White space beside a passage is no evidence, and is no error."""
    verdicts = await judge_answer(hhem_judge(hhem_folder, supported_from=0.0), ["   \n ", PASSAGES[0]])
    assert {verdict.chunk_ids for verdict in verdicts} == {("doc-1",)}


async def test_faithfulness_by_hhem(hhem_folder: Path) -> None:
    """The judge takes its place under the metric: score, risk, name and version are on the result."""
    judge: Judge = hhem_judge(hhem_folder, supported_from=0.0)
    result = await Faithfulness(judge=judge, unfaithful_from=1.0).evaluate(
        question=None, chunks=chunks_of(*PASSAGES), response=ANSWER
    )
    assert result.score == 1.0
    assert result.risk is not None
    assert result.judge == "hhem/tiny-hhem"
    assert re.fullmatch(r"2\[1\]\+1\+[0-9a-f]{8}\.512\.0", result.version)


async def test_evaluations_at_once_do_not_mix(hhem_folder: Path) -> None:
    """Many answers judged concurrently get what each gets alone."""
    judge = hhem_judge(hhem_folder)
    contexts = [PASSAGES[:1], PASSAGES[1:], PASSAGES[2:], PASSAGES]
    alone = [await judge_answer(judge, texts) for texts in contexts]
    together = await asyncio.gather(*(judge_answer(judge, texts) for texts in contexts))
    assert together == alone


async def test_damaged_weights_are_an_error_and_not_a_score(hhem_folder: Path) -> None:
    """NaN out of the network never becomes a probability."""
    weights = load_file(hhem_folder / "model.safetensors")
    weights["t5.classifier.bias"] = torch.full((2,), float("nan"))
    save_file(weights, hhem_folder / "model.safetensors")
    with pytest.raises(PermanentError, match="no number"):
        await judge_answer(hhem_judge(hhem_folder))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(hhem_folder: Path, name: str) -> None:
    """What is not in the folder, and not on a hub that cannot be reached, is named in the error."""
    (hhem_folder / name).unlink()
    with pytest.raises(ConfigurationError, match=re.escape(name)):
        hhem_judge(hhem_folder)


def test_other_weights_are_refused(hhem_folder: Path) -> None:
    """A checkpoint with a tensor missing, or of another architecture, does not load half."""
    weights = load_file(hhem_folder / "model.safetensors")
    del weights["t5.transformer.encoder.final_layer_norm.weight"]
    save_file(weights, hhem_folder / "model.safetensors")
    with pytest.raises(ConfigurationError, match="final_layer_norm"):
        hhem_judge(hhem_folder)
    save_file({"bert.embeddings.weight": torch.zeros(2, 2)}, hhem_folder / "model.safetensors")
    with pytest.raises(ConfigurationError, match="not the weights of an HHEM model"):
        hhem_judge(hhem_folder)


def test_no_code_of_the_checkpoint_runs(hhem_folder: Path) -> None:
    """Python files beside the weights, which config.json points to, are never imported."""
    (hhem_folder / "modeling_hhem_v2.py").write_text("raise SystemExit('remote code ran')")
    (hhem_folder / "configuration_hhem_v2.py").write_text("raise SystemExit('remote code ran')")
    assert hhem_judge(hhem_folder).name == "hhem/tiny-hhem"


def test_a_prompt_without_places_is_refused(hhem_folder: Path) -> None:
    """The template is data of the checkpoint: one that cannot hold the pair is named."""
    config = json.loads((hhem_folder / "config.json").read_text())
    (hhem_folder / "config.json").write_text(json.dumps({**config, "prompt": "Is {text2} true?"}))
    with pytest.raises(ConfigurationError, match="text1"):
        hhem_judge(hhem_folder)


def test_a_model_that_is_nowhere_is_named() -> None:
    """Neither a folder nor to be had from the hub: the message says what to do."""
    with pytest.raises(ConfigurationError, match="give its folder"):
        hhem_judge("nobody/no-such-model")
