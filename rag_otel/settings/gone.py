"""What 0.2 took away, and what to write instead: arguments, environment names and commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ALWAYS: Final = "it is always"
_BEHIND_QUEUE: Final = "write it behind job_queue_url, "

GONE_SETTINGS: Final[Mapping[str, str]] = {
    "sampler": "sampling_policy= takes a sampler of your own too",
    "judge_classifier": "with strategy `classifier` the embedded judge judges; for another write evaluators=[...]",
    "judge_calls_per_minute": "evaluations_per_minute is the cap; a provider's own limit (429) is waited for",
    "judge_tokens_per_minute": "write budgets, `200000 tokens/hour`; a provider's own limit (429) is waited for",
    "judge_input_price": "write budgets in tokens where no price is known, `200000 tokens/hour`",
    "judge_check_end_every": "every answer is asked about",
    "judge_cache_keep": "answers are kept for a week",
    "judge_usd_per_minute": "write budgets, `5 usd/day`",
    "sampling_seed": "write `seed` into the sampling policy",
    "chunk_resolver_timeout": f"{_ALWAYS} 5 seconds",
    "claims_format": "claims are always flat keys",
    "max_claims": f"{_ALWAYS} 30",
    "alert_silence": "900 seconds; alert_health=false switches it off",
    "alert_failing_share": "0.5; alert_health=false switches it off",
    "alerts_per_minute": f"{_ALWAYS} 10",
    "alert_timeout": f"{_ALWAYS} 10 seconds",
    "alert_bad_share": f"{_ALWAYS} 0.05",
    "alert_page_precision": f"{_ALWAYS} 0.5; alert_precision=1 tells every bad answer at once",
    "alert_precision_file": "state the share of right alerts: alert_precision=0.9",
    "alert_worst_per_day": "the five worst are told once a day; more are shown by alert_rules=risk>0.3",
    "drift_margin": f"{_ALWAYS} 0",
    "drift_run_length": f"{_ALWAYS} 10,000 evaluations",
    "judge_watch_interval": f"{_ALWAYS} a day",
    "job_queue_name": f"{_BEHIND_QUEUE}?name=...",
    "job_queue_partitions": f"{_BEHIND_QUEUE}?partitions=...",
    "job_queue_prefetch": f"{_BEHIND_QUEUE}?prefetch=...",
    "job_queue_max_jobs": f"{_BEHIND_QUEUE}?max_jobs=...",
    "job_queue_max_starts": f"{_BEHIND_QUEUE}?max_starts=...",
    "job_queue_retry_delays": f"{_BEHIND_QUEUE}?retry_delays=...",
    "job_queue_buffer_bytes": f"{_ALWAYS} 32 MiB",
    "spool_folder": "state_folder keeps admitted traces too",
    "spool_max_bytes": f"{_ALWAYS} 256 MiB a process",
    "spool_max_age": f"{_ALWAYS} 7 days",
    "events_exporter": "telemetry_exporter says where events go too",
    "telemetry_endpoint": "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT and OTEL_EXPORTER_OTLP_LOGS_ENDPOINT, whole addresses",
    "telemetry_interval": "OTEL_METRIC_EXPORT_INTERVAL, in milliseconds, as for the application's own metrics",
    "worker_concurrency": f"{_ALWAYS} 16; workers= and max_memory_bytes= are what scales a collector",
    "retry_after": f"{_ALWAYS} 2 seconds in a collector",
    "max_batch_bytes": f"{_ALWAYS} 3 MiB for a backend",
    "max_held": f"{_ALWAYS} 256; evaluations_per_minute and judge_concurrency say how fast they are judged",
    "max_held_bytes": f"{_ALWAYS} 32 MiB",
    "confirm_s": "over HTTP, Phoenix is asked what it has stored",
    "on_alert": "write alerts=AlertSettings(on_alert=...)",
    "alert_channels": "write alerts=AlertSettings(channels=[...])",
    "conventions": "write spans=SpanSettings(conventions=[...])",
    "meter_provider": "write telemetry=TelemetrySettings(meter_provider=...)",
    "logger_provider": "write telemetry=TelemetrySettings(logger_provider=...)",
}
"""Setting of 0.1 -> what became of it."""

GONE_COMMANDS: Final[Mapping[str, str]] = {
    "backfill": "traces backfill",
    "export": "traces export",
    "sessions": "traces sessions",
    "plan": "traces plan",
    "calibrate": "labels calibrate",
    "review": "labels review",
    "feedback": "labels feedback",
    "prompts": "judge prompts",
}
"""Command of 0.1 -> what to write instead."""
