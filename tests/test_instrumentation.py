"""`instrument()`: the set-up as an application meets it, with the embedded judge and real providers."""

from __future__ import annotations

import subprocess
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.alert import Alert
from rag_otel.errors import ConfigurationError
from rag_otel.processing import provider as providers
from rag_otel.semconv import PROJECT_NAME
from rag_otel.settings import resolve
from rag_otel.settings.groups import AlertSettings, SpanSettings
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from testkit.settings import grouped
from testkit.shared_servers import SharedPhoenix
from testkit.warm_python import warm_python
from tests.processing.otlp import received
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.usefixtures("uninstrumented")

SCORE = "rag.evaluation.faithfulness.score"
CHUNK = {"id": "w-1", "text": "The tower is 330 metres high and was finished in 1889."}


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(exporter))
    return made


def _ask(text: str) -> dict[str, object]:
    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {"answer": text, "chunks": [CHUNK]}

    return answer("How high is the tower?")


def test_a_decorated_call_is_scored(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """Two lines of set-up give scores, risks and labels on the span."""
    rag_otel.instrument(provider)
    _ask("The tower is 330 metres high.")
    _ask("The tower was sold to a circus in Nevada.")
    assert rag_otel.flush(timeout=60)
    # Two traces are judged side by side: either may be done first.
    attributes = [dict(span.attributes or {}) for span in exporter.get_finished_spans()]
    bad, good = sorted(attributes, key=lambda each: float(each[SCORE]))  # type: ignore[arg-type]
    assert (good[SCORE], good["rag.evaluation.faithfulness.label"]) == (1.0, "faithful")
    assert (bad[SCORE], bad["rag.evaluation.faithfulness.label"]) == (0.0, "unfaithful")


def test_twice_is_once(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """The same call again returns the same set-up; no span is exported twice."""
    first = rag_otel.instrument(provider, sample_ratio=1.0)
    assert rag_otel.instrument(provider, sample_ratio=1.0) is first
    _ask("The tower is 330 metres high.")
    rag_otel.flush(timeout=20)
    assert len(exporter.get_finished_spans()) == 1


def test_other_settings_replace_the_first(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """A notebook's cell that is run again with other settings takes effect."""
    rag_otel.instrument(provider)
    rag_otel.instrument(provider, sample_ratio=0.0)
    _ask("The tower is 330 metres high.")
    rag_otel.flush(timeout=20)
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["rag.evaluation.status_reason"] == "not_sampled"


def test_a_bad_setting_leaves_what_works_in_place(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """An error in the second call does not take down the first set-up."""
    rag_otel.instrument(provider)
    with pytest.raises(ConfigurationError, match="no_such_metric"):
        rag_otel.instrument(provider, metrics=("no_such_metric",))
    _ask("The tower is 330 metres high.")
    rag_otel.flush(timeout=20)
    assert SCORE in (exporter.get_finished_spans()[0].attributes or {})


def test_switched_off_touches_nothing(provider: TracerProvider) -> None:
    """`enabled=False` leaves the provider as it is."""
    before = provider._active_span_processor._span_processors
    rag_otel.instrument(provider, enabled=False)
    assert provider._active_span_processor._span_processors is before


def test_uninstrument_restores_the_provider(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """Afterwards the provider is as it was, and what was held is out."""
    before = provider._active_span_processor._span_processors
    rag_otel.instrument(provider)
    _ask("The tower is 330 metres high.")
    rag_otel.uninstrument()
    assert provider._active_span_processor._span_processors == before
    provider.force_flush()
    assert len(exporter.get_finished_spans()) == 1


def test_a_processor_of_the_applications_own_follows_the_set_up(exporter: InMemorySpanExporter) -> None:
    """Added before instrument(), it evaluates with every set-up that comes, on whatever provider it stands."""
    provider = TracerProvider()
    provider.add_span_processor(rag_otel.RagSpanProcessor(exporter))
    statuses = []
    changes: list[dict[str, Any]] = [{}, {"hold": 0.0}, {"sample_ratio": 0.0}, {"sample_ratio": 1.0}]
    for settings in changes:
        rag_otel.instrument(provider, **grouped(**settings))
        _ask("The tower is 330 metres high.")
        assert rag_otel.flush(timeout=60)
        spans = [span for span in exporter.get_finished_spans() if span.name == "answer"]
        statuses.append([(span.attributes or {}).get("rag.evaluation.status") for span in spans])
        exporter.clear()
    assert statuses == [["evaluated"], ["late"], ["skipped"], ["evaluated"]]


def test_something_that_is_no_provider_is_named() -> None:
    """A wrong first argument says what was expected."""
    with pytest.raises(ConfigurationError, match="TracerProvider, not str"):
        rag_otel.instrument("http://localhost:6006")


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"drift": "yes"}, r"drift must be True or False or DriftSettings\(...\), not 'yes'"),
        ({"enabled": "no"}, r"enabled must be True or False, not 'no'"),
        ({"capture_content": "no"}, r"capture_content must be True or False"),
        ({"evaluators": "faithfulness"}, r"evaluators must be a list of objects.*metrics="),
        ({"evaluators": [1]}, r"evaluators: 1 is no object with .*evaluate"),
        ({"evaluators": [Faithfulness]}, r"evaluators: .*Faithfulness.* is no object"),
        ({"writers": "phoenix"}, r"writers must be a list of objects"),
        ({"alerts": AlertSettings(channels=[print])}, r"channels: .*print.* is no object with name, send"),
        ({"spans": SpanSettings(conventions="openinference")}, r"conventions must be a list of objects"),
        ({"alerts": AlertSettings(on_alert="slack")}, r"on_alert must be a function"),
    ],
)
def test_an_argument_of_another_kind_is_named_with_what_it_takes(given: dict[str, Any], advice: str) -> None:
    with pytest.raises(ConfigurationError, match=advice):
        rag_otel.instrument(**given)


def test_metrics_may_be_one_text(provider: TracerProvider) -> None:
    """As in the environment: a name, or several with commas."""
    made = rag_otel.instrument(provider, metrics="faithfulness")
    assert [each.name for each in made.runtime.pipeline.evaluators] == ["faithfulness"]
    made = rag_otel.instrument(
        provider, metrics="faithfulness, response_relevancy", judge="openai/m", evaluations_per_minute=1
    )
    assert [each.name for each in made.runtime.pipeline.evaluators] == ["faithfulness", "response_relevancy"]


def test_an_unfaithful_answer_calls_back_with_its_evidence(provider: TracerProvider) -> None:
    """The alert names the unsupported claim, its nearest quote and where to look."""
    alerts: list[Alert] = []
    rag_otel.instrument(
        provider,
        alerts=AlertSettings(on_alert=alerts.append, phoenix_public_url="http://phoenix.example"),
        spans=rag_otel.SpanSettings(annotations=False),
    )
    _ask("The tower is 512 metres high.")
    assert rag_otel.flush(timeout=60)
    (alert,) = alerts
    assert alert.question == "How high is the tower?"
    assert alert.claims[0].claim.text == "The tower is 512 metres high."
    assert alert.claims[0].quotes[0].text in CHUNK["text"]
    assert alert.link == f"http://phoenix.example/redirects/traces/{alert.target.trace_id}"


def test_the_environment_hides_what_is_written_back(
    provider: TracerProvider, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With RAG_OTEL_CAPTURE_CONTENT=false no word of the answer leaves, its score does."""
    monkeypatch.setenv("RAG_OTEL_CAPTURE_CONTENT", "false")
    rag_otel.instrument(provider)
    _ask("The tower is 512 metres high.")
    assert rag_otel.flush(timeout=60)
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})[SCORE] == 0.0
    assert "metres" not in repr(dict(span.attributes or {}))


LAZY = """
    import rag_otel
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    @rag_otel.observe
    def answer(question):
        return {"answer": "The tower is 330 m high.", "chunks": ["The tower is 330 m high."]}

    exporter = InMemorySpanExporter()
    def set_up():
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
"""


def test_uninstrument_stays_in_force(tmp_path: Path) -> None:
    """A decorated call does not set up anew what was taken off, and content that was hidden stays hidden."""
    program = textwrap.dedent(LAZY) + textwrap.dedent(
        """
        set_up()
        rag_otel.instrument(capture_content=False)
        rag_otel.uninstrument()
        answer("How high?")
        assert rag_otel.flush(timeout=60)
        (span,) = exporter.get_finished_spans()
        assert not any(name.startswith("rag.evaluation") for name in span.attributes), span.attributes
        assert "330" not in str(dict(span.attributes))
        rag_otel.instrument()
        answer("How high?")
        assert rag_otel.flush(timeout=60)
        assert len(exporter.get_finished_spans()) == 2
        """
    )
    program += f'assert exporter.get_finished_spans()[1].attributes["{SCORE}"] == 1.0'
    done = subprocess.run([warm_python(), "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", ["set_up()", "answer('How high?')"])
def test_without_instrument_the_global_provider_is_found_and_followed(first: str, tmp_path: Path) -> None:
    """A decorated call sets up lazily on the application's provider, also on one that is set after the first call."""
    second = "answer('How high?')" if first == "set_up()" else "set_up(); answer('How high?')"
    program = textwrap.dedent(LAZY) + textwrap.dedent(
        f"""
        {first}
        {second}
        assert rag_otel.flush(timeout=60)
        spans = exporter.get_finished_spans()
        assert len(spans) == 1, spans
        assert spans[0].attributes["{SCORE}"] == 1.0
        """
    )
    done = subprocess.run([warm_python(), "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr


def test_a_lazy_set_up_never_takes_the_global_place(tmp_path: Path) -> None:
    """Without any provider, a decorated call leaves the application free to set its own."""
    program = textwrap.dedent(LAZY) + "answer('How high?')\nassert trace._TRACER_PROVIDER is None\n"
    done = subprocess.run([warm_python(), "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr


def test_a_script_that_just_ends_loses_nothing(tmp_path: Path) -> None:
    """At interpreter exit what is held leaves scored, over a real OTLP exporter."""
    program = """
        import rag_otel
        rag_otel.instrument()
        @rag_otel.observe
        def answer(question):
            return {"answer": "The tower is 330 m high.", "chunks": ["The tower is 330 m high."]}
        answer("How high?")
    """
    with http_receiver() as receiver:
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "PATH": "/usr/bin",
        }
        done = subprocess.run(
            [warm_python(), "-c", textwrap.dedent(program)], capture_output=True, text=True, env=environ, check=False
        )
        assert done.returncode == 0, done.stderr
        assert any(SCORE.encode() in request.body for request in receiver.requests)


@pytest.mark.phoenix
def test_scores_reach_phoenix_on_the_span_and_as_annotations(phoenix_server: SharedPhoenix) -> None:
    """From a decorated call to Phoenix: one span with its scores, one annotation on it."""
    api = PhoenixApi(phoenix_server.base_url)
    settings = {"phoenix_endpoint": api.base_url, "project_name": "whole-path"}
    rag_otel.instrument(providers.make(resolve(settings).settings), **settings)
    _ask("The tower is 512 metres high.")
    assert rag_otel.flush(timeout=60)
    (span,) = eventually(lambda: api.spans("whole-path"))
    assert span["attributes"]["rag.evaluation.faithfulness.claims.0.quote"] in CHUNK["text"]
    span_id = span["context"]["span_id"]
    (row,) = eventually(lambda: api.annotations("whole-path", span_id))
    assert (row["name"], row["result"]["label"], row["result"]["score"]) == ("faithfulness", "unfaithful", 0.0)
    assert row["metadata"]["score"] == 0.0
    assert row["metadata"]["risk"] >= 0.5


def test_twenty_cycles_leave_no_thread_behind(provider: TracerProvider) -> None:
    """Taking down ends what setting up started."""
    before = {each.name for each in threading.enumerate() if each.name.startswith("rag-otel")}
    for _ in range(20):
        rag_otel.instrument(provider, alerts=rag_otel.AlertSettings(rules=()))
        _ask("The tower is 330 metres high.")
        rag_otel.uninstrument()
    eventually(lambda: {t.name for t in threading.enumerate() if t.name.startswith("rag-otel")} <= before)


def test_another_project_is_sent_to() -> None:
    """A second `instrument()` with another project, where the first one made the provider: spans go there from then on,
    also those of tracers that were taken before; each arrives once."""
    program = """
        import rag_otel
        from opentelemetry import trace
        @rag_otel.observe
        def answer(question):
            return {"answer": "The tower is 330 m high.", "chunks": ["The tower is 330 m high."]}
        rag_otel.instrument(phoenix_endpoint=URL, project_name="first", spans=rag_otel.SpanSettings(annotations=False))
        early = trace.get_tracer("app")
        answer("How high?")
        early.start_span("early").end()
        rag_otel.instrument(phoenix_endpoint=URL, project_name="second", spans=rag_otel.SpanSettings(annotations=False))
        answer("How high?")
        early.start_span("early").end()
    """
    with http_receiver() as receiver:
        code = f"URL = {receiver.url!r}\n" + textwrap.dedent(program)
        environ = {"OTEL_EXPORTER_OTLP_COMPRESSION": "none", "PATH": "/usr/bin"}
        done = subprocess.run([warm_python(), "-c", code], capture_output=True, text=True, env=environ, check=False)
        assert done.returncode == 0, done.stderr
        assert sorted(
            (attributes[PROJECT_NAME], name)
            for name, attributes in received(receiver)
            if not name.startswith("evaluation")
        ) == [
            ("first", "answer"),
            ("first", "early"),
            ("second", "answer"),
            ("second", "early"),
        ]


def test_another_project_than_the_providers_is_said(provider: TracerProvider, caplog: pytest.LogCaptureFixture) -> None:
    """The resource of the application's provider cannot be changed: the log says where spans go, and the way out."""
    rag_otel.instrument(provider, project_name="mine")
    assert "project_name='mine' does not change where spans go" in caplog.text
    assert "'default'" in caplog.text


def test_a_set_up_is_shown_in_three_lines(provider: TracerProvider) -> None:
    """What is evaluated by whom, where it goes, what was set; no secret of it."""
    made = rag_otel.instrument(
        provider,
        phoenix_endpoint="http://user:s3cret@p:6006",
        phoenix_api_key="s3cret",
        spans=rag_otel.SpanSettings(hold=5),
        metrics="faithfulness",
    )
    shown = repr(made).splitlines()
    assert shown[0] == "Instrumentation(evaluates: faithfulness (embedded)"
    assert shown[1].startswith("  spans go to: TracerProvider; annotations to: http://")
    assert shown[2].startswith("  set: metrics=faithfulness, phoenix_endpoint=")
    assert len(shown) == 3
    assert "s3cret" not in repr(made)
    assert repr(rag_otel.instrument(enabled=False)) == "Instrumentation(enabled=False)"
