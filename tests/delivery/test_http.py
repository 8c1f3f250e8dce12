"""Which outcome of a POST is worth another try."""

from __future__ import annotations

import email.utils
import time

import pytest

from rag_otel.delivery.http import post, to_json
from rag_otel.errors import PermanentError, RetryableError
from testkit.http_receiver import http_receiver


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_or_broken_server_is_worth_another_try(status: int) -> None:
    """These answers say nothing about the request itself."""
    with http_receiver() as receiver:
        receiver.answers.append((status, {}))
        with pytest.raises(RetryableError, match=f"HTTP {status}"):
            post(receiver.url, b"{}")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refused_request_is_not_tried_again(status: int) -> None:
    """The same request would be refused again."""
    with http_receiver() as receiver:
        receiver.answers.append((status, {}))
        with pytest.raises(PermanentError, match=f"HTTP {status}"):
            post(receiver.url, b"{}")


def test_retry_after_is_understood_in_both_forms() -> None:
    """Seconds or a date; nonsense counts as not said."""
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
    with http_receiver() as receiver:
        waits = []
        for header in ("7", in_a_minute, "soon"):
            receiver.answers.append((503, {"Retry-After": header}))
            with pytest.raises(RetryableError) as caught:
                post(receiver.url, b"{}")
            waits.append(caught.value.retry_after_s)
    assert waits[0] == 7.0
    assert waits[1] == pytest.approx(60, abs=30)
    assert waits[2] is None


def test_a_redirect_is_not_followed() -> None:
    """The key stays with the host that it was given for, and the message names the better address."""
    with http_receiver() as receiver, http_receiver() as elsewhere:
        receiver.answers.append((308, {"Location": elsewhere.url}))
        with pytest.raises(PermanentError, match=elsewhere.url):
            post(receiver.url, b"{}", headers={"Authorization": "Bearer s3cret"})
        assert not elsewhere.requests


def test_nobody_listening_is_worth_another_try_and_names_the_host_alone() -> None:
    """A connection that is refused; credentials in an address stay out of the message."""
    with http_receiver() as receiver:
        url = receiver.url
    with pytest.raises(RetryableError) as caught:
        post(url.replace("http://", "http://user:pa55@"), b"{}")
    assert "127.0.0.1" in str(caught.value)
    assert "pa55" not in str(caught.value)


def test_a_silent_server_is_worth_another_try() -> None:
    """The timeout ends the wait."""
    with http_receiver() as receiver:
        receiver.release.clear()
        with pytest.raises(RetryableError):
            post(receiver.url, b"{}", timeout_s=0.2)


def test_text_that_utf8_cannot_carry_does_not_fail_a_batch() -> None:
    """A lone surrogate is replaced; NaN is refused, as it is no JSON."""
    assert to_json({"text": "a\ud800é"}) == '{"text":"a?é"}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        to_json({"score": float("nan")})
