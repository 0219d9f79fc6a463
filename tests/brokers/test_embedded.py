"""The contract on the embedded broker."""
# ruff: noqa: F403

import pytest

from tests.brokers.contract import *

pytestmark = pytest.mark.real
KIND = "embedded"
