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
    ``bawden``, ``voita`` or ``jsonl``), ``phenomenon``, ``context`` (see below), ``distances``, ``examples``,
    ``description``.
``contrastive/...``
    the sets, in the layouts of the public suites where these can hold them, else as ctxmt JSON lines.

**ctxmt JSON lines** hold one object per line and example:

* ``id``: unique string
* ``phenomenon``: string
* ``distance``: how many sentences before the current one the deciding sentence is; -1 is the following
  sentence, 0 is metadata
* ``context``: what decides, ``source-previous``, ``target-previous``, ``source-next`` or ``metadata``
* ``source``: the source sentences of the window, in document order
* ``current``: index of the current sentence in ``source``
* ``targets``: the candidates, each a list of ``current + 1`` target sentences, the current one last
* ``correct``: index of the right candidate
* ``meta``: object of string fields; left out where there is none

The modules: ``lexicon`` reads ``words.yaml`` and ``settings.yaml`` (of films), ``french`` makes agreement and
elision, ``sentences`` tables of sentences, ``documents`` scenes and documents, ``twins`` pairs of examples,
``contrastive`` the sets, ``formats`` their layouts, and ``write`` all files.
"""
