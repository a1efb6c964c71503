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
# Context that a document lacks, and a last group of fewer tokens, are those of the authors' program.
MISSING = "--missing-context empty"
CACHING = f"caching --source-context {{N}} {MISSING} --shortening"
ROWS = {
    "sentence-level": "windows --source-context 0",
    "single-encoder-{N}": "windows --source-context {N}",
    "multi-encoder-{N}": "dual-encoder --source-context {N} --context-fusion concat --context-layout joined",
    "caching-tokens-{N}": f"{CACHING} none",
    "caching-sentence-{N}": f"{CACHING} sentence",
    "max-pooling-{N}": f"{CACHING} max --shortening-size 2 --shortening-partial zeros",
    "avg-pooling-{N}": f"{CACHING} mean --shortening-size 2 --shortening-partial zeros",
    "linear-pooling-{N}": f"{CACHING} linear --shortening-size 2",
    "grouping-{N}": f"grouping --source-context {{N}} {MISSING} --shortening-size 11",
    "selecting-{N}": f"{CACHING} select --shortening-size 11",
}
IN_PROFILE = [  # section 5.2
    ("en-de", "grouping-*", "--shortening-size 9"),
    ("en-de", "selecting-*", "--shortening-size 10"),
]

# The best checkpoint, beam 5 (table 4). The code that the paper builds on (Fernandes et al. 2021) scores a
# candidate by the mean over its tokens.
EVALUATE = "--beam 5 --lenpen 1 --convention mean-window"

# Tables 2, 3, 6, 7: accuracy in % (ContraPro, the set of Lopes et al.), wmt22-comet-da.
PUBLISHED = {
    "en-de": """
        row                 BLEU   accuracy  COMET
        sentence-level      28.11  43.67     0.7778
        single-encoder-1    28.31  47.42     0.7831
        single-encoder-2    27.95  48.18     0.7789
        single-encoder-3    27.88  48.88     0.7758
        multi-encoder-1     28.67  44.93     0.7831
        multi-encoder-2     28.50  46.65     0.7871
        multi-encoder-3     28.26  45.00     0.7856
        caching-tokens-1    28.35  54.06     0.7806
        caching-tokens-2    28.50  54.13     0.7776
        caching-tokens-3    29.08  51.23     0.7821
        caching-sentence-1  28.38  45.72     0.7712
        caching-sentence-2  26.73  45.26     0.7640
        caching-sentence-3  26.70  44.91     0.7673
        max-pooling-1       27.62  51.67     0.7743
        max-pooling-2       27.88  55.08     0.7772
        max-pooling-3       28.26  50.89     0.7799
        avg-pooling-1       28.09  53.37     0.7774
        avg-pooling-2       27.85  54.81     0.7770
        avg-pooling-3       28.38  50.54     0.7844
        linear-pooling-1    27.62  52.71     0.7757
        linear-pooling-2    28.03  52.13     0.7745
        linear-pooling-3    28.18  51.27     0.7823
        grouping-1          28.21  56.98     0.7842
        grouping-2          28.70  54.51     0.7828
        grouping-3          28.49  51.16     0.7811
        selecting-1         28.15  54.48     0.7774
        selecting-2         28.55  54.21     0.7826
        selecting-3         28.01  51.95     0.7836
    """,
    "en-fr": """
        row                 BLEU   accuracy  COMET
        sentence-level      37.64  75.92     0.7943
        single-encoder-1    37.25  77.27     0.7930
        single-encoder-2    37.18  78.98     0.7979
        single-encoder-3    37.12  80.87     0.7913
        multi-encoder-1     37.44  75.72     0.7968
        multi-encoder-2     37.12  77.23     0.7934
        multi-encoder-3     37.34  75.76     0.7934
        caching-tokens-1    36.88  79.67     0.7923
        caching-tokens-2    37.29  80.14     0.7935
        caching-tokens-3    37.73  79.90     0.7945
        caching-sentence-1  36.50  77.33     0.7845
        caching-sentence-2  34.21  76.25     0.7654
        caching-sentence-3  34.78  75.71     0.7737
        max-pooling-1       37.48  79.51     0.7911
        max-pooling-2       36.72  80.59     0.7913
        max-pooling-3       37.85  79.71     0.7974
        avg-pooling-1       37.13  77.75     0.7920
        avg-pooling-2       37.12  80.16     0.7924
        avg-pooling-3       38.18  80.41     0.7952
        linear-pooling-1    37.02  80.47     0.7933
        linear-pooling-2    37.12  79.37     0.7951
        linear-pooling-3    37.42  79.64     0.7927
        grouping-1          37.05  79.91     0.7933
        grouping-2          37.98  81.13     0.7976
        grouping-3          37.18  79.54     0.7921
        selecting-1         37.38  80.89     0.7951
        selecting-2         37.83  80.32     0.7945
        selecting-3         37.81  80.09     0.7935
    """,
}

REPRODUCED = {
    "en-de": """
        tables 2 and 6, En-De; IWSLT 2017, ContraPro; single runs, seed 42
        ./prepare.sh text/train text/dev data --raw downloads
        ./train.sh ROW data runs/ROW
        ./evaluate.sh data runs/ROW text/test ContraPro/contrapro.json --documents ContraPro/documents \
            --comet wmt22-comet-da
        = BLEU prefix/BLEU -
        = accuracy contrast/accuracy -
        = COMET prefix/COMET -
    """,
    "en-fr": """
        tables 3 and 7, En-Fr; IWSLT 2017, the set of Lopes et al. (2020); single runs, seed 42
        ./prepare.sh text/train text/dev data --raw downloads --target-lang fr
        ./train.sh ROW data runs/ROW --profile en-fr
        ./evaluate.sh data runs/ROW text/test OpenSubs --comet wmt22-comet-da
        = BLEU prefix/BLEU -
        = accuracy contrast/accuracy -
        = COMET prefix/COMET -
    """,
}
COMPARED = "caching-* *-pooling-* grouping-* selecting-*"
TRAINED = (
    "sentence-level single-encoder-1 multi-encoder-1 "
    "caching-tokens-1 caching-sentence-1 grouping-1 selecting-1"
)

EVIDENCE = "control s2to2 dual-encoder caching grouping"
SMOKE = {"subtitles": "grouping-2"}
