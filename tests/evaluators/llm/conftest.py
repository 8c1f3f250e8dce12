"""What the tests of language models share."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.llm import warm_up


@pytest.fixture(scope="session", autouse=True)
def _litellm_is_loaded() -> None:
    """litellm imports half of itself during its first call; no test should pay for it inside a timeout."""
    warm_up("openai/local")
