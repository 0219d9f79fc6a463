"""The contract on RabbitMQ with its MQTT plugin."""
# ruff: noqa: F403

import pytest

from tests.brokers.contract import *

pytestmark = pytest.mark.real
KIND = "rabbitmq"
