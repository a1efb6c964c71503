"""MTCue (Vincent et al. 2023). ROW is a row of the paper's table 4, MTCUE with any of the parts below:
  BASE, BASE-PM          the Transformer on single sentences; with a wider and deeper encoder
  TAGGING                an embedding for each value of the metadata
     +hash               as in the scripts: a random vector for each metadata value and each of 6 sentences
     +wide-decoder       of BASE-PM and TAGGING: 4,096 units in the decoder too, as in the scripts (and +hash)
  NOVOTNEY-CUE           context as one vector
  MTCUE                  metadata, the current and 5 previous sentences as vectors
     +no-context-encoder, +no-positions, +no-minilm, +no-metadata, +no-document, +random-context,
     +no-context         table 6
     +sequential, +flat  instead of parallel attention (appendix C)
BASE and BASE-PM come first: the others start from them.
"""

PREPARE = "--target-lang de --vocab-size 32768 --encoders 'minilm discrete'"
# Section 3.1, appendix A: overlap 0.9, pauses of seven seconds, held-out films by list, 10,000 sentences of
# each, with 5 before them. As in the scripts, the first half of the list is for development, the second for
# test, and the sentences are the first of described films that one chance in five takes.
CORPORA = {
    "opensubtitles": """
        opensubtitles --alignment {raw}/{pair}.xml.gz --xml {raw}/{s}.zip {raw}/{t}.zip \
            --min-overlap 0.9 --max-gap 7 --held-out {valid}.all={raw}/blocklist.{foreign} \
            --held-out {test}.all={raw}/blocklist.{foreign} --workers {workers} --out {train}
        films {train} --omdb {raw}/omdb
        films {valid}.all --omdb {raw}/omdb
        films {test}.all --omdb {raw}/omdb
        sample {valid}.all --share 0.2 --size 10000 --with-metadata --context 5 --out {valid}
        sample {test}.all --share 0.2 --size 10000 --with-metadata --context 5 --out {test}
    """,
}

ALL = """
    size=base patience=5 adam-eps=1e-8 step-tokens=25000 kept=1
    context-feature-dropout=0.25 context-dropout=0 store=none
    --share-all-embeddings --weight-decay 0.0001
"""
OPTIONS = {
    "start-from": "run whose best checkpoint training starts from, none: random parameters (auto: of the "
    "runs beside OUT BASE, for TAGGING BASE-PM)",
    "store": "context store (auto: DATA/contexts; +no-minilm, +hash: DATA/contexts-discrete; NOVOTNEY-CUE: "
    "DATA/contexts-distilbert-base-cased, if it is there)",
    "context-feature-dropout": "dropout of the embedded contexts' elements",
    "context-dropout": "probability of leaving a vector or tag out",
}
PROFILES = {  # section 3.4, appendix B
    "paper": "lr=3e-4 batch-tokens=200000 warmup=4000 dropout=0.3 validate-every=0 max-update=0",
}
WIDER = "--encoder-layers 10 --encoder-ffn-embed-dim 4096 --decoder-ffn-embed-dim 2048"  # table 3
WIDE_DECODER = "--decoder-ffn-embed-dim 4096"
WITH_CONTEXT = """
    --context-store {store}
    --sentence-checkpoint {start-from}/checkpoints/checkpoint_best.pt
    --context-feature-dropout {context-feature-dropout} --context-dropout {context-dropout}
"""
PROGRAM = "--context-qk-norm all --context-fusion parallel-mean"  # as the authors' program computes
MTCUE = f"mtcue {WITH_CONTEXT} --source-context 5"
HASHED = "store={data}/contexts-discrete --context-fusion flat --context-layers 0 --context-input small-init"
ROWS = {
    "BASE": "sentence size=",
    "BASE-PM": f"sentence size= {WIDER}",
    "TAGGING": f"tagging {WITH_CONTEXT} {WIDER} start-from={{runs}}/BASE-PM",
    "TAGGING+hash": f"{MTCUE} {HASHED} {WIDER} {WIDE_DECODER} start-from={{runs}}/BASE-PM+wide-decoder",
    "NOVOTNEY-CUE": f"cue {WITH_CONTEXT} --source-context 5 start-from={{runs}}/BASE "
    "store=?{data}/contexts-distilbert-base-cased",
    "MTCUE": f"{MTCUE} {PROGRAM} start-from={{runs}}/BASE",
}
PARTS = {
    "BASE-PM": {"wide-decoder": WIDE_DECODER},
    "TAGGING*": {"wide-decoder": f"{WIDE_DECODER} start-from={{runs}}/BASE-PM+wide-decoder"},
    "MTCUE": {
        "no-context-encoder": "--context-layers 0",
        "no-positions": "--context-positions no",
        "no-minilm": "store={data}/contexts-discrete",
        "no-metadata": "--metadata-fields none",
        "no-document": "--source-context 0 --current-vector no",
        "random-context": "--context-selection random",
        "no-context": "--context-selection absent",
        "sequential": "--context-fusion serial",
        "flat": "--context-fusion flat",
    },
}
TWO_LAYERS = " ".join(
    f"--{side}-layers 2 --{side}-embed-dim 128 --{side}-ffn-embed-dim 256 --{side}-attention-heads 4"
    for side in ("encoder", "decoder")
)
# Table 4.
PUBLISHED = {
    "BLEU": """
        row          en-de  en-fr  en-pl  en-ru  de-en  fr-en  pl-en  ru-en
        BASE         33.60  34.54  28.08  31.37  39.53  35.46  34.42  39.37
        BASE-PM      34.36  35.31  28.66  32.40  40.32  36.16  35.03  40.04
        TAGGING      34.88  36.74  29.08  32.32  41.52  37.10  36.19  40.33
        NOVOTNEY-CUE 35.30  36.75  29.09  32.36  40.86  36.51  35.28  39.44
        MTCUE        36.02  37.54  29.36  33.21  40.95  36.57  35.68  39.97
    """,
    "COMET": """
        row          en-de  en-fr  en-pl  en-ru  de-en  fr-en  pl-en  ru-en
        BASE         45.90  46.92  58.52  62.94  59.56  55.10  50.38  55.99
        BASE-PM      46.77  48.87  60.97  64.55  60.88  56.28  51.77  56.86
        TAGGING      49.21  51.57  64.29  65.12  62.63  57.41  53.46  57.14
        NOVOTNEY-CUE 49.83  50.52  62.69  64.90  61.91  56.21  52.17  56.08
        MTCUE        50.91  52.19  63.46  65.21  61.58  56.87  52.48  56.92
    """,
}

SMALL_WIDER = "--encoder-layers 4 --encoder-ffn-embed-dim 512 --decoder-ffn-embed-dim 256"
IN_PROFILE = [
    ("small", "BASE*", TWO_LAYERS),
    ("small", "BASE-PM* TAGGING*", SMALL_WIDER),
    ("small", "*+wide-decoder TAGGING+hash*", "--decoder-ffn-embed-dim 512"),
]

EVALUATE = "--beam 5 --lenpen 1"  # the best checkpoint, fairseq's search

SMALL = {"demo": "BASE BASE-PM TAGGING MTCUE MTCUE+no-minilm"}  # with metadata
EVIDENCE = "control MTCue"  # with previous sentences
SMOKE = {"demo": "BASE MTCUE", "subtitles": ""}
SMALL_CONTEXTS = "trained random empty absent"
SMALL_FORMALITY = "MTCue"  # formality by prompts is measured, too, of this row
