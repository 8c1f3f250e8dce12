"""Drift that can be believed: weighted series, betting detectors with a guaranteed run length, and a watched judge.

    EvaluatedTrace -> Observation -> Series (history, baseline, detector) -> DriftEvent -> Alert
                      observation    series                                  event         alerting

Standard library alone: an application that is instrumented carries this.
"""
