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


def test_what_was_in_a_crowd_is_not_told_anew_when_the_crowd_is_forgotten() -> None:
    lines = Lines(NE)
    lines.pulses(*(("ne", 1000 + 450 * n, 30) for n in range(4)))
    assert [each.doubt for each in lines.final()] == ["unclear"] * 4
    told = len(lines.signals)
    lines.pulses(("ne", 32_000, 30), ("ne", 33_000, 30))
    assert [each.passage.started_ns for each in lines.signals[told:]] == [32_000_000_000, 33_000_000_000]  # type: ignore[union-attr]
