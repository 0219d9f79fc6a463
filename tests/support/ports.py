"""Ports for the servers of tests that run side by side.

They lie below those from which the system takes one for each outgoing connection, so that no connection is in the way
when a server is started, or started again, a moment later; and each worker of the tests has its own.
"""

import itertools
import os
import socket
from collections.abc import Iterator

HOST = "127.0.0.1"
_FIRST, _EACH, _WORKERS = 20_000, 1_500, 8


def _turns() -> Iterator[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = _FIRST + worker * _EACH
    # Runs one after the other begin elsewhere: a port that was just in use may not be free at once.
    for number in itertools.count(os.getpid() * 7):
        yield first + number % _EACH


_TURNS = _turns()


def free_port() -> int:
    """A loopback port that nobody uses, and that nobody else is given."""
    for port in itertools.islice(_TURNS, _EACH):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                continue
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise AssertionError("every port is in use")
