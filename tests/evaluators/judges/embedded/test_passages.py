"""Chunks are read once: what is remembered of them, how much of it, and that it changes nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.model import Chunk
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.embedded.evidence import Passage, PassageMemory, index_chunks, passages_of
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.text.terms import terms_of
from testkit.size import examples

WORDS = ("tower", "metres", "330", "Paris", "opened", "1889", "not", "is", "the", "station", "Gustave", "it", "germany")
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(lambda words: " ".join(words).capitalize())
TEXTS = st.lists(SENTENCES, min_size=1, max_size=30).map(lambda sentences: ". ".join(sentences) + ".")


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS)
def test_what_is_remembered_changes_nothing(chunks: list[str], response: str) -> None:
    """A judge that has seen the chunks before, among others, says the same as one that remembers nothing."""
    fresh, used = (Faithfulness(judge=EmbeddedJudge(remembered_characters=size)) for size in (0, 2_000))
    expected = fresh.evaluate_sync(question="How tall?", chunks=chunks, response=response)
    for _ in range(3):
        got = used.evaluate_sync(question="How tall?", chunks=chunks, response=response)
        assert (got.claims, got.score, got.risk) == (expected.claims, expected.score, expected.risk)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_the_index_finds_every_sentence(chunks: list[str]) -> None:
    """For every term the index names the sentences that hold it, and the chunk of each."""
    index = finish(index_chunks([Chunk(id=str(n), text=t, position=n) for n, t in enumerate(chunks)], None))
    texts = [
        chunks[chunk][sentence.start : sentence.end]
        for chunk, sentence in zip(index.chunk_of, index.sentences, strict=True)
    ]
    assert index.vocabulary == {term for text in texts for term in terms_of(text)}
    for term in index.vocabulary:
        sentences, found_chunks = index.places_of(term)
        assert sentences == [number for number, text in enumerate(texts) if term in terms_of(text)]
        assert found_chunks == {index.chunk_of[number] for number in sentences}


def test_memory_is_bounded() -> None:
    """However many chunks come by, no more text is remembered than was allowed; what has just come is."""
    memory = PassageMemory(10_000)
    for text in _different_texts(100):
        passages = finish(memory.passages_of(text))
        assert finish(memory.passages_of(text)) is passages
        assert memory.characters <= 10_000


def test_what_is_asked_for_again_and_again_stays() -> None:
    """A popular chunk is still remembered after more other text than there is room for."""
    memory = PassageMemory(10_000)
    popular = "The tower is 330 metres tall."
    passages = finish(memory.passages_of(popular))
    for text in _different_texts(100):
        finish(memory.passages_of(text))
        assert finish(memory.passages_of(popular)) is passages


def test_chunks_in_turn_stay() -> None:
    """Of chunks that are asked for in turn and nearly fill the memory, none is forgotten for another."""
    memory = PassageMemory(10_000)
    passages = {text: finish(memory.passages_of(text)) for text in _different_texts(10)}
    for _ in range(3):
        for text, known in passages.items():
            assert finish(memory.passages_of(text)) is known


@pytest.mark.parametrize("characters", [0, 1_000])
def test_what_has_no_room_is_not_remembered(characters: int) -> None:
    """A text longer than the share of it leaves the memory as it was."""
    memory = PassageMemory(characters)
    (text, *_) = _different_texts(1)
    assert finish(memory.passages_of(text)) is not finish(memory.passages_of(text))
    assert memory.characters == 0


def _different_texts(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"Station {number} opened. " * 40


def test_reading_a_long_chunk_gives_way() -> None:
    """Between two cooperative points lie few sentences, however long the chunk."""
    sentence = "The tower of the city of Paris opened to its visitors in the year 1889. "
    steps = sum(1 for _ in passages_of(sentence * 1_000))
    assert steps >= len(sentence) * 1_000 / 1_000


def test_a_claim_over_many_passages_gives_way() -> None:
    """Looking a claim up in a very long context is cut into steps, a term each."""
    chunk = Chunk(id="0", text="The tower of the city of Paris opened in 1889. " * 2_000, position=0)
    index = finish(index_chunks([chunk], None))
    claim = "The tower of Berlin opened in 1890."
    assert sum(1 for _ in index.look_up(claim)) == len(terms_of(claim))
    assert len(index.places_of(terms_of("tower")[0])[0]) == 2_000


def test_passages_hold_the_sentences_in_order() -> None:
    """The passages of a chunk are short runs of its sentences, none lost, each with its own words."""
    text = " ".join(f"Sentence number {n} says something of word{n}." for n in range(200))
    passages: tuple[Passage, ...] = finish(passages_of(text))
    spans = [(sentence.start, sentence.end) for passage in passages for sentence in passage.sentences]
    assert len(spans) == 200
    assert spans == sorted(spans)
    assert len(passages) > 3
    for passage in passages:
        assert set(passage.vocabulary) == {term for sentence in passage.sentences for term in sentence.terms}


def test_a_start_waits_for_no_tables() -> None:
    """Tables of words and patterns are loaded with the first answer, not with the judge."""
    script = (
        "import sys\nfrom rag_otel_evaluators.metrics.registry import build\nbuild(['faithfulness'])\n"
        "print(*(name for name in sys.modules if name.startswith('rag_otel_evaluators')))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.removeprefix("rag_otel_evaluators.") for name in shown.stdout.split()}
    assert "judges.embedded.judge" in loaded
    assert loaded.isdisjoint({"segmentation", "sentences", "languages", "text.terms", "judges.embedded.verdicts"})
