"""Bridges: what a table says, said again in the words of things people already have, such as a clock or a lamp.

A mapper (one module each) is a pure function from a table's documents to the messages that one device understands;
`follow.py` keeps what is known of a table and asks the mapper; `run.py` alone knows a broker. So a bridge is one
more reader of the published contract: the table knows nothing of it, and nothing that it does can reach a score.
"""

BRIDGES = {
    "awtrix": "an AWTRIX 3 clock: the score as a page, match points and winners as notifications; needs prefix",
    "wled": "a WLED strip: a preset for each event that is given one; needs topic and presets",
}
"""Every bridge by the name that people say, and what it does in a line."""
