"""`python -m fourscore`: the command line."""

import sys

from fourscore.cli.main import main

sys.exit(main())
