"""What Home Assistant makes of a table's documents: one template for each value that it shows.

The documents have a shape for each game, and a template that met a key which is not there would log an error
for each entity and keep the old value. So every template asks which game it is, and says `None` for what that
game does not have: the word by which Home Assistant clears a value. `None` leaves no trace on the wire.

Templates are one line each: what they put out is compared byte for byte.
"""

PLAYERS_LIMIT = 4
"""As many scores as any game has sides."""

_RULES = "{% set r = value_json.rules %}{% set p = value_json.players %}"
_NAMES = "w | map(attribute='name') | join(' & ')"

PHASE = "{{ value_json.rules.phase }}"
PHASE_ATTRIBUTES = (
    "{% set r = value_json.rules %}"
    "{{ {'board': r.get('board'), 'round': r.get('round'), 'paused': value_json.paused,"
    " 'waiting_strokes': value_json.pending | length} | tojson }}"
)

GAME = "{{ value_json.rules.game }}"

# Who is on turn: the number of the player, or none.
_ON_TURN = (
    f"{_RULES}{{% set t = r.turn %}}"
    "{% set n = none if t is none else r.ends[t.end].player if r.game == 'carpetball' else t.player %}"
)
TURN = f"{_ON_TURN}{{{{ None if n is none else p[n - 1].name }}}}"
TURN_ATTRIBUTES = (
    f"{_ON_TURN}"
    "{% set side = none if t is none else t.get('side', t.get('end')) %}"
    "{{ {'player': n, 'side': side, 'must_cover': t is not none and t.get('must_cover', false),"
    " 'final_throw': t is not none and t.get('final_throw', false)} | tojson }}"
)

_WINNERS = (
    f"{_RULES}"
    "{% if r.game == 'money_carrom' %}{% set w = p | selectattr('player', 'in', r.match_winners) | list %}"
    "{% elif r.game == 'carpetball' %}{% set w = p | selectattr('player', 'eq', r.round_winner) | list %}"
    "{% elif r.match_winner in ('A', 'B') %}"
    "{% set w = p | selectattr('player', 'odd' if r.match_winner == 'A' else 'even') | list %}"
    "{% else %}{% set w = [] %}{% endif %}"
)
WINNER = f"{_WINNERS}{{{{ 'draw' if r.get('match_winner') == 'draw' else ({_NAMES}) or None }}}}"
WINNER_ATTRIBUTES = (
    f"{_WINNERS}"
    "{% set l = value_json.last_result %}"
    "{{ {'players': w | map(attribute='player') | list, 'draw': r.get('match_winner') == 'draw',"
    " 'certain': l is none or l.certain} | tojson }}"
)

_SCORES = (
    "{% set r = value_json.rules %}"
    "{% if r.game == 'money_carrom' %}{% set s = r.players | map(attribute='score') | list %}"
    "{% elif r.game == 'carpetball' %}{% set s = [r.ends.north.in_play, r.ends.south.in_play] %}"
    "{% else %}{% set s = [r.sides.A.score, r.sides.B.score] %}{% endif %}"
)


def score(number: int) -> str:
    """The score of side A or B, of a player of Money Carrom, or the balls in play of the north or south end."""
    return f"{_SCORES}{{{{ s[{number - 1}] if s | length >= {number} else None }}}}"


def score_attributes(number: int) -> str:
    """Whose score it is: the names, and the side or end where the game has such."""
    money = f"{{% set w = p | selectattr('player', 'eq', {number}) | list %}}{{% set side = none %}}"
    nobody = "{% set w = [] %}{% set side = none %}"
    ball = carrom = nobody
    if number <= 2:
        end, side, parity = (("north", "A", "odd"), ("south", "B", "even"))[number - 1]
        ball = f"{{% set w = p | selectattr('player', 'eq', r.ends.{end}.player) | list %}}{{% set side = '{end}' %}}"
        carrom = f"{{% set w = p | selectattr('player', '{parity}') | list %}}{{% set side = '{side}' %}}"
    return (
        f"{_RULES}{{% if r.game == 'money_carrom' %}}{money}{{% elif r.game == 'carpetball' %}}{ball}"
        f"{{% else %}}{carrom}{{% endif %}}"
        f"{{{{ {{'who': ({_NAMES}) or none, 'side': side}} | tojson }}}}"
    )


LEFT = (
    "{% set r = value_json.rules %}"
    "{% if r.game == 'money_carrom' %}{{ r.on_board.white + r.on_board.black + r.on_board.queen }}"
    "{% elif r.game == 'carpetball' %}"
    "{{ None if none in (r.ends.north.in_play, r.ends.south.in_play) else"
    " r.ends.north.in_play + r.ends.south.in_play }}"
    "{% else %}{{ 18 - r.sides.A.pocketed - r.sides.B.pocketed + (1 if r.queen.status == 'on_board' else 0) }}"
    "{% endif %}"
)


def left(number: int) -> str:
    """The pieces of side A or B that are on the board, or the balls of the north or south end."""
    side, end = (("A", "north"), ("B", "south"))[number - 1]
    return (
        "{% set r = value_json.rules %}"
        "{% if r.game == 'money_carrom' %}{{ None }}"
        f"{{% elif r.game == 'carpetball' %}}{{{{ r.ends.{end}.in_play }}}}"
        f"{{% else %}}{{{{ 9 - r.sides.{side}.pocketed }}}}{{% endif %}}"
    )


QUESTION = "{{ 'ON' if value_json.questions else 'OFF' }}"
QUESTION_ATTRIBUTES = (
    "{% set q = (value_json.questions or [{}])[0] %}"
    "{{ {'questions': value_json.questions | length, 'kind': q.get('kind'), 'place': q.get('place'),"
    " 'stroke': q.get('stroke'), 'candidates': q.get('candidates')} | tojson }}"
)

LATE_AFTER_S = 30
_LATE = f"value_json.clock_synchronised and (utcnow() - as_datetime(value_json.at)).total_seconds() > {LATE_AFTER_S}"
"""Events wait for a broker that is away, and nobody wants a light to flash for a stroke of an hour ago. What has no
event comes out of a template as nothing, which Home Assistant ignores.
"""
EVENT = f"{{{{ '' if {_LATE} else dict(value_json, event_type=value_json.event) | tojson }}}}"
EVENT_NAME = f"{{{{ '' if {_LATE} else value_json.event }}}}"
MATCH_WON = (
    f"{{{{ 'won' if not ({_LATE}) and (value_json.event == 'round_won' or (value_json.event == 'match_ended'"
    " and value_json.get('winner') != 'draw' and value_json.get('winners') != [])) else '' }}"
)
"""Carpetball is played round by round: who wins a round has won what there is to win."""


def beam_problem(beam: str, source: str) -> str:
    """Whether a beam needs a hand; nobody can say while its source is not heard."""
    return (
        f"{{% set b = value_json.beams.get('{beam}') %}}{{% set s = value_json.sources.get('{source}') %}}"
        "{{ None if b is none or s is none or s.state != 'ok'"
        " else 'OFF' if b.state == 'ok' else 'ON' }}"
    )


def source_problem(source: str) -> str:
    """Whether a source is missing."""
    return (
        f"{{% set s = value_json.sources.get('{source}') %}}"
        "{{ None if s is none else 'OFF' if s.state == 'ok' else 'ON' }}"
    )


def condition_attributes(part: str, name: str) -> str:
    """The word for how a part is, and the sentence that says what to do about it."""
    return (
        f"{{% set c = value_json.{part}.get('{name}') or {{}} %}}"
        "{{ {'condition': c.get('state'), 'reason': c.get('reason')} | tojson }}"
    )


def firmware(source: str) -> str:
    """What a sensor board says about itself."""
    return f"{{{{ (((value_json.sources.get('{source}') or {{}}).get('board') or None) | string)[:255] }}}}"


STARTED = "{{ value_json.get('started_at') }}"
VERSION = "{{ value_json.version }}"
CLOCK_PROBLEM = "{{ 'OFF' if value_json.clock.synchronised else 'ON' }}"
JOURNAL_PROBLEM = "{{ 'OFF' if value_json.journal.safe else 'ON' }}"
JOURNAL_ATTRIBUTES = "{{ {'reason': value_json.journal.reason} | tojson }}"
ANSWER = "{{ 'done' if value_json.ok else value_json.error.message[:255] }}"

COMMAND = "{{ {'command': value, 'transaction': 'home-assistant-' ~ now().timestamp()} | tojson }}"
"""A transaction of its own for each press: a message that arrives twice is done once."""
NEW_MATCH = (
    "{{ {'command': 'new_match', 'abandon': true, 'transaction': 'home-assistant-' ~ now().timestamp()} | tojson }}"
)
CHOOSE_GAME = (
    "{{ {'command': 'new_match', 'game': value, 'abandon': true,"
    " 'transaction': 'home-assistant-' ~ now().timestamp()} | tojson }}"
)
