"""By which id a broker knows a table.

A broker throws out whoever is there when somebody else connects with the same id. Between two programs that run
one table that is wanted: it shows. For a stranger who has an account to look with it would be a way to keep a
table off its broker. So where the table has a password, its id ends in what only who has that password can work
out; everywhere else it is plain.
"""

import hashlib

from appliance.mqtt.topics import BASE

_ITERATIONS = 1_000
_LENGTH = 6


def client_id(table: str, password: str | None) -> str:
    """The id: the same on every machine that runs this table with this password."""
    plain = f"{BASE}-{table}"
    if password is None:
        return plain
    worked_out = hashlib.pbkdf2_hmac("sha256", password.encode(), plain.encode(), _ITERATIONS, _LENGTH)
    return f"{plain}-{worked_out.hex()}"
