"""The contract on NATS with JetStream."""
# ruff: noqa: F403

import pytest

from tests.brokers.contract import *

pytestmark = pytest.mark.real
KIND = "nats"
