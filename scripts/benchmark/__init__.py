"""Speed and memory against stock fairseq, always as ratios of runs made in turn within one call."""

from ctxmt_fairseq.base.loggers import quiet_libraries

quiet_libraries()  # before fairseq is imported, which then says what it does
