"""`python -m appliance` is the command `pocketbeam`."""

import sys

from appliance.cli import main

if __name__ == "__main__":
    sys.exit(main())
