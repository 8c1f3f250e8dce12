"""Cosines, and the embedder that needs no key."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.llm.embedding import HashedNgramEmbedder, cosine_similarity


async def similarity(first: str, second: str) -> float:
    """The embedder's cosine of two texts."""
    embeddings = await HashedNgramEmbedder().embed([first, second])
    cosine = cosine_similarity(*embeddings.vectors)
    assert cosine is not None
    return cosine


@pytest.mark.parametrize(
    ("first", "second"),
    [((), ()), ((0, 0), (1, 1)), ((1,), (1, 1)), ((math.nan,), (1,)), ((math.inf,), (1,)), ((1e308, 1e308), (1, 1))],
)
def test_where_there_is_no_cosine_there_is_none(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    """Not 0, not NaN."""
    assert cosine_similarity(first, second) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8).filter(lambda v: math.hypot(*v) > 1e-6))
def test_a_cosine_stays_in_its_range(vector: list[float]) -> None:
    """1 with itself, -1 with its opposite, never beyond by rounding."""
    assert cosine_similarity(vector, vector) == pytest.approx(1.0)
    assert cosine_similarity(vector, [-x for x in vector]) == pytest.approx(-1.0)
    assert -1.0 <= (cosine_similarity(vector, [x + 1 for x in vector]) or 0.0) <= 1.0


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("When was the tower built?", "When was the tower constructed?", "Who won the football match?"),
        ("¿Dónde nace el Ebro?", "¿Dónde está el nacimiento del Ebro?", "¿Cuánto cuesta un billete de tren?"),
        ("长江在哪里入海？", "长江的入海口在哪里？", "护照怎么办理？"),
    ],
)
async def test_shared_wording_is_near(question: str, near: str, far: str) -> None:
    """In scripts with and without spaces."""
    assert await similarity(question, near) > 2 * max(0.0, await similarity(question, far))


async def test_case_and_width_do_not_matter() -> None:
    """Full-width letters and capitals are the same words."""
    assert await similarity("ULM 2024", "ｕｌｍ ２０２４") == pytest.approx(1.0)


def test_every_process_embeds_alike() -> None:
    """Scores of two days can be compared: nothing depends on the process's hash seed."""
    program = (
        "import asyncio; from rag_otel_evaluators.llm.embedding import HashedNgramEmbedder as E;"
        "print(asyncio.run(E().embed(['Where is Ulm?'])).vectors)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
