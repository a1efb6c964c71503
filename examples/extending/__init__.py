"""Code of your own, for ``--user-dir``: a context and a loss (docs/extending.md).

A corpus format, such as ``tab_separated``, is a command: it goes into the package.
"""

import ctxmt_fairseq  # noqa: F401  (fairseq's commands take one --user-dir: this one brings the plugin with it)

from . import far_context, repeated_words  # noqa: F401  (importing them registers them)
