"""The command line `pocketbeam`.

The commands stand in one module for each family of them, with what they are given and what they do; what families
share is beside them: how words become options (`parser`), what an argument can be (`values`), the files
(`files`) and brokers (`brokers`) that are named, what is said (`sentences`) and logged (`log`). Each command
imports what it needs when it runs, so that `--version` and `score` answer at once.

Exit status: 0 well, 1 something was found wrong, 2 wrong use or bad input, 130 ended by Ctrl-C, 141 when nobody
reads on. Whatever goes wrong is said in one sentence on standard error.
"""

import contextlib
import os
import sys
from collections.abc import Sequence

from appliance.cli.sentences import FOUND_WRONG, INTERRUPTED, PIPE_CLOSED, CommandError, say


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with contextlib.suppress(AttributeError):  # a stream that somebody else put there
        # A name in letters that this terminal does not know is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        # Only from here on does Ctrl-C end quietly, and on a small machine the imports alone take a while.
        from appliance.cli.commands import COMMANDS
        from appliance.cli.log import set_up_logging
        from appliance.cli.parser import parse

        options = parse(COMMANDS, arguments)
        set_up_logging(getattr(options, "log_level", "info"))
        status: int = options.run(options)
        print(end="", flush=True)
    except CommandError as error:
        say(str(error))
        return error.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read us is gone; the interpreter must not stumble over that once more at its end
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        say(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
        return FOUND_WRONG
    return status
