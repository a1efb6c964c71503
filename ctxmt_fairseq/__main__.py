"""``python -m ctxmt_fairseq`` is the command ``ctxmt``."""

import sys

from ctxmt_fairseq.cli.main import main

sys.exit(main())
