"""Hands come in pieces: what is close to an unclear passage is unclear as well."""

from dataclasses import replace

import pytest

from appliance.sensing.bank import InputNoisy, Uncounted
from appliance.sensing.debounce import CARROM_POCKET
from tests.sensing.lines import MS, Lines, pocket

NE = pocket("ne", 0)


def doubts(*pulses: tuple[str, float, float], beams: tuple = (NE,)) -> list[str | None]:  # type: ignore[type-arg]
    lines = Lines(*beams)
    lines.pulses(*pulses)
    return [each.doubt for each in lines.final()]


def test_pieces_of_a_hand_are_unclear_with_the_longest() -> None:
    assert doubts(("ne", 1000, 60), ("ne", 1150, 200), ("ne", 1600, 90)) == ["unclear"] * 3


def test_pieces_hang_together_from_one_to_the_next() -> None:
    assert doubts(("ne", 1000, 200), ("ne", 1450, 60), ("ne", 1700, 60)) == ["unclear"] * 3


def test_what_hangs_together_with_a_short_piece_does_so_too() -> None:
    pieces = ("chute", 800, 15), ("chute", 1000, 40), ("chute", 1250, 50), ("chute", 1700, 50)
    assert doubts(*pieces, beams=(CHUTE,)) == ["unclear", "unclear", None]


def test_300_ms_away_is_a_passage_by_itself() -> None:
    assert doubts(("ne", 1000, 60), ("ne", 1360, 200)) == [None, "unclear"]


def test_two_plain_passages_stay_plain() -> None:
    assert doubts(("ne", 1000, 60), ("ne", 1150, 60)) == [None, None]


def test_a_disc_that_tumbles_long_past_one_of_two_crossed_beams_is_still_plain_in_the_other() -> None:
    crossed = (pocket("a", 0, exclusive="ne"), pocket("b", 1, exclusive="ne"))
    assert doubts(("a", 1000, 200), ("b", 1010, 30), beams=crossed) == [None]


ONE_AT_A_TIME = pocket("ne", 0, settings=replace(CARROM_POCKET, crowd=1))


@pytest.mark.parametrize(("hand_from", "doubt"), [(2999, "unclear"), (3000, None)])
def test_a_hand_counts_in_a_crowd(hand_from: int, doubt: str | None) -> None:
    lines = Lines(ONE_AT_A_TIME)
    lines.pulses(("ne", 1000, 46), ("ne", hand_from, 840))
    assert [(each.doubt, each.reason) for each in lines.final()] == [(doubt, None), (None, Uncounted.HAND)]


def test_the_pieces_of_a_hand_are_one_of_a_crowd() -> None:
    pieces = [("ne", 1000, 500), ("ne", 1600, 60), ("ne", 1800, 60)]
    assert doubts(*pieces, ("ne", 2400, 30), ("ne", 2900, 30)) == [None] * 5
    assert doubts(*pieces, ("ne", 2200, 30), ("ne", 2550, 30), ("ne", 2900, 30))[3:] == ["unclear"] * 3


def test_what_was_in_a_crowd_is_not_told_anew_when_the_crowd_is_forgotten() -> None:
    lines = Lines(NE)
    lines.pulses(*(("ne", 1000 + 450 * n, 30) for n in range(4)))
    assert [each.doubt for each in lines.final()] == ["unclear"] * 4
    told = len(lines.signals)
    lines.pulses(("ne", 32_000, 30), ("ne", 33_000, 30))
    assert [each.passage.started_ns for each in lines.signals[told:]] == [32_000_000_000, 33_000_000_000]  # type: ignore[union-attr]


# -- pieces that are too short for a passage

SLIDES = replace(CARROM_POCKET, min_dwell_ns=20 * MS)
CHUTE = pocket("chute", 0, passes=("striker",), settings=SLIDES)


def beside(*pulses: tuple[float, float]) -> list[str | None]:
    """What is in doubt about a striker that passes from 1000 to 1060 ms, with these shorter breaks near it."""
    return doubts(("chute", 1000, 60), *(("chute", start, width) for start, width in pulses), beams=(CHUTE,))


@pytest.mark.parametrize("piece", [(760, 15), (690, 19.9), (1135, 1.5), (1359, 5)])
def test_what_comes_with_shorter_pieces_is_a_hand_perhaps(piece: tuple[float, float]) -> None:
    assert beside(piece) == ["unclear"]


@pytest.mark.parametrize(
    ("piece", "why"),
    [
        ((940, 15), "its own bounce"),
        ((1120, 15), "its own bounce"),
        ((680, 15), "300 ms before it"),
        ((1360, 15), "300 ms after it"),
        ((1200, 1.4), "a spike"),
    ],
)
def test_what_is_no_piece_of_a_hand_leaves_it_plain(piece: tuple[float, float], why: str) -> None:
    assert beside(piece) == [None], why


SLOW_PIECE = replace(CARROM_POCKET, min_dwell_ns=6 * MS, unclear_from_ns=55 * MS)
MEN = pocket("men", 0, settings=SLOW_PIECE)


@pytest.mark.parametrize("spike", [0.3, 0.8, 1.4])
def test_a_spike_between_two_pieces_of_a_hand_holds_them_together(spike: float) -> None:
    assert doubts(("men", 1000, 35), ("men", 1171, spike), ("men", 1464, 130), beams=(MEN,)) == ["unclear"] * 2
    # A striker that slides by, and a stir: 519 ms between them, a spike halfway.
    stir = ("chute", 1393, spike), ("chute", 1640, 2.8)
    assert doubts(("chute", 1000, 122), *stir, beams=(CHUTE,)) == ["unclear"]
    lines = Lines(NE)
    lines.pulses(("ne", 1000, 60), ("ne", 1200, spike), ("ne", 1450, 500))
    assert [each.reason for each in lines.final()] == [Uncounted.HAND] * 2


TWO_FINGERS = replace(SLOW_PIECE, fingers_from_ns=45 * MS)


@pytest.mark.parametrize(
    ("widths", "gap", "doubt"),
    [((45, 20), 299, "unclear"), ((20, 45), 299, "unclear"), ((44.9, 20), 299, None), ((45, 20), 300, None)],
)
def test_a_slow_passage_with_another_beside_it_is_a_finger_perhaps(
    widths: tuple[float, float], gap: float, doubt: str | None
) -> None:
    first, second = widths
    passes = ("men", 1000, first), ("men", 1000 + first + gap, second)
    assert doubts(*passes, beams=(replace(MEN, settings=TWO_FINGERS),)) == [doubt, doubt]
    assert doubts(*passes, beams=(MEN,)) == [None, None]


def test_a_glitch_holds_nothing_together() -> None:
    assert doubts(("men", 1000, 35), ("men", 1171, 0.2), ("men", 1464, 130), beams=(MEN,)) == [None, "unclear"]


def test_a_lamp_holds_nothing_together() -> None:
    spikes = [("men", 1040 + 100 * n, 1.0) for n in range(4)]
    assert doubts(("men", 1000, 35), *spikes, ("men", 1464, 130), beams=(MEN,)) == [None, "unclear"]


def test_the_bounce_of_a_piece_holds_it_together_with_the_next() -> None:
    pieces = ("men", 1000, 50), ("men", 1191, 31), ("men", 1283, 3), ("men", 1559, 114)
    assert doubts(*pieces, beams=(MEN,)) == ["unclear"] * 3


@pytest.mark.parametrize(("passes", "doubt"), [(("striker",), "unclear"), (("striker", "white"), "possibly_two")])
def test_what_would_be_two_strikers_is_unclear(passes: tuple[str, ...], doubt: str) -> None:
    slide = pocket("chute", 0, passes=passes, settings=replace(SLIDES, long_single_ns=None, long_single_percent=None))
    assert doubts(("chute", 1000, 60), ("chute", 1125, 61), beams=(slide,)) == [doubt]
    assert doubts(("chute", 1000, 140), beams=(slide,)) == [None], "a slow one is one"
    thrown = pocket("chute", 0, passes=passes, settings=SLIDES)
    assert doubts(("chute", 1000, 60), ("chute", 1125, 61), beams=(thrown,)) == ["possibly_two"], "or bounces on a rim"


def test_the_bounce_of_one_disc_says_nothing_of_the_next() -> None:
    discs = ("chute", 1000, 40), ("chute", 1060, 4), ("chute", 1200, 40)
    assert doubts(*discs, beams=(CHUTE,)) == [None, None]


def test_shorter_pieces_alone_are_nothing() -> None:
    assert beside() == [None]
    assert doubts(("chute", 1000, 15), ("chute", 1200, 19), beams=(CHUTE,)) == []


def test_a_short_piece_at_another_beam_says_nothing() -> None:
    other = pocket("other", 1, passes=("striker",), settings=SLIDES)
    assert doubts(("chute", 1000, 60), ("other", 1200, 15), beams=(CHUTE, other)) == [None]


@pytest.mark.parametrize(("width_ms", "noisy"), [(1.4, False), (1.5, True), (15, True)])
def test_a_beam_whose_passages_take_long_is_as_noisy_as_any_other(width_ms: float, noisy: bool) -> None:
    lines = Lines(CHUTE)
    lines.pulses(*(("chute", 1000 + 75 * n, width_ms) for n in range(26)))
    assert bool(lines.told(InputNoisy)) is noisy
