"""Sequence shortening, tables 2 and 3. ROW is sentence-level, or one with N context sentences (1 to 3):
  single-encoder-N, multi-encoder-N, caching-tokens-N, caching-sentence-N,
  max-pooling-N, avg-pooling-N, linear-pooling-N (K = 2),
  grouping-N, selecting-N (K = 9, 10 for en-de, 11 for en-fr)
Another K: "-- --shortening-size K".
"""

from recipe_corpora import IWSLT17

PREPARE = "--target-lang de --vocab-size 20000 --dictionaries separate"  # section 5.1
CORPORA = {"iwslt17": IWSLT17}

ALL = """
    patience=5 seed=42 adam-eps=1e-8 step-tokens=4096 kept=1
    --share-decoder-input-output-embed --weight-decay 0.0001 --clip-norm 0.1
"""
PROFILES = {  # appendix A, table 4
    "en-de": "lr=5e-4 batch-tokens=32768 warmup=2500 dropout=0.3 validate-every=0 max-update=0",
    "en-fr": "lr=5e-4 batch-tokens=32768 warmup=2500 dropout=0.3 validate-every=0 max-update=0",
}
CONCATENATION = "--task document_window --arch concat_transformer{_tiny} --source-context"
SEVERAL = "--task multi_source --source-context {N}"
DUAL = f"{SEVERAL} --arch dual_encoder_transformer{{_tiny}}"
CACHING = f"{SEVERAL} --arch caching_transformer{{_tiny}} --shortening"
ROWS = {
    "sentence-level": f"{CONCATENATION} 0",
    "single-encoder-{N}": f"{CONCATENATION} {{N}}",
    "multi-encoder-{N}": f"{DUAL} --context-fusion concat --context-layout joined",
    "caching-tokens-{N}": f"{CACHING} none",
    "caching-sentence-{N}": f"{CACHING} sentence",
    "max-pooling-{N}": f"{CACHING} max --shortening-size 2",
    "avg-pooling-{N}": f"{CACHING} mean --shortening-size 2",
    "linear-pooling-{N}": f"{CACHING} linear --shortening-size 2",
    "grouping-{N}": f"{CACHING} group --shortening-size 11",
    "selecting-{N}": f"{CACHING} select --shortening-size 11",
}
IN_PROFILE = [  # section 5.2
    ("en-de", "grouping-*", "--shortening-size 9"),
    ("en-de", "selecting-*", "--shortening-size 10"),
]

# The best checkpoint, beam 5 (table 4). The code that the paper builds on (Fernandes et al. 2021) scores a
# candidate by the mean over its tokens.
EVALUATE = "--beam 5 --lenpen 1 --convention mean-window"

SMALL = {
    "subtitles": "sentence-level single-encoder-1 multi-encoder-1 caching-tokens-1 avg-pooling-1 grouping-1 "
    "selecting-1"
}
SMOKE = {"subtitles": "grouping-2"}
