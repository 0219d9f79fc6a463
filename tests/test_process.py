"""The process around the tables."""

import pytest

from appliance.process import page_address


@pytest.mark.parametrize(
    ("host", "own_name", "address"),
    [
        ("127.0.0.1", "club", "http://127.0.0.1:8080/"),
        ("192.168.1.5", "club", "http://192.168.1.5:8080/"),
        ("table.club.example", "club", "http://table.club.example:8080/"),
        ("0.0.0.0", "club", "http://club.local:8080/"),
        ("::", "club", "http://club.local:8080/"),
        ("0.0.0.0", "club.example.org", "http://club.example.org:8080/"),
        ("::1", "club", "http://[::1]:8080/"),
    ],
)
def test_others_find_a_page_where_it_listens_or_at_this_machine(host: str, own_name: str, address: str) -> None:
    assert page_address(host, 8080, own_name) == address
