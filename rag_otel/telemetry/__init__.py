"""OpenTelemetry metrics of results, judges, queues, deliveries and drift.

    results -> TelemetryWriter -> instruments ---+
    guard.counters, readings -> observed --------+-> the application's MeterProvider, or one of our own
                                                      (OTLP, or a /metrics endpoint for Prometheus)

`names` is the table of all instruments; nothing here imports the SDK's metrics before a setting asks for it.
"""
