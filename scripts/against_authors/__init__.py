"""The authors' programs beside ours, with the same weights.

Each script takes the path of a checkout of theirs, builds a tiny model of its classes, saves it as its
trainer does, has ``ctxmt import`` take it over, and compares what both compute. Then commands use the
imported model, and it is trained on. Nothing is installed, built or downloaded; each takes some minutes on
one core. docs/results/authors.md has what they found.

    python -m scripts.against_authors.contextual_mt CHECKOUT      neulab/contextual-mt
    python -m scripts.against_authors.shortening CHECKOUT         Pawel-M/shortening-context-mt
    python -m scripts.against_authors.mtcue CHECKOUT              st-vincent1/MTCue
    python -m scripts.against_authors.focused_concat CHECKOUT     lorelupo/focused-concat
"""
