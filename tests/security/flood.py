"""As many requests as somebody likes: python -m tests.security.flood PORT TOPIC RATE SECONDS.

Raw packets over a raw socket, because every client library is slower than what a broker takes.
"""

import socket
import sys
import time

from tests.web.packets import connect, publish

BATCH = 50


def flood(port: int, topic: str, rate: int, seconds: float) -> int:
    """Send for so long, evenly; how many it were."""
    batch = publish(topic, b'{"command": "undo", "transaction": 1}') * BATCH
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(connect("flood"))
        assert sock.recv(4)[3] == 0
        began, sent = time.monotonic(), 0
        while (passed := time.monotonic() - began) < seconds:
            while sent + BATCH <= passed * rate:
                sock.sendall(batch)
                sent += BATCH
            time.sleep(BATCH / rate)
    return sent


if __name__ == "__main__":
    print(flood(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
