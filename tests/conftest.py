"""What holds for every test.

A script that starts the tests in the background lets them inherit that Ctrl-C is ignored, and they would hand that
on to every program whose end by Ctrl-C they look at.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
