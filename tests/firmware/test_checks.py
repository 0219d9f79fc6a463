"""The core under a fuzzer with sanitizers for a bounded time, and all of the C under a static checker."""

import re

import pytest

from tests.firmware.programs import make

pytestmark = pytest.mark.real

FUZZ_SECONDS = 20


def test_any_bytes_at_any_time_break_nothing():
    found = re.fullmatch(r"core: (\d+) scripts, no complaint", make("fuzz", f"FUZZ_SECONDS={FUZZ_SECONDS}").strip())
    assert found is not None
    assert int(found.group(1)) > 1_000


def test_the_static_checker_has_nothing_to_say():
    assert make("lint").strip() == ""


def test_it_fits_and_is_not_built_where_it_would_not(tmp_path):
    """What has grown too large must not pass unnoticed."""
    line = make("size", f"BUILD={tmp_path}")
    used = [int(number) for number in re.findall(r"(\d+) of \d+ bytes", line)]
    assert used[0] <= 8_192
    assert used[1] <= 1_638
    with pytest.raises(AssertionError, match="bytes of RAM"):
        make("size", f"BUILD={tmp_path / 'large'}", "AVR_EXTRA=-DCAPTURE_SLOTS=64u")
