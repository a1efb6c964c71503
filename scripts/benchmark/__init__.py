"""Speed and memory against stock fairseq, always as ratios of runs made in turn within one call."""
