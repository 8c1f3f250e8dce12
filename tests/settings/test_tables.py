"""Settings in tables of their own, and names that somebody has misspelt."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import logging
import pickle
from typing import Any, get_args, get_type_hints

import pytest
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel import instrumentation
from rag_otel.errors import ConfigurationError
from rag_otel.settings import Settings, resolve, unread_variables
from rag_otel.settings.tables import TABLES, AlertSettings, DriftSettings, JudgeSettings
from rag_otel_evaluators import evaluate

_NOT_IN_A_SIGNATURE = {
    "sampling_seed",
    "chunk_resolver_timeout",
    *(f"job_queue_{name}" for name in ("name", "partitions", "prefetch", "max_jobs", "max_starts")),
    "job_queue_retry_delays",
    "job_queue_buffer_bytes",
    "feedback_key",
}
"""Rows for the environment and for files."""


def test_every_row_is_an_argument_or_in_a_table() -> None:
    """A new row must be put somewhere; and a field stands for a row that there is."""
    rows = {each.name for each in dataclasses.fields(Settings)}
    in_tables = [table.row_of(field) for table in TABLES.values() for field in table.fields()]
    assert len(in_tables) == len(set(in_tables))
    assert set(in_tables) <= rows
    arguments = set(inspect.signature(rag_otel.instrument).parameters)
    assert rows - set(in_tables) - arguments == _NOT_IN_A_SIGNATURE


def test_a_field_takes_what_its_row_takes() -> None:
    """The types are declared twice, for editors: they must agree."""
    wanted = get_type_hints(Settings)
    for table in TABLES.values():
        for field, hint in get_type_hints(table).items():
            if field in table.fields():
                row = table.row_of(field)
                assert _kinds(hint) == _kinds(wanted[row]), f"{table.__name__}.{field}"


def _kinds(hint: Any) -> set[str]:
    """What may stand there, None aside, with any list of words as a word."""
    if hint is str or isinstance(hint, str) or not get_args(hint):
        return {str(hint)}
    return set().union(*(_kinds(each) for each in get_args(hint) if each not in (type(None), ...)))


def test_tables_and_plain_values_fill_the_same_rows() -> None:
    nested = resolve(
        {
            "judge": JudgeSettings(model="openai/m", strategy="two_step"),
            "alerts": AlertSettings(cooldown=1.0, slo_target=0.9, email_to=["a@b.c"]),
            "drift": DriftSettings(enabled=False),
        },
        {},
    )
    rows = {"judge": "openai/m", "judge_strategy": "two_step", "drift": False}
    rows |= {"alert_cooldown": 1.0, "slo_target": 0.9, "alert_email_to": ["a@b.c"]}
    assert nested.settings == resolve(rows, {}).settings
    assert nested.origins["alert_cooldown"] == "argument"


def test_a_file_may_hold_tables() -> None:
    """`[evaluation.alerts]` in TOML."""
    settings = resolve({}, {}, file={"alerts": {"cooldown": 5, "slo_target": 0.9}, "hold": 1}).settings
    assert (settings.alert_cooldown, settings.slo_target, settings.hold) == (5.0, 0.9, 1.0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"sample_rate": 1}, r"sample_rate .*sample_ratio"),
        ({"phoenix_endpont": "x"}, r"phoenix_endpoint\?"),
        ({"cooldown": 3}, r"alerts=AlertSettings\(cooldown=\.\.\.\)"),
        ({"judge_concurency": 3}, r"judge_concurrency\?"),
        ({"alerts": {"cooldwn": 3}}, r"alert_cooldwn .*alert_cooldown"),
    ],
)
def test_a_misspelt_argument_is_answered_with_the_nearest(written: dict[str, Any], meant: str) -> None:
    with pytest.raises(ConfigurationError, match=meant):
        resolve(written, {})


def test_unread_variables_are_told_once_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, uninstrumented: None
) -> None:
    """A misspelt variable is no error: the environment may be meant for another version."""
    monkeypatch.setattr(instrumentation, "_told_unread", False)
    monkeypatch.setenv("RAG_OTEL_SAMPLE_RATE", "0.1")
    monkeypatch.setenv("RAG_OTEL_COLLECTOR_GRPC", "0.0.0.0:4317")
    with caplog.at_level(logging.WARNING, logger="rag_otel"):
        rag_otel.instrument(TracerProvider())
        rag_otel.instrument(TracerProvider())
    told = [record.getMessage() for record in caplog.records if "RAG_OTEL" in record.getMessage()]
    assert told == [
        "rag-otel: no setting reads the environment's RAG_OTEL_SAMPLE_RATE (did you mean RAG_OTEL_SAMPLE_RATIO?)"
    ]


def test_a_secrets_file_variable_is_known() -> None:
    assert unread_variables({"RAG_OTEL_PHOENIX_API_KEY_FILE": "x", "PATH": "y"}) == []


def test_two_evaluators_of_one_name_are_an_error(uninstrumented: None) -> None:
    """`evaluators=` adds to `metrics=`; whoever replaces one says so."""
    from rag_otel_evaluators.metrics.faithfulness import Faithfulness

    with pytest.raises(ConfigurationError, match=r"faithfulness.*metrics=\[\]"):
        rag_otel.instrument(TracerProvider(), evaluators=[Faithfulness()])
    made = rag_otel.instrument(TracerProvider(), metrics=[], evaluators=[Faithfulness()])
    assert [each.name for each in made.runtime.pipeline.evaluators] == ["faithfulness"]


def test_nothing_to_evaluate_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="RAG_OTEL_METRICS"):
        rag_otel.instrument(TracerProvider(), metrics=[])


@pytest.mark.parametrize(
    ("table", "name", "meant"),
    [
        (JudgeSettings, "judge", "model"),
        (JudgeSettings, "judge_api_base", "api_base"),
        (JudgeSettings, "timeouts", "timeout"),
        (AlertSettings, "alert_slack_url", "slack_url"),
        (DriftSettings, "drift", "enabled"),
    ],
)
def test_an_unknown_field_of_a_table_names_the_one_that_was_meant(table: type[Any], name: str, meant: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{table.__name__}.* {name} \(did you mean {meant}\?\)"):
        table(**{name: "x"})


def test_a_table_is_copied_and_changed_as_other_dataclasses() -> None:
    """Checking names as an object is made takes nothing away."""
    table = JudgeSettings(model="openai/m")
    assert dataclasses.replace(table, timeout=5.0) == JudgeSettings(model="openai/m", timeout=5.0)
    assert pickle.loads(pickle.dumps(table)) == copy.deepcopy(table) == table


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"judge": DriftSettings()}, r"write drift=DriftSettings"),
        ({"telemetry": "prometheus"}, r"write telemetry=TelemetrySettings"),
        ({"spans": "late"}, r"write spans=SpanSettings"),
    ],
)
def test_a_table_in_the_wrong_place_and_none_where_one_belongs(given: dict[str, Any], advice: str) -> None:
    """The message says what to write."""
    with pytest.raises(ConfigurationError, match=advice):
        resolve(given, {})


@pytest.mark.parametrize(
    ("judge", "meant"),
    [
        ("gpt-4o-mini", "openai/gpt-4o-mini"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("embeded", "embedded"),
        ("hhhem", "hhem"),
        ("cascade/gpt-4o-mini", "openai/gpt-4o-mini"),
    ],
)
def test_a_judge_without_a_provider_names_the_one_that_was_meant(judge: str, meant: str) -> None:
    """From settings and for files of answers alike, before anything is imported or asked."""
    with pytest.raises(ConfigurationError, match=f"did you mean {meant}"):
        resolve({"judge": judge}, {})
    with pytest.raises(ConfigurationError, match=f"did you mean {meant}"):
        evaluate([{"question": "q", "contexts": ["c"], "response": "r"}], judge=judge)
