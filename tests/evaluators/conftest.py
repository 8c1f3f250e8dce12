"""What the tests of language models share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def litellm_is_loaded() -> None:
    """litellm imports half of itself during its first call; no test should pay for it inside a timeout."""
    from rag_otel_evaluators.judges.litellm_library import warm_up

    warm_up("openai/local")
