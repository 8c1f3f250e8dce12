"""Settings in groups, and names that somebody has misspelt."""

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
from rag_otel.alerts.channels.log import LogChannel
from rag_otel.errors import ConfigurationError
from rag_otel.sampling.policy import SamplingPolicy
from rag_otel.settings import Settings, resolve
from rag_otel.settings.gone import GONE_SETTINGS
from rag_otel.settings.groups import GROUPS, AlertSettings, DriftSettings, JudgeSettings
from rag_otel.settings.rows import rows_of
from rag_otel.settings.unknown import unread_variables
from rag_otel.setup import instrument as instrumentation
from rag_otel.writers.memory import MemoryWriter
from rag_otel_evaluators import evaluate

GROUP_NAMES = {group.__name__: group for group in GROUPS.values()}
ROWS = rows_of(Settings).values()
PARAMETERS = inspect.signature(rag_otel.instrument).parameters


def test_instrument_takes_few_arguments() -> None:
    """What belongs together is in a group."""
    assert len([name for name, each in PARAMETERS.items() if each.kind is not inspect.Parameter.VAR_KEYWORD]) <= 18


def test_every_setting_is_an_argument_or_in_a_group() -> None:
    """A new setting must be put somewhere; one that has no place in code says so."""
    for row in rows_of(Settings).values():
        assert (row.path[0] in PARAMETERS) == row.argument, row.name


def test_an_argument_takes_what_its_setting_takes() -> None:
    """The types of `instrument()` are written out for editors: they must agree."""
    of_instrument, of_settings = (
        get_type_hints(rag_otel.instrument, vars(instrumentation) | {"SamplingPolicy": SamplingPolicy} | GROUP_NAMES),
        get_type_hints(Settings),
    )
    for row in rows_of(Settings).values():
        if len(row.path) == 1 and row.argument:
            assert _kinds(of_settings[row.name]) <= _kinds(of_instrument[row.name]), row.name


def test_nothing_that_is_gone_is_there() -> None:
    """And what is there instead is named by a setting, an argument or a constant."""
    assert not set(GONE_SETTINGS) & (set(rows_of(Settings)) | set(PARAMETERS))


def _kinds(hint: Any) -> set[str]:
    """What may stand there, None aside."""
    if hint is str or isinstance(hint, str) or not get_args(hint):
        return {str(hint)}
    return set().union(*(_kinds(each) for each in get_args(hint) if each not in (type(None), ...)))


@pytest.mark.parametrize(
    ("written", "way_out"),
    [
        ({"hold": 1.0}, r"did you mean spans=SpanSettings\(hold=\.\.\.\)"),
        ({"alert_slack_url": "x"}, r"alerts=AlertSettings\(slack_url=\.\.\.\)"),
        ({"on_alert": print}, r"alerts=AlertSettings\(on_alert=\.\.\.\)"),
        ({"sampler": None}, "sampling_policy="),
        ({"feedback_key": "x"}, "the environment's RAG_OTEL_FEEDBACK_KEY"),
        ({"judg": "hhem"}, "did you mean judge="),
        ({"drift_margin": 0.1}, "gone: it is always 0"),
    ],
)
def test_a_wrong_argument_is_a_type_error_with_the_way_out(written: dict[str, Any], way_out: str) -> None:
    """Nothing is set up."""
    with pytest.raises(TypeError, match=way_out):
        rag_otel.instrument(TracerProvider(), **written)
    assert instrumentation.current() is None


def test_a_setting_that_is_gone_is_refused_in_a_file_and_told_in_the_environment() -> None:
    with pytest.raises(ConfigurationError, match=r"alert_silence \(gone: .*alert_health"):
        resolve({}, {}, file={"alert_silence": 60})
    with pytest.raises(ConfigurationError, match=r"alerts\.silence"):
        resolve({}, {}, file={"alerts": {"silence": 60}})
    (told,) = unread_variables(ROWS, {"RAG_OTEL_ALERT_SILENCE": "60"})
    assert "RAG_OTEL_ALERT_SILENCE (gone: " in told


def test_what_a_group_does_not_say_comes_from_the_environment() -> None:
    environ = {"RAG_OTEL_ALERT_COOLDOWN": "5", "RAG_OTEL_ALERT_DIGEST": "7"}
    resolved = resolve({"alerts": AlertSettings(cooldown=300.0)}, environ)
    assert (resolved.settings.alerts.cooldown, resolved.settings.alerts.digest) == (300.0, 7.0)
    assert resolved.origins["alert_digest"] == "environment RAG_OTEL_ALERT_DIGEST"


def test_groups_and_names_of_files_fill_the_same_settings() -> None:
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


def test_a_file_may_hold_groups() -> None:
    """`[evaluation.alerts]` in TOML."""
    settings = resolve({}, {}, file={"alerts": {"cooldown": 5, "slo_target": 0.9}, "hold": 1}).settings
    assert (settings.alerts.cooldown, settings.alerts.slo_target, settings.spans.hold) == (5.0, 0.9, 1.0)


def test_one_object_stands_for_a_list_of_one() -> None:
    (channel,) = resolve({"alerts": AlertSettings(channels=LogChannel())}, {}).settings.alerts.channels
    assert channel.name == "log"
    writer = MemoryWriter()
    assert resolve({"writers": writer}, {}).settings.writers == (writer,)


@pytest.mark.parametrize("name", ["evaluators", "sampler", "writers"])
def test_objects_are_given_in_code_alone(name: str) -> None:
    """No text stands for them, in a file or in the environment."""
    with pytest.raises(ConfigurationError, match=f"unknown setting {name}"):
        resolve({}, {}, file={name: "module:object"})
    with pytest.raises(ConfigurationError, match=rf"{name}.* (must be a list of objects|is no object with)"):
        resolve({name: "module:object"}, {})
    assert not getattr(resolve({}, {f"RAG_OTEL_{name.upper()}": "module:object"}).settings, name)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"sample_rate": 1}, r"sample_rate .*sample_ratio"),
        ({"phoenix_endpont": "x"}, r"phoenix_endpoint\?"),
        ({"cooldown": 3}, r"alerts=AlertSettings\(cooldown=\.\.\.\)"),
        ({"judge_concurency": 3}, r"judge_concurrency\?"),
        ({"alerts": {"cooldwn": 3}}, r"alerts\.cooldwn .*alert_cooldown"),
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


def test_a_variable_named_after_its_group_is_answered_with_the_one_that_is_read() -> None:
    """`JudgeSettings(timeout=...)` suggests RAG_OTEL_JUDGE_TIMEOUT, and a file's `judge_timeout`."""
    (told,) = unread_variables(ROWS, {"RAG_OTEL_JUDGE_TIMEOUT": "3"})
    assert "did you mean RAG_OTEL_EVALUATION_TIMEOUT?" in told
    with pytest.raises(ConfigurationError, match=r"judge_timeout \(did you mean evaluation_timeout\?\)"):
        resolve({}, {}, file={"judge_timeout": 3})


def test_a_secrets_file_variable_is_known() -> None:
    assert unread_variables(ROWS, {"RAG_OTEL_PHOENIX_API_KEY_FILE": "x", "PATH": "y"}) == []


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
