"""By which id a broker knows a table."""

from appliance.mqtt.identity import client_id


def test_without_a_password_it_is_plain() -> None:
    assert client_id("club-1", None) == "pocketbeam-club-1"


def test_with_one_it_is_the_same_each_time_and_for_that_table_and_password_alone() -> None:
    made = client_id("club-1", "secret")
    assert made.startswith("pocketbeam-club-1-")
    assert "secret" not in made
    assert made == client_id("club-1", "secret")
    assert len({made, client_id("club-2", "secret"), client_id("club-1", "Secret"), client_id("club-1", "")}) == 4
