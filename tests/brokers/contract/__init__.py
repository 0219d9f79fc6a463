"""The contract: what tables, their displays and other programs rely on at a broker, one file a concern.

`test_<broker>.py` beside this package takes all of it in, for one broker each.
"""
# ruff: noqa: F403

from tests.brokers.contract.clients import *
from tests.brokers.contract.payloads import *
from tests.brokers.contract.restart import *
from tests.brokers.contract.retained import *
from tests.brokers.contract.sessions import *
from tests.brokers.contract.takeover import *
from tests.brokers.contract.told import *
from tests.brokers.contract.wildcards import *
from tests.brokers.contract.wills import *
