"""The session at the table: `decide` what follows from an input, `evolve` the state by what was decided.

inputs    what the session is asked to take
decide    sensors: opening, late, quiet; closing.py: `done`; commands.py: what people want; matches.py
draft     a decision in the making, judged step by step
resolve   what a closed stroke was: narrowed, told, asked or assumed
fold      a match from its steps
evolve    the next state
view      the `state` document and the events, from the tip
"""
