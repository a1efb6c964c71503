"""Code of your own, for ``--user-dir``: a block and an architecture that is composed of it."""

import ctxmt_fairseq  # noqa: F401  (fairseq's commands take one --user-dir: this one brings the plugin with it)

from . import first_words_transformer  # noqa: F401  (importing it registers it)
