"""A server that keeps what it gets: `testkit.http_receiver`, under the name by which tests know it."""

from testkit.http_receiver import Received, Receiver, http_receiver

__all__ = ["Received", "Receiver", "http_receiver"]
