"""What a server quotes of a request does not get into a log line."""

from __future__ import annotations

import json

import pytest

from rag_otel.safety.echoes import ECHO, without_echoes

SENT = 'The patient Ann Lee has\nthe "diagnosis" J45.9, and Zoë too. İlk muayene 12 Mart.'


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"cannot read {SENT}", f"cannot read {ECHO}."),
        (f"cannot read {json.dumps(SENT)}", f'cannot read "{ECHO}"'),
        ("the patient  ANN lee: filtered", f"{ECHO}: filtered"),
        ("cannot read İLK MUAYENE 12 MART", f"cannot read {ECHO}"),
        ("the value 'J45.9' is not allowed", f"the value '{ECHO}' is not allowed"),
        ("Incorrect API key provided (invalid_api_key)", "Incorrect API key provided (invalid_api_key)"),
        ("the model does not exist", "the model does not exist"),
    ],
)
def test_what_was_sent_is_left_out(said: str, left: str) -> None:
    """In whatever spacing, case and escaping; what the server says itself remains."""
    assert without_echoes(said, ["Judge.", SENT]) == left


def test_a_long_message_is_cut() -> None:
    """No log line gets longer than this."""
    assert len(without_echoes("x" * 10**5, ["y" * 10**5])) == 2_000
