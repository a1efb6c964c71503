"""Systems trained on real text with several seeds, and what they make of context: ``run.sh``."""

from ctxmt_fairseq.base.loggers import quiet_libraries

quiet_libraries()  # before fairseq is imported, else drawing a picture prints 60 lines of fonts
