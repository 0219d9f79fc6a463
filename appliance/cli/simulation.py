"""`demo` and `sim`: the simulated table. Only this module of the appliance knows the simulator."""

from argparse import Namespace
from pathlib import Path

from appliance.cli.parser import Command, Parser
from appliance.cli.sentences import WrongUse, nearest
from appliance.cli.values import GAMES, host_and_port, names, port, speed, whole


def _demo_arguments(parser: Parser) -> None:
    parser.add_argument("--game", choices=GAMES, default="club_carrom", metavar="GAME", help=", ".join(GAMES))
    parser.add_argument("--players", type=names, metavar='"Asha,Ben"', help="names, in order of play")
    parser.add_argument("--seed", type=whole, metavar="N", help="the same seed plays the same match")
    parser.add_argument("--speed", type=speed, default=1.0, metavar="X", help="times real time, or max")
    parser.add_argument("--once", action="store_true", help="end after one match and print the final score")
    parser.add_argument("--mqtt-port", type=port, metavar="PORT", help="of the demo's broker (default: any free one)")
    parser.add_argument("--http-port", type=port, metavar="PORT", help="of the pages (default: 8080, or any free one)")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="default: a temporary one")
    parser.add_argument("--truth", type=Path, metavar="FILE", help="write what the players really did")
    parser.add_argument("--broker", type=host_and_port, metavar="HOST:PORT", help="instead of the demo's own")


def _demo(options: Namespace) -> int:
    from sim import demo

    return demo.main(
        demo.DemoOptions(
            game=options.game,
            players=options.players,
            seed=options.seed,
            speed=options.speed,
            once=options.once,
            mqtt_port=options.mqtt_port,
            http_port=options.http_port,
            state_dir=options.state_dir,
            truth=options.truth,
            broker=options.broker,
        )
    )


def _sim_arguments(parser: Parser) -> None:
    parser.add_argument("what", metavar="report", choices=("report",), help="how many strokes a tier gets right")
    parser.add_argument("--tier", required=True, metavar="TIER", help="T1, T2, T3 (carrom), C1, C2 (carpetball)")
    parser.add_argument("--game", choices=GAMES, metavar="GAME", help="default: the tier's first")
    parser.add_argument("--matches", type=whole, default=20, metavar="N", help="how many (default: 20)")
    parser.add_argument("--seed", type=whole, default=1, metavar="N", help="the same seed plays the same matches")
    parser.add_argument("--faults", default="", metavar="NAMES", help="switched on, separated by commas, or all")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="a picture of where strokes are lost")
    parser.add_argument("--where", action="store_true", help="say of each odd stroke what fell, and what the beams saw")


def _sim(options: Namespace) -> int:
    from sim import report
    from sim.faults import FAULTS
    from sim.tiers import TIERS

    tier = TIERS.get(options.tier)
    if tier is None:
        raise WrongUse(f'--tier: "{options.tier}" is not possible{nearest(options.tier, list(TIERS))}')
    game = options.game or tier.games[0]
    if game not in tier.games:
        raise WrongUse(f"--game: {tier.name} is no tier of {game}; it can be {', '.join(tier.games)}")
    if options.matches < 1:
        raise WrongUse("--matches: at least one match is needed")
    faults = FAULTS if options.faults == "all" else tuple(name for name in options.faults.split(",") if name)
    for name in faults:
        if name not in FAULTS:
            raise WrongUse(f'--faults: "{name}" is not possible{nearest(name, [*FAULTS, "all"])}')
    asked = report.ReportOptions(
        tier.name, game, options.matches, options.seed, faults, options.json, options.svg, options.where
    )
    return report.main(asked)


COMMANDS = (
    Command("demo", "Play on a simulated table, with pages and a broker of its own.", _demo_arguments, _demo),
    Command("sim", "Play matches with the physics of the sensors, and say what is got right.", _sim_arguments, _sim),
)
