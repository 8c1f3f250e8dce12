"""Every test in here may call a language model."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _litellm_is_loaded(litellm_is_loaded: None) -> None:
    pass
