"""Settings that belong together: `instrument(judge=JudgeSettings(...), alerts=AlertSettings(...))`.

A field that the caller does not write comes from the environment or a file, else it has the default given here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider

from rag_otel.alert import Alert
from rag_otel.lazy_dataclass import dataclass
from rag_otel.protocols import AlertChannel, ChunkResolver, Convention
from rag_otel.settings.judge_names import EMBEDDED
from rag_otel.settings.rows import ABOVE_0, ADDRESS, AT_LEAST_0, SHARE, STORE, Group, Must, part, row

_DAY_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class JudgeSettings(Group):
    """Who judges, how, and what it may cost: `JudgeSettings(model="openai/gpt-4o-mini", budgets=["5 usd/day"])`."""

    prefix: ClassVar[str] = "judge_"
    argument: ClassVar[str] = "judge"

    model: str = row(
        EMBEDDED,
        "Who judges: `embedded`, a model (`openai/gpt-4o-mini`), `decisions/...`, `hhem`, `local/...`, `cascade/...`",
        name="judge",
    )
    api_base: str | None = row(None, "Address of the judge's server, where it is your own")
    strategy: Literal["single", "two_step", "classifier"] = row(
        "single", "A model judges in one call, in two as RAGAS, or writes the statements that the embedded judge judges"
    )
    timeout: float = row(60.0, "Seconds for one evaluation", name="evaluation_timeout", must=ABOVE_0)
    concurrency: int = row(8, "Calls of the judge at once")
    budgets: Sequence[str] = row(
        (), "What judging may cost: `5 usd/day`, `200000 tokens/hour`, `1 usd/day/tenant`", name="budgets"
    )
    budget_store: str | None = row(
        None,
        "Where processes share budgets: `memory`, `sqlite:/path`, `redis://host`; None: a file in `state_folder`",
        name="budget_store",
        must=STORE,
    )
    cache: str | None = row(
        None,
        "Where a model's answers are kept for a week: `memory`, `sqlite:/path`, `redis://host`; None: nowhere",
        must=STORE,
    )
    mask: Sequence[str] = row(
        ("secrets",),
        "What is masked before it leaves for a judge over HTTP: secrets, email, phone, iban, card, ip; `none` alone",
    )
    mask_engine: Any = row(None, "Finds more to mask: `presidio`, `module:object`, or an object")
    local_only: Sequence[str] = row((), "Routes and tags whose traces only local judges see: `support*`, `tenant:acme`")
    record_file: str | None = row(None, "File that shows what left for which judge, JSON Lines")
    calibration_file: str | None = row(
        None, "A file of `rag-otel labels calibrate`, applied to every result", name="calibration_file"
    )
    embedder: str | None = row(
        None, "Embedding model of `response_relevancy`; None: one that needs no key", name="embedder"
    )
    job_queue_url: str | None = row(
        None,
        "Broker of evaluation jobs, amqp://user:password@host:5672/?name=rag-otel: then `rag-otel work` evaluates, not "
        "this process",
        name="job_queue_url",
        secret=True,
    )
    language: str = row("en", "Language of the judges' prompts", name="language")
    prompt_folder: str | None = row(None, "Prompts of your own, before the built-in ones", name="prompt_folder")

    @property
    def is_embedded(self) -> bool:
        """True: no model is asked, neither by the judge nor for embeddings."""
        return self.model == EMBEDDED and self.embedder is None


@dataclass(frozen=True, kw_only=True)
class AlertSettings(Group):
    """Who is told what, and when: `AlertSettings(slack_url="file:/run/secrets/slack", slo_target=0.95)`."""

    prefix: ClassVar[str] = "alert_"
    argument: ClassVar[str] = "alerts"

    on_alert: Callable[[Alert], object] | None = part(None, "Called with every alert")
    channels: Sequence[AlertChannel] = part(
        (), "Channels of your own, beside the log and those named here", kind=AlertChannel
    )
    rules: Sequence[str] = row(("unfaithful",), "Which answers raise an alert, see the page on alerts")
    slo_target: float | None = row(
        None,
        "Share of answers that must be good, e.g. 0.95; None: no objective",
        name="slo_target",
        must=Must("between 0 and 1", lambda value: 0 < value < 1),
    )
    slo_threshold: float = row(0.7, "An answer that scores above it is good", name="slo_threshold", must=SHARE)
    health: bool = row(True, "Alert where traces come and evaluations do not, or where half of them fail")
    precision: float | None = row(
        None,
        "Share of alerts on one answer that are right (`rag-otel judge check`): from 0.5 on all channels are told at "
        "once, else people once a day",
        must=SHARE,
    )
    cooldown: float = row(300.0, "Seconds between alerts of one fingerprint", must=AT_LEAST_0)
    digest: float = row(10.0, "Seconds of alerts that become one message; 0: at once", must=AT_LEAST_0)
    remind: float = row(
        0.0, "Seconds after which a problem that is still open is told again; 0: never", must=AT_LEAST_0
    )
    resolve_after: float = row(900.0, "Seconds without a bad answer until a problem is over; 0: never", must=AT_LEAST_0)
    quiet_hours: Sequence[str] = row((), "When only what is critical is told: `22:00-07:00 Europe/Berlin`")
    log_texts: bool = row(False, "True: the log's alerts quote question, answer and claims; False: ids and counts")
    webhook_url: str | None = row(None, "Where alerts are POSTed", secret=True, must=ADDRESS)
    webhook_secret: str | None = row(None, "Key of the webhook's signature: `whsec_` and base64", secret=True)
    slack_url: str | None = row(None, "Slack's incoming webhook, the whole address", secret=True, must=ADDRESS)
    pagerduty_key: str | None = row(None, "PagerDuty's integration key (Events API v2)", secret=True)
    pagerduty_url: str = row(
        "https://events.pagerduty.com/v2/enqueue", "PagerDuty's address; differs in the EU", must=ADDRESS
    )
    alertmanager_urls: Sequence[str] = row((), "Alertmanagers, every one of a cluster, http://host:9093", must=ADDRESS)
    alertmanager_authorization: str | None = row(
        None, "Their Authorization header: `Bearer ...`, `Basic ...`", secret=True
    )
    email_to: Sequence[str] = row((), "Who gets alerts by mail")
    email_from: str | None = row(None, "Sender of these mails")
    smtp_url: str | None = row(None, "Mail server: smtps://user@host:465 (TLS), smtp://user@host:587 (STARTTLS)")
    smtp_password: str | None = row(None, "Password at the mail server", secret=True)
    apprise_urls: Sequence[str] = row(
        (), "Any other service, by apprise's addresses (`pip install apprise`)", secret=True
    )
    chart_url: str | None = row(
        None, "Dashboard that alerts link to; `{service}`, `{route}`, `{from}`, `{to}` are filled in", must=ADDRESS
    )
    phoenix_public_url: str | None = row(
        None, "Phoenix's address for links, where it differs", name="phoenix_public_url", must=ADDRESS
    )
    runbook_url: str | None = row(None, "Page of the runbook; its sections are named like the alerts", must=ADDRESS)


@dataclass(frozen=True, kw_only=True)
class DriftSettings(Group):
    """What is watched for drift: `DriftSettings(baseline="0.9", slices=["tenant"])`."""

    prefix: ClassVar[str] = "drift_"
    argument: ClassVar[str] = "drift"

    enabled: bool = row(True, "Watch scores, risks and the unjudged share for drift", name="drift")
    baseline: str | None = row(
        None, "What is normal: a mean score 0..1, or a file of means; None: learned from the first evaluations"
    )
    baseline_count: int = row(
        500, "Evaluations that a baseline is learned from", must=Must("at least 2", lambda value: value >= 2)
    )
    slices: Sequence[str] = row(
        ("service", "route", "model", "prompt_version", "tenant"),
        "What slices are made by: parts of a trace, or its tags",
    )
    judge_watch: bool = row(
        True, "Score labelled anchors again every day to see whether the judge moved", name="judge_watch"
    )
    judge_anchors: str | None = row(None, "File of anchors of your own", name="judge_anchors")


@dataclass(frozen=True, kw_only=True)
class SpanSettings(Group):
    """How spans are read and held, and what is written: `SpanSettings(hold=0, conversation_context="user")`."""

    prefix: ClassVar[str] = ""
    argument: ClassVar[str] = "spans"

    hold: float = row(
        10.0,
        "Seconds a span waits for its scores; 0: never",
        must=Must("0 or more seconds, less than a day", lambda value: 0 <= value < _DAY_S),
    )
    conversation_context: Literal["none", "user", "all"] = row(
        "none", "Earlier messages that count as context: none, the user's, or all (the assistant's too)"
    )
    conventions: Sequence[Convention] = part(
        (), "Readers of spans of your own, before the built-in ones", kind=Convention
    )
    attribute_mapping: str | Mapping[str, Any] | None = row(
        None, "Where question, chunks, response stand in spans of your own: JSON, or a file"
    )
    chunk_resolver: ChunkResolver | str | None = row(
        None, "Fetches the texts of chunks that have ids alone: `module:function`, or an object"
    )
    annotations: bool = row(True, "Write Phoenix annotations")
    evaluation_spans: Literal["auto", "always", "late"] = row(
        "auto", "Child spans with the claims as text: always, or for late results only; auto: always beside a Phoenix"
    )
    texts_on_root: bool = row(
        False, "Question and answer on the root span too, where it has none: a list of traces then shows them"
    )


@dataclass(frozen=True, kw_only=True)
class TelemetrySettings(Group):
    """Where metrics and events go: `TelemetrySettings(exporter="prometheus", address="0.0.0.0:9464")`."""

    prefix: ClassVar[str] = "telemetry_"
    argument: ClassVar[str] = "telemetry"

    meter_provider: MeterProvider | None = part(None, "Gets the metrics, in place of the application's global one")
    logger_provider: LoggerProvider | None = part(None, "Gets the events, in place of the application's global one")
    exporter: Literal["application", "otlp", "prometheus", "none"] = row(
        "application",
        "Metrics and events go to the application's providers, over OTLP (as OpenTelemetry's own variables say), or "
        "nowhere; prometheus: metrics to a `/metrics` endpoint, events to the application's provider",
    )
    address: str = row("127.0.0.1:9464", "Where `/metrics` is shown, host:port")


GROUPS: Mapping[str, type[Group]] = {
    group.argument: group for group in (JudgeSettings, AlertSettings, DriftSettings, SpanSettings, TelemetrySettings)
}
"""Argument of `instrument()` -> its group."""
