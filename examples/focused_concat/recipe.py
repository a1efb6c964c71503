"""Focused concatenation (Lupo et al. 2022). ROW is a row of the paper's tables: base, or sKtoK (windows of K
sentences on both sides) followed by any of
  +CD, +CD=X           context discount 0.01, or X
  +shift, +shift=N     positions shifted after every sentence: by avg-corpus (default), avg-sequence or N
  +lrn, +sin           learned or sinusoidal segment embeddings instead
for example s4to4, s4to4+CD, s2to2+shift+CD, s4to4+shift=100+CD, s4to4+lrn+CD.
The paper takes the best learning rate of 7e-4, 9e-4, 1e-3, 3e-3, which search_lr.sh does.
"""

from recipe_corpora import IWSLT17

PREPARE = "--target-lang ru --vocab-size 32000 --dictionaries joint"
# Section 4.1: En-Ru as Voita et al. (2019) released it, En-De of IWSLT 2017 with its test sets of 2011 to
# 2014 for development.
CORPORA = {
    "voita2019": """
        voita --current all --source {raw}/{s}_train --target {raw}/{t}_train --out {train}
        voita --current all --source {raw}/{s}_dev --target {raw}/{t}_dev --out {valid}
        voita --current all --source {raw}/{s}_test --target {raw}/{t}_test --out {test}
    """,
    "iwslt17": IWSLT17,
}

# Appendix A. Discount 1 is fairseq's own loss, and logs the current sentences' for every system (Figures 2,
# 3).
ALL = """
    patience=12 adam-eps=1e-9 step-tokens=4000
    --task document_window --arch concat_transformer_{size} --share-all-embeddings
    --criterion context_discounted_label_smoothed_cross_entropy --context-discount 1 --segment-positions none
"""
PROFILES = {
    "en-ru": "lr=7e-4 batch-tokens=32000 warmup=4000 dropout=0.3 validate-every=0 max-update=0",
    "en-de": "lr=7e-4 batch-tokens=16000 warmup=4000 dropout=0.3 validate-every=0 max-update=0",
}
ROWS = {
    "base": "--source-context 0 --target-context 0",
    "s{K}to{K}": "--source-context {K-1} --target-context {K-1}",
}
PARTS = {
    "s*": {
        "CD": "--context-discount 0.01",
        "CD={discount}": "--context-discount {discount}",
        "shift": "--segment-positions shift --segment-shift avg-corpus",
        "shift={by}": "--segment-positions shift --segment-shift {by}",
        "lrn": "--segment-positions learned",
        "sin": "--segment-positions sinusoidal",
    }
}

# Appendix A: 5 checkpoints averaged, beam 4, length penalty 0.6. The whole window is decoded, as in the
# paper, and once more with a forced prefix. The authors' scripts score a candidate with fairseq-generate
# --score-reference: the mean over the tokens of its window.
EVALUATE = "--average 5 --beam 4 --lenpen 0.6 --decoding 'window prefix' --convention mean-window"

SMALL = {"subtitles": "base s2to2+shift+CD"}
SMOKE = {"subtitles": "s2to2+shift+CD"}
