"""OTLP/JSON files: one object or one per line, gzip or not, and error messages."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_otel.errors import InputError
from rag_otel.model import StatusCode
from rag_otel_collectors.otlp.requests.json_request import request_from, value_from
from rag_otel_collectors.otlp.requests.span_records import any_value, records_of
from rag_otel_collectors.stored.otlp_files import read_spans
from tests.collectors.conventions.otlp_json import a_json_span, a_request

Write = Callable[[str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file and returns its path."""

    def write(content: str | bytes) -> str:
        path = tmp_path / "traces.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def names(path: str) -> list[str]:
    return [span.name for span in read_spans(path)]


def named(*spans: str) -> dict[str, Any]:
    return a_request(*(a_json_span(name=name) for name in spans))


# --- shapes of files --------------------------------------------------------------------------------------------------


def test_one_object_on_one_line_or_many(write: Write) -> None:
    """A request may have any line breaks."""
    assert names(write(json.dumps(named("a", "b")))) == ["a", "b"]
    assert names(write(json.dumps(named("a", "b"), indent=2))) == ["a", "b"]


def test_one_object_a_line(write: Write) -> None:
    """The OpenTelemetry Collector writes one request per line. Blank lines and a missing last newline are accepted."""
    lines = [json.dumps(named("a")), "", json.dumps(named("b", "c"))]
    assert names(write("\n".join(lines))) == ["a", "b", "c"]


def test_several_objects_over_several_lines(write: Write) -> None:
    """Several formatted requests in one file are read too."""
    assert names(write("\n".join(json.dumps(named(name), indent=1) for name in "ab"))) == ["a", "b"]


def test_gzip_is_known_by_its_first_bytes(write: Write) -> None:
    """Compressed files may have any name."""
    assert names(write(gzip.compress(json.dumps(named("a")).encode()))) == ["a"]


def test_byte_order_mark_and_windows_newlines(write: Write) -> None:
    """A byte order mark and Windows line ends are accepted."""
    text = json.dumps(named("a")) + "\r\n" + json.dumps(named("b")) + "\r\n"
    assert names(write(b"\xef\xbb\xbf" + text.encode())) == ["a", "b"]


def test_other_signals_in_the_file_are_passed_over(write: Write) -> None:
    """The OpenTelemetry Collector may write metrics and logs to the same file."""
    lines = [{"resourceMetrics": [{"scopeMetrics": []}]}, named("a"), {"resourceLogs": []}, {"resourceSpans": []}]
    assert names(write("\n".join(map(json.dumps, lines)))) == ["a"]


def test_lines_are_streamed(write: Write) -> None:
    """The first spans are returned before later lines are read."""
    spans = read_spans(write(json.dumps(named("a")) + "\nnot json\n"))
    assert next(spans).name == "a"
    with pytest.raises(InputError, match="line 2"):
        next(spans)


def test_standard_input_compressed() -> None:
    """`-` reads standard input, also with gzip."""
    code = "from rag_otel_collectors.stored.otlp_files import read_spans; print([s.name for s in read_spans('-')])"
    data = gzip.compress(json.dumps(named("a")).encode())
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True, env=environment)
    assert run.stdout.decode().strip() == "['a']"


# --- files that are something else ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"traces\.json: empty; expected OTLP/JSON"),
        (" \n \n", r"traces\.json: empty"),
        ("# a readme\n", r"traces\.json, line 1: not JSON; expected OTLP/JSON"),
        ('{"question": "q", "answer": "a"}\n', r"line 1: expected OTLP/JSON.*an object with 'question', 'answer'"),
        ("{}", r"line 1: expected OTLP/JSON.*nothing in it"),
        ("[1, 2]", r"line 1: expected OTLP/JSON.*not a list"),
        ('"text"', r"line 1: expected OTLP/JSON.*not 'text'"),
        (json.dumps(a_request()) + '\n{"half": \n', r"line 2: not JSON"),
        ('{\n "resourceSpans": [\n  {"a": 1,}\n ]\n}', r"line 3: not JSON"),
        ("{" + '"a":[' * 100_000, r"line 1: (nested too deeply|not JSON)"),
        (b"\x1f\x8b\x08broken", r"traces\.json: cannot be read"),
        (gzip.compress(json.dumps(a_request()).encode())[:-12], r"traces\.json: cannot be read: .*ended before"),
        (b"\x89PNG\xff\xfe", r"traces\.json: not UTF-8 text; expected OTLP/JSON"),
    ],
)
def test_what_is_not_otlp_is_named(write: Write, content: str | bytes, message: str) -> None:
    """The error names the file, the line and what was expected."""
    with pytest.raises(InputError, match=message):
        list(read_spans(write(content)))


def test_missing_file_and_directory(tmp_path: Path) -> None:
    """The error contains the system's message."""
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read: No such file"):
        list(read_spans(str(tmp_path / "nowhere.json")))
    with pytest.raises(InputError, match="Is a directory"):
        list(read_spans(str(tmp_path)))


# --- spans ------------------------------------------------------------------------------------------------------------


def test_fields_of_a_span() -> None:
    """Every field of a span record is read from its field in the request."""
    span = a_json_span(
        "AB" * 16,
        "CD" * 8,
        parentSpanId="EF" * 8,
        startTimeUnixNano="1795291645059272960",
        endTimeUnixNano=1795291645084294912,
        status={"code": 2, "message": "down"},
        droppedAttributesCount=3,
        events=[{"name": "exception", "attributes": [{"key": "n", "value": {"intValue": "7"}}]}],
    )
    (record,) = records_of(request_from(a_request(span, scope="a scope")))
    assert (record.trace_id, record.span_id, record.parent_id) == ("ab" * 16, "cd" * 8, "ef" * 8)
    assert (record.start_ns, record.end_ns) == (1795291645059272960, 1795291645084294912)
    assert (record.status, record.dropped_attributes) == (StatusCode.ERROR, 3)
    assert (record.scope, record.resource) == ("a scope", {"service.name": "shop"})
    assert record.events == (("exception", {"n": 7}),)


@pytest.mark.parametrize("parent", [None, "", "0" * 16])
def test_root_has_no_parent(parent: str | None) -> None:
    """Absent, empty and all-zero parent ids mean no parent."""
    (record,) = records_of(request_from(a_request(a_json_span(parentSpanId=parent))))
    assert record.parent_id is None


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (0, "unset"),
        (1, "ok"),
        (2, "error"),
        ("STATUS_CODE_ERROR", "error"),
        ("STATUS_CODE_UNSET", "unset"),
        (9, "unset"),
    ],
)
def test_status_by_number_or_name(code: int | str, status: str) -> None:
    """Both JSON forms of an enum are read."""
    (record,) = records_of(request_from(a_request(a_json_span(status={"code": code}))))
    assert record.status == status


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": "x"}, "x"),
        ({"boolValue": True}, True),
        ({"intValue": "9007199254740993"}, 9007199254740993),
        ({"intValue": 3}, 3),
        ({"doubleValue": 0.5}, 0.5),
        ({"doubleValue": "NaN"}, None),
        ({"doubleValue": "Infinity"}, None),
        ({"bytesValue": "AQI="}, b"\x01\x02"),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": "1"}]}}, ["a", 1]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"arrayValue": {"values": []}}}]}}, {"k": []}),
        ({}, None),
        (None, None),
    ],
)
def test_values_by_type(value: Any, expected: Any) -> None:
    """An OTLP value becomes a Python value of its type. NaN becomes None."""
    read = any_value(value_from(value))
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"traceId": "short"}, "span 'answer': traceId must be 32 hex digits, not all zero"),
        ({"traceId": "q8PVc2S5bJ0lYzU2kWQeXw=="}, "traceId must be 32 hex digits"),
        ({"traceId": "0" * 32}, "not all zero"),
        ({"spanId": None}, "spanId must be 16 hex digits"),
        ({"name": 7}, "name must be a string; it is 7"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano must be an integer"),
        ({"attributes": {"a": 1}}, "attributes must be a list of objects"),
        ({"attributes": [7]}, "attributes must be a list of objects"),
        ({"attributes": [{"key": "a", "value": {"intValue": "x"}}]}, "intValue must be an integer"),
        ({"attributes": [{"key": "a", "value": {"doubleValue": "x"}}]}, "doubleValue must be a number"),
        ({"attributes": [{"key": "a", "value": {"bytesValue": "*"}}]}, "bytesValue must be base64"),
        ({"status": 2}, "status must be an object"),
    ],
)
def test_malformed_span_is_named(write: Write, changes: dict[str, Any], message: str) -> None:
    """The error names the file, the line, the span, the field and the value."""
    with pytest.raises(InputError, match=r"traces\.json, line 1: ") as raised:
        list(read_spans(write(json.dumps(a_request(a_json_span(**changes))))))
    assert message in str(raised.value)
