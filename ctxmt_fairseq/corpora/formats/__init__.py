"""Reads corpora as they are downloaded: a module for each kind reads it and has its command's options.

A kind's module has its command's help as docstring, and a ``NewCorpus`` of its name, whose fields are the
options and whose ``parts`` yields ``pairs.Part``.
"""

FORMATS = {
    "opensubtitles": "subtitles from OPUS, documents without holes and pauses",
    "opus": "other corpora from OPUS (Europarl, News-Commentary, TED2020, Books, ...)",
    "moses": "OPUS' Moses format: aligned lines and the .ids file",
    "ted": "talks of IWSLT: training text and test sets",
    "europarl": "Europarl's text with its tags for chapters and speakers",
    "voita": "the corpora that Voita et al. released",
    "scat": "sentences in which people marked pronouns and what shows how to translate them",
    "wmt": "test sets and news of WMT: SGM, XML, plain text with documents",
    "tmx": "TMX of web crawls (ParaCrawl), documents by the pages' addresses",
    "aligned": "documents whose sentences vecalign or bertalign aligned",
    "records": "text in columns, JSON lines, Parquet: News-Commentary, ParaDocs, WMT24++, ...",
}
