"""The demo corpus: English-French documents from a grammar of their own, whose ambiguities need context.

Every ambiguous sentence has several French variants, and its English does not tell which is right. In the
documents a context does. In the contrastive sets two examples, twins, have opposite answers, but are
identical in everything that a model without that context sees, so such a model scores exactly 50 %.

Files of ``ctxmt demo-corpus DIR``:

``SPLIT.en SPLIT.fr SPLIT.docids SPLIT.meta.jsonl``
    train, valid, test. The metadata fields are ``formality``, ``speaker``, ``addressee``; each is missing in
    some documents. With ``--formality implied`` there are ``genre`` and ``plot`` instead of ``formality``: no
    text names the formality, but genre, plot and many sentences go with it, as in films.
``contrastive/sets.json``
    a list of objects, one per set: ``name``, ``path`` (below ``contrastive``), ``format`` (``opensubs``,
    ``bawden``, ``voita`` or ``jsonl``), ``phenomenon``, ``context`` (one of ``CONTEXTS``), ``distances``,
    ``examples``, ``description``.
``contrastive/...``
    the sets, in the layouts of the public suites where these can hold them, else as ctxmt JSON lines.

``evaluation/contrastive_sets/ctxmt_jsonl.py`` has the keys of these lines; distance 0 is metadata's here.

The modules: ``lexicon`` has the words of ``words.yaml`` and ``settings.yaml`` (of films), ``sentences`` makes
tables of sentences, ``scenes`` documents, ``twins`` pairs of examples, ``contrastive`` the sets, and
``write`` all files.
"""
