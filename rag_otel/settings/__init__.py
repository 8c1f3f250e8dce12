"""Every setting in one table: argument of `instrument()`, environment names, default, meaning.

The table is the class `Settings`: a field is a row. `resolve()` fills it: an argument wins over the environment,
the environment over a file, the file over the default; where each value came from is kept for `rag-otel doctor`.
A server with settings of its own has a table of its own, of the same `row()`s (`rag_otel.settings.rows`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, Literal

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.safety.redaction import redacted_text
from rag_otel.settings.judge_names import judge_problem
from rag_otel.settings.rows import resolve_table, row, shown, variables_of
from rag_otel.settings.unknown import unknown_variables

_ADDRESSES: Final = (
    "telemetry_endpoint",
    "phoenix_endpoint",
    "phoenix_public_url",
    "alert_webhook_url",
    "alert_slack_url",
    "alert_pagerduty_url",
    "alert_alertmanager_urls",
    "alert_chart_url",
    "alert_runbook_url",
)
_STORES: Final = ("memory", "sqlite:", "redis://", "rediss://", "unix://")
_PLAIN: Final = (str, bool, int, float, list, tuple)
_DAY_S: Final = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `instrument()` was told, checked. Times in seconds, sizes in bytes."""

    enabled: bool = row(True, "False: nothing is attached, nothing is evaluated", "RAG_OTEL_ENABLED")
    judge: str = row(
        "embedded",
        "Who judges: `embedded`, a model (`openai/gpt-4o-mini`), `decisions/...`, `hhem`, `local/...`, `cascade/...`",
        "RAG_OTEL_JUDGE",
    )
    judge_api_base: str | None = row(
        None, "Address of the judge's server, where it is your own", "RAG_OTEL_JUDGE_API_BASE"
    )
    judge_strategy: Literal["single", "two_step", "classifier"] = row(
        "single",
        "A model judges in one call, in two as RAGAS, or writes the statements that a classifier judges",
        "RAG_OTEL_JUDGE_STRATEGY",
    )
    judge_classifier: str = row(
        "embedded", "Who judges in the strategy `classifier`: `embedded` or `hhem/...`", "RAG_OTEL_JUDGE_CLASSIFIER"
    )
    judge_concurrency: int = row(8, "Calls of the judge at once", "RAG_OTEL_JUDGE_CONCURRENCY")
    judge_calls_per_minute: float | None = row(
        None, "Most calls of a judge that is a model, a minute, in each process", "RAG_OTEL_JUDGE_CALLS_PER_MINUTE"
    )
    judge_tokens_per_minute: float | None = row(
        None, "Most tokens of it, in and out, a minute, in each process", "RAG_OTEL_JUDGE_TOKENS_PER_MINUTE"
    )
    judge_usd_per_minute: float | None = row(
        None, "Most US dollars that it may cost a minute, in each process", "RAG_OTEL_JUDGE_USD_PER_MINUTE"
    )
    judge_input_price: float | None = row(
        None,
        "US dollars for a million tokens of input of a decision model, instead of the price that is known",
        "RAG_OTEL_JUDGE_INPUT_PRICE",
    )
    judge_check_end_every: int = row(
        1,
        "Of so many answers a decision model is asked about the end of what it was sent with one; 0: with none",
        "RAG_OTEL_JUDGE_CHECK_END_EVERY",
    )
    judge_mask: tuple[str, ...] = row(
        ("secrets",),
        "What is masked before it leaves for a judge over HTTP: secrets, email, phone, iban, card, ip; `none` alone",
        "RAG_OTEL_JUDGE_MASK",
    )
    judge_mask_engine: Any = row(
        None, "Finds more to mask: `presidio`, `module:object`, or an object", "RAG_OTEL_JUDGE_MASK_ENGINE"
    )
    judge_local_only: tuple[str, ...] = row(
        (), "Routes and tags whose traces only local judges see: `support*`, `tenant:acme`", "RAG_OTEL_JUDGE_LOCAL_ONLY"
    )
    judge_record_file: str | None = row(
        None, "File that shows what left for which judge, JSON Lines", "RAG_OTEL_JUDGE_RECORD_FILE"
    )
    judge_cache: str | None = row(
        None,
        "Where answers of a judge that is a model are kept: `memory`, `sqlite:/path`, `redis://host`; None: nowhere",
        "RAG_OTEL_JUDGE_CACHE",
    )
    judge_cache_keep: float = row(604_800.0, "Seconds for which they are kept", "RAG_OTEL_JUDGE_CACHE_KEEP")
    metrics: tuple[str, ...] = row(("faithfulness",), "Metrics to evaluate", "RAG_OTEL_METRICS")
    embedder: str | None = row(
        None, "Embedding model of `response_relevancy`; None: one that needs no key", "RAG_OTEL_EMBEDDER"
    )
    language: str = row("en", "Language of the judges' prompts", "RAG_OTEL_LANGUAGE")
    prompt_folder: str | None = row(None, "Prompts of your own, before the built-in ones", "RAG_OTEL_PROMPT_FOLDER")
    sample_ratio: float = row(1.0, "Share of traces to evaluate, 0..1", "RAG_OTEL_SAMPLE_RATIO")
    sampling_seed: int = row(0, "Seed of the coin; replicas with one seed agree", "RAG_OTEL_SAMPLING_SEED")
    sampling_policy: str | Mapping[str, Any] | None = row(
        None,
        "In place of `sample_ratio`: rules for what is evaluated; a TOML or JSON file, or JSON",
        "RAG_OTEL_SAMPLING_POLICY",
    )
    budgets: tuple[str, ...] = row(
        (), "What judging may cost: `5 usd/day`, `200000 tokens/hour`, `1 usd/day/tenant`", "RAG_OTEL_BUDGETS"
    )
    budget_store: str | None = row(
        None,
        "Where processes share budgets: `memory`, `sqlite:/path`, `redis://host`; None: a file in `state_folder`",
        "RAG_OTEL_BUDGET_STORE",
    )
    evaluations_per_minute: float | None = row(
        None,
        "Cap; 600 for the embedded judge, for any other it must be given; inf: none",
        "RAG_OTEL_EVALUATIONS_PER_MINUTE",
    )
    conversation_context: Literal["none", "user", "all"] = row(
        "none",
        "Earlier messages that count as context: none, the user's, or all (the assistant's too)",
        "RAG_OTEL_CONVERSATION_CONTEXT",
    )
    attribute_mapping: str | Mapping[str, Any] | None = row(
        None,
        "Where question, chunks, response stand in spans of your own: JSON, or a file",
        "RAG_OTEL_ATTRIBUTE_MAPPING",
    )
    chunk_resolver: str | None = row(
        None, "Fetches the texts of chunks that have ids alone: `module:function`", "RAG_OTEL_CHUNK_RESOLVER"
    )
    chunk_resolver_timeout: float = row(5.0, "Seconds for the texts of one trace", "RAG_OTEL_CHUNK_RESOLVER_TIMEOUT")
    hold: float = row(10.0, "Seconds a span waits for its scores; 0: never", "RAG_OTEL_HOLD")
    max_held: int = row(256, "Spans held at once, at most", "RAG_OTEL_MAX_HELD")
    max_held_bytes: int = row(32 * 2**20, "Bytes of text held at once", "RAG_OTEL_MAX_HELD_BYTES")
    calibration_file: str | None = row(
        None, "A file of `rag-otel calibrate`, applied to every result", "RAG_OTEL_CALIBRATION_FILE"
    )
    evaluation_timeout: float = row(60.0, "Seconds for one evaluation", "RAG_OTEL_EVALUATION_TIMEOUT")
    capture_content: bool = row(True, "False: no text in what is written back", "RAG_OTEL_CAPTURE_CONTENT")
    texts_on_root: bool = row(
        False,
        "Question and answer on the root span too, where it has none: a list of traces then shows them",
        "RAG_OTEL_TEXTS_ON_ROOT",
    )
    claims_format: Literal["flat", "json"] = row(
        "flat", "Claims as flat keys, or as one JSON string", "RAG_OTEL_CLAIMS_FORMAT"
    )
    max_claims: int = row(30, "Claims written on a span; the rest is counted", "RAG_OTEL_MAX_CLAIMS")
    phoenix_endpoint: str | None = row(
        None,
        "Phoenix's address, http://host:6006",
        "RAG_OTEL_PHOENIX_ENDPOINT",
        "PHOENIX_COLLECTOR_ENDPOINT",
    )
    phoenix_api_key: str | None = row(
        None, "Phoenix's API key", "RAG_OTEL_PHOENIX_API_KEY", "PHOENIX_API_KEY", secret=True
    )
    phoenix_public_url: str | None = row(
        None, "Phoenix's address for links, where it differs", "RAG_OTEL_PHOENIX_PUBLIC_URL"
    )
    project_name: str | None = row(None, "Phoenix project", "RAG_OTEL_PROJECT_NAME", "PHOENIX_PROJECT_NAME")
    evaluation_spans: Literal["auto", "always", "late"] = row(
        "auto",
        "Child spans with the claims as text: always, or for late results only; auto: always beside a Phoenix",
        "RAG_OTEL_EVALUATION_SPANS",
    )
    annotations: bool = row(True, "Write Phoenix annotations", "RAG_OTEL_ANNOTATIONS")
    feedback_key: str | None = row(
        None,
        "Key of the hash of `feedback(user_id=...)`, the same in all processes",
        "RAG_OTEL_FEEDBACK_KEY",
        secret=True,
    )
    alert_webhook_url: str | None = row(None, "Where alerts are POSTed", "RAG_OTEL_ALERT_WEBHOOK_URL", secret=True)
    alert_webhook_secret: str | None = row(
        None, "Key of the webhook's signature: `whsec_` and base64", "RAG_OTEL_ALERT_WEBHOOK_SECRET", secret=True
    )
    alert_slack_url: str | None = row(
        None, "Slack's incoming webhook, the whole address", "RAG_OTEL_ALERT_SLACK_URL", secret=True
    )
    alert_pagerduty_key: str | None = row(
        None, "PagerDuty's integration key (Events API v2)", "RAG_OTEL_ALERT_PAGERDUTY_KEY", secret=True
    )
    alert_pagerduty_url: str = row(
        "https://events.pagerduty.com/v2/enqueue",
        "PagerDuty's address; differs in the EU",
        "RAG_OTEL_ALERT_PAGERDUTY_URL",
    )
    alert_alertmanager_urls: tuple[str, ...] = row(
        (), "Alertmanagers, every one of a cluster, http://host:9093", "RAG_OTEL_ALERT_ALERTMANAGER_URLS"
    )
    alert_alertmanager_authorization: str | None = row(
        None,
        "Their Authorization header: `Bearer ...`, `Basic ...`",
        "RAG_OTEL_ALERT_ALERTMANAGER_AUTHORIZATION",
        secret=True,
    )
    alert_email_to: tuple[str, ...] = row((), "Who gets alerts by mail", "RAG_OTEL_ALERT_EMAIL_TO")
    alert_email_from: str | None = row(None, "Sender of these mails", "RAG_OTEL_ALERT_EMAIL_FROM")
    alert_smtp_url: str | None = row(
        None,
        "Mail server: smtps://user@host:465 (TLS), smtp://user@host:587 (STARTTLS)",
        "RAG_OTEL_ALERT_SMTP_URL",
    )
    alert_smtp_password: str | None = row(
        None, "Password at the mail server", "RAG_OTEL_ALERT_SMTP_PASSWORD", secret=True
    )
    alert_apprise_urls: tuple[str, ...] = row(
        (), "Any other service, by apprise's addresses (extra `apprise`)", "RAG_OTEL_ALERT_APPRISE_URLS", secret=True
    )
    alert_timeout: float = row(10.0, "Seconds for one attempt to send an alert", "RAG_OTEL_ALERT_TIMEOUT")
    alert_cooldown: float = row(300.0, "Seconds between alerts of one fingerprint", "RAG_OTEL_ALERT_COOLDOWN")
    alert_remind: float = row(
        0.0, "Seconds after which a problem that is still open is told again; 0: never", "RAG_OTEL_ALERT_REMIND"
    )
    alerts_per_minute: int = row(10, "Alerts a minute, at most", "RAG_OTEL_ALERTS_PER_MINUTE")
    alert_rules: tuple[str, ...] = row(
        ("unfaithful",), "Which answers raise an alert, see the page on alerts", "RAG_OTEL_ALERT_RULES"
    )
    alert_resolve_after: float = row(
        900.0, "Seconds without a bad answer until a problem is over; 0: never", "RAG_OTEL_ALERT_RESOLVE_AFTER"
    )
    alert_log_texts: bool = row(
        False,
        "True: the log's alerts quote question, answer and claims; False: ids and counts",
        "RAG_OTEL_ALERT_LOG_TEXTS",
    )
    alert_digest: float = row(10.0, "Seconds of alerts that become one message; 0: at once", "RAG_OTEL_ALERT_DIGEST")
    alert_quiet_hours: tuple[str, ...] = row(
        (), "When only what is critical is told: `22:00-07:00 Europe/Berlin`", "RAG_OTEL_ALERT_QUIET_HOURS"
    )
    alert_page_precision: float = row(
        0.5,
        "One answer pages where at least this share of such alerts is right; others are told once a day; 0: all page",
        "RAG_OTEL_ALERT_PAGE_PRECISION",
    )
    alert_bad_share: float = row(
        0.05, "Share of bad answers in your traffic, for how often alerts are right", "RAG_OTEL_ALERT_BAD_SHARE"
    )
    alert_precision_file: str | None = row(
        None, "How often a judge is right: output of `rag-otel judge check`, or counts", "RAG_OTEL_ALERT_PRECISION_FILE"
    )
    alert_worst_per_day: int | None = row(
        None, "Tell so many answers a day, the worst, in one message; None: by rules", "RAG_OTEL_ALERT_WORST_PER_DAY"
    )
    alert_chart_url: str | None = row(
        None,
        "Dashboard that alerts link to; `{service}`, `{route}`, `{from}`, `{to}` are filled in",
        "RAG_OTEL_ALERT_CHART_URL",
    )
    alert_runbook_url: str | None = row(
        None, "Page of the runbook; its sections are named like the alerts", "RAG_OTEL_ALERT_RUNBOOK_URL"
    )
    slo_target: float | None = row(
        None, "Share of answers that must be good, e.g. 0.95; None: no objective", "RAG_OTEL_SLO_TARGET"
    )
    slo_threshold: float = row(0.7, "An answer that scores above it is good", "RAG_OTEL_SLO_THRESHOLD")
    alert_silence: float = row(
        900.0, "Seconds of traces without any evaluation that raise an alert; 0: never", "RAG_OTEL_ALERT_SILENCE"
    )
    alert_failing_share: float = row(
        0.5, "Share of failed evaluations in ten minutes that raises an alert; 0: never", "RAG_OTEL_ALERT_FAILING_SHARE"
    )
    drift: bool = row(True, "Watch scores, risks and the unjudged share for drift", "RAG_OTEL_DRIFT")
    drift_baseline: str | None = row(
        None,
        "What is normal: a mean score 0..1, or a file of means; None: learned from the first evaluations",
        "RAG_OTEL_DRIFT_BASELINE",
    )
    drift_baseline_count: int = row(500, "Evaluations that a baseline is learned from", "RAG_OTEL_DRIFT_BASELINE_COUNT")
    drift_margin: float = row(0.0, "Drops of a mean that do not matter, 0..1", "RAG_OTEL_DRIFT_MARGIN")
    drift_run_length: float = row(
        10_000.0, "Evaluations between two false alarms of drift, at least, on average", "RAG_OTEL_DRIFT_RUN_LENGTH"
    )
    drift_slices: tuple[str, ...] = row(
        ("service", "route", "model", "prompt_version", "tenant"),
        "What slices are made by: parts of a trace, or its tags",
        "RAG_OTEL_DRIFT_SLICES",
    )
    judge_watch: bool = row(True, "Score labelled anchors again to see whether the judge moved", "RAG_OTEL_JUDGE_WATCH")
    judge_watch_interval: float = row(86_400.0, "Seconds between two scorings of them", "RAG_OTEL_JUDGE_WATCH_INTERVAL")
    judge_anchors: str | None = row(None, "File of anchors of your own", "RAG_OTEL_JUDGE_ANCHORS")
    state_folder: str | None = row(
        None, "Where what must survive a restart is kept; processes that share it watch as one", "RAG_OTEL_STATE_FOLDER"
    )
    job_queue_url: str | None = row(
        None,
        "Broker of evaluation jobs, amqp://user:password@host:5672/: then `rag-otel work` evaluates, not this process",
        "RAG_OTEL_JOB_QUEUE_URL",
        secret=True,
    )
    job_queue_name: str = row("rag-otel", "Prefix of the names of its queues", "RAG_OTEL_JOB_QUEUE_NAME")
    job_queue_partitions: int = row(4, "Queues that the tenants share", "RAG_OTEL_JOB_QUEUE_PARTITIONS")
    job_queue_prefetch: int = row(
        8, "Jobs of one partition that a worker evaluates at a time", "RAG_OTEL_JOB_QUEUE_PREFETCH"
    )
    job_queue_max_jobs: int = row(
        100_000, "Jobs that wait in one partition, at most; then the broker refuses", "RAG_OTEL_JOB_QUEUE_MAX_JOBS"
    )
    job_queue_max_starts: int = row(
        5, "Starts of a job until it becomes a dead letter, at least 2", "RAG_OTEL_JOB_QUEUE_MAX_STARTS"
    )
    job_queue_retry_delays: tuple[str, ...] = row(
        ("1", "10", "60"),
        "Seconds between the starts of a job that failed; the last one is repeated",
        "RAG_OTEL_JOB_QUEUE_RETRY_DELAYS",
    )
    job_queue_buffer_bytes: int = row(
        32 * 2**20,
        "Jobs that the application keeps while the broker is away, bytes of text",
        "RAG_OTEL_JOB_QUEUE_BUFFER_BYTES",
    )
    telemetry_exporter: Literal["application", "otlp", "prometheus", "none"] = row(
        "application",
        "Metrics go to the application's MeterProvider, over OTLP, to a `/metrics` endpoint, or nowhere",
        "RAG_OTEL_TELEMETRY_EXPORTER",
    )
    events_exporter: Literal["application", "otlp", "none"] = row(
        "application",
        "Events go to the application's LoggerProvider, over OTLP, or nowhere",
        "RAG_OTEL_EVENTS_EXPORTER",
    )
    telemetry_endpoint: str | None = row(
        None,
        "OTLP/HTTP address of metrics and events; None: as OpenTelemetry's own variables say",
        "RAG_OTEL_TELEMETRY_ENDPOINT",
    )
    telemetry_interval: float = row(60.0, "Seconds between exports of metrics", "RAG_OTEL_TELEMETRY_INTERVAL")
    telemetry_address: str = row("127.0.0.1:9464", "Where `/metrics` is shown, host:port", "RAG_OTEL_TELEMETRY_ADDRESS")

    def __post_init__(self) -> None:
        if (problem := judge_problem(self.judge)) is not None:
            raise ConfigurationError(f"judge (environment: RAG_OTEL_JUDGE): {problem}")
        _require(
            self.judge_cache is None or self.judge_cache.startswith(_STORES),
            "judge_cache",
            self.judge_cache,
            "`memory`, `sqlite:/path/to/file` or `redis://host:6379/0`",
        )
        _require(self.judge_cache_keep > 0, "judge_cache_keep", self.judge_cache_keep, "above 0")
        _require(
            self.budget_store is None or self.budget_store.startswith(_STORES),
            "budget_store",
            self.budget_store,
            "`memory`, `sqlite:/path/to/file` or `redis://host:6379/0`",
        )
        _require(0.0 <= self.sample_ratio <= 1.0, "sample_ratio", self.sample_ratio, "within 0..1")
        _require(0 <= self.hold < _DAY_S, "hold", self.hold, "0 or more seconds, less than a day")
        _require(self.max_held >= 1, "max_held", self.max_held, "at least 1")
        _require(self.max_held_bytes >= 1, "max_held_bytes", self.max_held_bytes, "at least 1")
        _require(self.evaluation_timeout > 0, "evaluation_timeout", self.evaluation_timeout, "above 0")
        _require(self.chunk_resolver_timeout > 0, "chunk_resolver_timeout", self.chunk_resolver_timeout, "above 0")
        _require(self.judge_check_end_every >= 0, "judge_check_end_every", self.judge_check_end_every, "0 or more")
        price = self.judge_input_price
        _require(price is None or price >= 0, "judge_input_price", price, "0 or more")
        for name in ("judge_calls_per_minute", "judge_tokens_per_minute", "judge_usd_per_minute"):
            cap = getattr(self, name)
            _require(cap is None or cap > 0, name, cap, "above 0")
        _require(self.max_claims >= 0, "max_claims", self.max_claims, "0 or more")
        slo = self.slo_target
        _require(slo is None or 0 < slo < 1, "slo_target", slo, "between 0 and 1")
        _require(0 <= self.slo_threshold <= 1, "slo_threshold", self.slo_threshold, "within 0..1")
        _require(self.alert_silence >= 0, "alert_silence", self.alert_silence, "0 or more seconds")
        share = self.alert_failing_share
        _require(0 <= share <= 1, "alert_failing_share", share, "within 0..1")
        _require(self.alert_cooldown >= 0, "alert_cooldown", self.alert_cooldown, "0 or more seconds")
        _require(self.alert_remind >= 0, "alert_remind", self.alert_remind, "0 or more seconds")
        _require(self.alert_resolve_after >= 0, "alert_resolve_after", self.alert_resolve_after, "0 or more seconds")
        precision, bad, worst = self.alert_page_precision, self.alert_bad_share, self.alert_worst_per_day
        _require(0 <= precision <= 1, "alert_page_precision", precision, "within 0..1")
        _require(0 < bad < 1, "alert_bad_share", bad, "between 0 and 1")
        _require(worst is None or worst >= 1, "alert_worst_per_day", worst, "at least 1")
        _require(self.alert_digest >= 0, "alert_digest", self.alert_digest, "0 or more seconds")
        _require(self.drift_baseline_count >= 2, "drift_baseline_count", self.drift_baseline_count, "at least 2")
        _require(0 <= self.drift_margin < 1, "drift_margin", self.drift_margin, "0 or more, below 1")
        _require(self.drift_run_length >= 10, "drift_run_length", self.drift_run_length, "at least 10")
        _require(self.judge_watch_interval > 0, "judge_watch_interval", self.judge_watch_interval, "above 0")
        for name in ("partitions", "prefetch", "max_jobs", "buffer_bytes"):
            _require(
                getattr(self, f"job_queue_{name}") >= 1,
                f"job_queue_{name}",
                getattr(self, f"job_queue_{name}"),
                "at least 1",
            )
        _require(self.job_queue_max_starts >= 2, "job_queue_max_starts", self.job_queue_max_starts, "at least 2")
        delays = self.job_queue_retry_delays
        _require(bool(delays) and all(map(_is_positive, delays)), "job_queue_retry_delays", delays, "seconds above 0")
        url = self.job_queue_url
        _require(
            url is None or not url.startswith(("nats://", "tls://")),
            "job_queue_url",
            url,
            "RabbitMQ's address, amqp://user:password@host:5672/: jobs on NATS ended with 0.1 (let the workers of 0.1 "
            "empty its streams first)",
        )
        _require(url is None or url.startswith(("amqp://", "amqps://")), "job_queue_url", url, "an amqp(s) address")
        _require(
            url is None or self.capture_content,
            "capture_content",
            False,
            "True with a job_queue_url: jobs carry the texts. Without a job_queue_url, texts stay in the process",
        )
        _require(self.telemetry_interval > 0, "telemetry_interval", self.telemetry_interval, "above 0")
        _require(self.alert_timeout > 0, "alert_timeout", self.alert_timeout, "above 0")
        for name in _ADDRESSES:
            given = getattr(self, name)
            for value in given if isinstance(given, tuple) else (given,):
                _require(value is None or value.startswith(("http://", "https://")), name, value, "an http(s) address")


def _is_positive(text: str) -> bool:
    try:
        return 0 < float(text) < _DAY_S
    except ValueError:
        return False


def _require(holds: bool, name: str, value: object, wanted: str) -> None:
    if not holds:
        metadata = Settings.__dataclass_fields__[name].metadata
        found = shown(value, metadata["secret"]) if metadata["secret"] else redacted_text(repr(value))
        raise ConfigurationError(f"{name} (environment: {metadata['env'][0]}) must be {wanted}, not {found}")


@dataclass(frozen=True, kw_only=True)
class ResolvedSettings:
    """Settings and where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Field name -> `argument`, `environment RAG_OTEL_...` or `default`."""

    def rows(self) -> list[tuple[str, str, str]]:
        """(name, value with secrets masked, origin) for every setting, in the table's order."""
        return [
            (each.name, shown(getattr(self.settings, each.name), each.metadata["secret"]), self.origins[each.name])
            for each in dataclasses.fields(Settings)
        ]


def sends_over_http(settings: Settings) -> bool:
    """True where results, alerts or telemetry go to a server that the settings name."""
    changed = [each.name for each in dataclasses.fields(Settings) if getattr(settings, each.name) != each.default]
    return any(name in _ADDRESSES or name.startswith(("alert_", "telemetry_")) for name in changed)


def unread_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """The RAG_OTEL_* variables that no setting reads, each with the nearest one that is."""
    return unknown_variables(variables_of(Settings), environ)


def resolve(
    arguments: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    file: Mapping[str, Any] | None = None,
) -> ResolvedSettings:
    """Fill the table. `arguments` are rows, or tables of them (`rag_otel.settings.tables`); those that are None count
    as not given. `file` is what a file of settings says.

    Raises ConfigurationError that names the setting, the value and where it came from.
    """
    values, origins = resolve_table(Settings, _rows(arguments or {}), environ, file=_rows(file or {}))
    return ResolvedSettings(settings=Settings(**values), origins=origins)


def _rows(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Row -> value, of rows and tables of rows."""
    if all(value is None or isinstance(value, _PLAIN) for value in arguments.values()):
        return dict(arguments)
    from rag_otel.settings.tables import flat  # most applications give no table

    return flat(arguments)
