"""A backend and a collector: `testkit.collector`, under the name by which tests know it."""

from testkit.collector import SCORE, Backend, CollectorProcess, a_backend, a_collector, run

__all__ = ["SCORE", "Backend", "CollectorProcess", "a_backend", "a_collector", "run"]
