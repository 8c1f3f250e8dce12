"""Splitting and joining requests keeps the bytes."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel_collectors.otlp.requests.span_records import attributes_from
from rag_otel_collectors.otlp.requests.wire import (
    attribute_bytes,
    halves,
    join,
    split,
    with_additions,
    without_attributes,
)
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.size import examples

UNKNOWN_FIELD = bytes([0xFA, 0x3E, 3]) + b"abc"
"""Field 1007, bytes: nothing that today's OTLP knows."""
UNKNOWN_GROUP = bytes([0x93, 0x3F, 0x08, 0x05, 0x12, 0x01, 0x78, 0x94, 0x3F])
"""Field 1010 as a group, with a number and a string in it: an encoding that parsers must skip."""


def test_what_is_taken_apart_is_the_same_when_put_together() -> None:
    """A request with one resource and scope has the same bytes after splitting and joining."""
    request = a_request(*a_rag_trace(), *a_rag_trace()).SerializeToString()
    assert join(split(request)) == request


@pytest.mark.parametrize("unknown", [UNKNOWN_FIELD, UNKNOWN_GROUP])
def test_unknown_fields_survive_at_every_level(unknown: bytes) -> None:
    """Fields of a later OTLP version on resources, scopes and spans are kept at their places."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.MergeFromString(unknown)
    scope = resource.scope_spans.add()
    scope.MergeFromString(unknown)
    scope.spans.append(Span.FromString(a_span(b"t" * 16).SerializeToString() + unknown))
    (item,) = split(request.SerializeToString())
    assert unknown in item.resource
    assert unknown in item.scope
    assert unknown in item.span
    assert ExportTraceServiceRequest.FromString(join([item])) == request


def test_an_appended_attribute_is_one_of_the_span() -> None:
    """A parser reads the old attributes and the appended ones, of every type."""
    span = a_span(b"t" * 16, attributes={"old": "text"})
    added = {"a.text": "é", "a.flag": True, "a.number": 3, "a.ratio": 0.5, "a.list": ["x", "y"], "a.none": []}
    longer = Span.FromString(span.SerializeToString() + attribute_bytes(added))
    assert attributes_from(longer.attributes) == {"old": "text", **added}
    assert longer.span_id == span.span_id


def test_additions_go_to_the_span_at_their_place() -> None:
    """The bytes of all other spans stay the same."""
    first, second = split(a_request(*a_rag_trace()).SerializeToString())
    added = with_additions([first, second], {1: attribute_bytes({"new": 1})})
    assert added[0] == first
    assert added[1].span.startswith(second.span)
    assert attributes_from(Span.FromString(added[1].span).attributes)["new"] == 1


def test_halves_hold_every_span_once() -> None:
    """A request is split into two halves. A single span cannot be split."""
    request = a_request(*(a_span(b"t" * 16, str(n)) for n in range(5))).SerializeToString()
    first, second = halves(request) or (b"", b"")
    assert split(first) + split(second) == split(request)
    assert halves(join(split(request)[:1])) is None


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_any_choice_of_spans_keeps_their_resource_and_scope(places: list[tuple[int, int]]) -> None:
    """Spans of several resources and scopes, in any order, keep their resource and scope."""
    expected = []
    request = ExportTraceServiceRequest()
    for resource_number, scope_number in places:
        resource = request.resource_spans.add()
        resource.resource.attributes.add(key="r").value.int_value = resource_number
        scope = resource.scope_spans.add()
        scope.scope.name = f"s{scope_number}"
        span_id = os.urandom(8)
        scope.spans.append(a_span(b"t" * 16, span_id=span_id))
        expected.append((resource_number, f"s{scope_number}", span_id))
    joined = ExportTraceServiceRequest.FromString(join(split(request.SerializeToString())))
    found = [
        (resource.resource.attributes[0].value.int_value, scope.scope.name, span.span_id)
        for resource in joined.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert found == expected


def test_attributes_are_taken_off_and_everything_else_stays() -> None:
    """By the beginning of their names, on every span; where there is none, the bytes are the same."""
    spans = [
        a_span(b"t" * 16, attributes={"rag.evaluation.status": "evaluated", "input.value": "rag.evaluation.x"}),
        a_span(b"u" * 16, attributes={"rag.evaluation.faithfulness.score": 1.0}),
    ]
    for span in spans:
        span.MergeFromString(UNKNOWN_FIELD)
    request = a_request(*spans).SerializeToString()
    first, second = split(without_attributes(request, ["rag.evaluation."]))
    found = [attributes_from(Span.FromString(item.span).attributes) for item in (first, second)]
    assert not [name for attributes in found for name in attributes if name.startswith("rag.")]
    assert found[0]["input.value"] == "rag.evaluation.x"
    assert UNKNOWN_FIELD in first.span
    assert without_attributes(request, ["rag.guard."]) == request
