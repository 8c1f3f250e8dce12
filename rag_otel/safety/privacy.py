"""Which content must not leave the process: the switches of OpenInference, of OpenTelemetry GenAI and our own.

They are obeyed on the attributes that `@observe` writes and on what evaluation writes back: quotes, claims and
explanations would leak what was hidden. Scores, counts, verdicts and chunk ids always go out, and evaluation itself
still sees the text, inside the process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from rag_otel.lazy_dataclass import dataclass

CAPTURE_ENV: Final = "RAG_OTEL_CAPTURE_CONTENT"
GENAI_CAPTURE_ENV: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_GENAI_ON_SPANS: Final = frozenset({"true", "1", "span_only", "span_and_event"})
"""Values that let content onto spans. Anything else that was set (`false`, `no_content`, `event_only`, a typing slip)
hides it: who sets this switch at all cares. Unset, it says nothing."""

_YES: Final = frozenset({"true", "1", "yes", "on"})
_NO: Final = frozenset({"false", "0", "no", "off"})
_QUESTION_ENV: Final = ("HIDE_INPUTS", "HIDE_INPUT_MESSAGES", "HIDE_INPUT_TEXT", "HIDE_PROMPTS")
_RESPONSE_ENV: Final = ("HIDE_OUTPUTS", "HIDE_OUTPUT_MESSAGES", "HIDE_OUTPUT_TEXT", "HIDE_CHOICES")
_DOCUMENTS_ENV: Final = ("HIDE_RETRIEVAL_DOCUMENTS", "HIDE_OUTPUTS")
"""OpenInference counts retrieved documents as a retriever's output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenContent:
    """What must not be written anywhere outside the process."""

    question: bool = False
    """Hides `input.value`."""
    response: bool = False
    """Hides `output.value` and the text of claims, which are slices of it."""
    documents: bool = False
    """Hides the text and metadata of chunks, and quotes, which are slices of them."""

    @property
    def anything(self) -> bool:
        """True when free text that may mix all three (an explanation, an error's message) must be hidden."""
        return self.question or self.response or self.documents


EVERYTHING_HIDDEN: Final = HiddenContent(question=True, response=True, documents=True)


def content_hidden(environ: Mapping[str, str] | None = None, *, capture_content: bool = True) -> HiddenContent:
    """What the switches of the environment, and `capture_content` of a call and of the settings, hide.

    Reads a dozen variables (about 10 us): for the worker and for start-up. The request path uses `hidden_now()`.
    """
    environ = os.environ if environ is None else environ
    genai = environ.get(GENAI_CAPTURE_ENV, "").strip().lower()
    if not capture_content or (genai and genai not in _GENAI_ON_SPANS):
        return EVERYTHING_HIDDEN
    return HiddenContent(
        question=_any_set(environ, _QUESTION_ENV),
        response=_any_set(environ, _RESPONSE_ENV),
        documents=_any_set(environ, _DOCUMENTS_ENV),
    )


def _any_set(environ: Mapping[str, str], names: tuple[str, ...]) -> bool:
    return any(environ.get(f"OPENINFERENCE_{name}", "").strip().lower() in _YES for name in names)


_capture_content: bool | None = None
_now: HiddenContent | None = None


def configure(*, capture_content: bool | None) -> None:
    """What the settings say, once they are settled; None: not settled. The environment is read afresh too."""
    global _capture_content
    _capture_content = capture_content
    refresh()


def refresh() -> None:
    """Read the environment again at the next call. Decorating does this, so a variable that is set between two
    decorations is seen; one that changes while traffic flows needs `instrument()`."""
    global _now
    _now = None


def hidden_now() -> HiddenContent:
    """`content_hidden()` of this process, remembered: for the request path."""
    global _now
    if _now is None:
        capture = _capture_content
        if capture is None:  # nothing is set up: the setting's own variable counts
            capture = os.environ.get(CAPTURE_ENV, "").strip().lower() not in _NO
        _now = content_hidden(capture_content=capture)
    return _now
