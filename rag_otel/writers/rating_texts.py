"""What of a user's rating may leave the process: its words masked, and the user as a pseudonym."""

from __future__ import annotations

import hashlib
import hmac

from rag_otel.ratings.rating import IDENTIFIER, Rating
from rag_otel.ratings.words import rating_of
from rag_otel.safety.masking import CLASSES, Placeholders
from rag_otel.safety.privacy import content_hidden


def masked_comment(rating: Rating, *, capture_content: bool) -> str | None:
    """The comment with placeholders for credentials and personal data that is known by its form; None where content is
    hidden. Takes milliseconds: for the delivery thread."""
    return None if rating.comment is None or _hidden(capture_content) else _masked(rating.comment)


def masked_label(rating: Rating, *, capture_content: bool) -> str | None:
    """The label in the same way. Where content is hidden, only a common word for good or bad remains."""
    if rating.label is None or (_hidden(capture_content) and rating_of(rating.label) is None):
        return None
    return _masked(rating.label)


def identifier(rating: Rating, *, key: str | None) -> str:
    """What tells the ratings of several users of one trace apart: an HMAC-SHA256 (RFC 2104) of the trace and the user's
    id, cut to 64 bits. So a user has another pseudonym in each trace. Without `key`, who guesses an id can check it."""
    if rating.user_id is None:
        return IDENTIFIER
    said = f"{rating.trace_id}\0{rating.user_id}"
    digest = hmac.new((key or "").encode("utf-8", "replace"), said.encode("utf-8", "replace"), hashlib.sha256)
    return f"{IDENTIFIER}:{digest.hexdigest()[:16]}"


def _hidden(capture_content: bool) -> bool:
    """A user's own words may quote the question, the answer and the documents."""
    return content_hidden(capture_content=capture_content).anything


def _masked(text: str) -> str:
    placeholders = Placeholders(CLASSES)
    for _ in placeholders.learn(text):
        pass
    return placeholders.mask(text)
