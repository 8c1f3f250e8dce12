"""The result of one check of `rag-otel doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Check:
    """What was found, and what to do if it is not good."""

    ok: bool
    text: str
    remedy: str = ""
