"""OpenTelemetry metrics of results, judges, queues, deliveries and drift.

    results -> TelemetryWriter --+
    guard.counters, gauges ------+-> instruments -> the application's MeterProvider, or one created by rag-otel
                                                    (OTLP, or a /metrics endpoint for Prometheus)

`names` is the table of all instruments. The SDK's metrics are imported only if a setting needs them.
"""
