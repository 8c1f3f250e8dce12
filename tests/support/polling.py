"""Waiting for conditions: `testkit.polling`, under the name by which tests know it."""

from testkit.polling import eventually

__all__ = ["eventually"]
