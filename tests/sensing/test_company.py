"""Hands come in pieces: what is close to an unclear passage is unclear as well."""

from tests.sensing.lines import Lines, pocket

NE = pocket("ne", 0)


def doubts(*pulses: tuple[str, float, float], beams: tuple = (NE,)) -> list[str | None]:  # type: ignore[type-arg]
    lines = Lines(*beams)
    lines.pulses(*pulses)
    return [each.doubt for each in lines.final()]


def test_pieces_of_a_hand_are_unclear_with_the_longest() -> None:
    assert doubts(("ne", 1000, 60), ("ne", 1150, 200), ("ne", 1600, 90)) == ["unclear"] * 3


def test_pieces_hang_together_from_one_to_the_next() -> None:
    assert doubts(("ne", 1000, 200), ("ne", 1450, 60), ("ne", 1700, 60)) == ["unclear"] * 3


def test_300_ms_away_is_a_passage_by_itself() -> None:
    assert doubts(("ne", 1000, 60), ("ne", 1360, 200)) == [None, "unclear"]


def test_two_plain_passages_stay_plain() -> None:
    assert doubts(("ne", 1000, 60), ("ne", 1150, 60)) == [None, None]


def test_a_disc_that_tumbles_long_past_one_of_two_crossed_beams_is_still_plain_in_the_other() -> None:
    crossed = (pocket("a", 0, exclusive="ne"), pocket("b", 1, exclusive="ne"))
    assert doubts(("a", 1000, 200), ("b", 1010, 30), beams=crossed) == [None]
