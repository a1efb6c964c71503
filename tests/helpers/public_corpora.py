"""Raw samples of public corpora, written after the descriptions that ``presets.yaml`` names."""

import gzip
import json


def jsonl(*records):
    """JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _wmt24pp(domain, bad, source, target):
    return {
        **{"lp": "en-de_DE", "domain": domain, "document_id": "n1", "segment_id": 1, "is_bad_source": bad},
        **{"source": source, "target": target, "original_target": "no"},
    }


def _dochplt(pair, links):
    sides = {"en": (["1.1", "1.2", "2.1"], ["A.", "B.", "C."]), "ga": (["1.1", "1.2"], ["X.", "Y."])}
    source, target = (dict(zip(("ids", "sentences"), sides[name], strict=True)) for name in pair.split("-"))
    scores = {"aligner-score": 0.8, "bicleaner-score": 0.9, "bifixer-score": 0.7}
    alignment = [{"src": src.split(), "tgt": tgt.split(), **scores} for src, tgt in links]
    return {"src_doc_id": "d1", "tgt_doc_id": "e1", "lang_pair": pair, "src_doc": source, "tgt_doc": target,
            "alignment": alignment}  # fmt: skip


def _wmt25(target_lang, document, refs):
    return {
        **{"src_lang": "en", "tgt_lang": target_lang, "domain": "news", "doc_id": document},
        **{"src_text": "A\n\nB", "refs": refs},
    }


_SPEECHES = """\
Eins.\tOne.\tep-00-01-17\t1\t80\tPresident\tEN\t
Zwei.\tTwo.\tep-00-01-17\t1\t80\tPresident\tEN\tPPE
Drei.\tThree.\tep-00-01-17\t2\t\t\t\t
"""
_CRAWL = "One.\tEins.\t0.9\t0.8\twide\t1\t1\t2\t2\t3\t4\t3\t4\t1.0\t1.0\t5\t7\t8\n"
_REF = {"refA": {"ref": "1\n\n2"}}

# By preset: files by name (beside_*: of --beside), the languages, and the lines: source, target, document.
SAMPLES = {
    "news-commentary": (
        {
            "news-commentary-v18.de-en.tsv.gz": gzip.compress(
                b"Eins.\tOne.\nZwei.\tTwo.\n\t\nDrei.\tThree.\n", mtime=0
            )
        },
        ("en", "de"),
        [("One.", "Eins.", "1"), ("Two.", "Zwei.", "1"), ("Three.", "Drei.", "2")],
    ),
    "europarl-v10": (
        {"europarl-v10.de-en.tsv": _SPEECHES},
        ("de", "en"),
        [
            ("Eins.", "One.", "ep-00-01-17 1"),
            ("Zwei.", "Two.", "ep-00-01-17 1"),
            ("Drei.", "Three.", "ep-00-01-17 2"),
        ],
    ),
    "paradocs": (
        {"en-de-strict.gz": gzip.compress((_CRAWL + _CRAWL[:-2] + "9\n").encode(), mtime=0)},
        ("en", "de"),
        [("One.", "Eins.", "7 8"), ("One.", "Eins.", "7 9")],
    ),
    "paracrawl-context": (  # released as Parquet
        {
            "train.jsonl": jsonl(
                {"eng": "Now.", "eng_context": "A.<docline>B. ||| C.", "deu_context": "Z.", "deu": "Jetzt."}
            )
        },
        ("eng", "deu"),
        [("A.", "", "1"), ("B.", "Z.", "1"), ("Now.", "Jetzt.", "1")],
    ),
    "dochplt": (  # released as Parquet
        {"train.jsonl": jsonl(_dochplt("en-ga", [("1.1 1.2", "1.1")]), _dochplt("ga-en", [("1.2", "2.1")]))},
        ("en", "ga"),
        [
            ("A. B.", "X.", "d1 e1"),
            ("C.", "", "d1 e1"),
            ("", "Y.", "d1 e1"),
            ("A.", "", "d1 e1"),
            ("B.", "", "d1 e1"),
            ("", "X.", "d1 e1"),
            ("C.", "Y.", "d1 e1"),
        ],
    ),
    "wmt24pp": (
        {
            "en-de_DE.jsonl": jsonl(
                _wmt24pp("canary", False, "GUID", "GUID"),
                _wmt24pp("news", False, "A", "1"),
                _wmt24pp("news", True, "http", "http"),
                _wmt24pp("news", False, "B", "2"),
            )
        },
        ("de_DE", "en"),
        [("1", "A", "n1"), ("2", "B", "n1/2")],
    ),
    "wmt25": (
        {
            "wmt25-genmt.jsonl": jsonl(
                _wmt25("cs_CZ", "d1", _REF), _wmt25("ja_JP", "d2", _REF), _wmt25("cs_CZ", "d3", {})
            )
        },
        ("en", "cs"),
        [("A", "1", "d1"), ("B", "2", "d1")],
    ),
    "mt-geneval": (
        {"2to1.en": "She came. <sep> The author left.\n", "beside.de": "Die Autorin ging.\n"},
        ("en", "de"),
        [("She came.", "", "1"), ("The author left.", "Die Autorin ging.", "1")],
    ),
    "cocoa": (
        {"call.en": "And you?\tOK\n", "beside.de": "Und Sie?\n"},
        ("en", "de"),
        [("And you? OK", "Und Sie?", "1")],
    ),
    "ntrex": (
        {"src.eng": "A.\nB.\nC.\n", "beside.deu": "1.\n2.\n3.\n", "beside_ids": "bbc.1\nbbc.1\ncnn.2\n"},
        ("eng", "deu"),
        [("A.", "1.", "bbc.1"), ("B.", "2.", "bbc.1"), ("C.", "3.", "cnn.2")],
    ),
}

# SCAT: a file for each side, and for the text before it; the second example has none, the third no pronoun.
SCAT = {
    "test.en": "I saw if <p>it</p> would grow.\n"
    "<hon>They<hoff> go, s<p>it</p>ting if <p>they</p> are here.\nGood.\n",
    "test.fr": "J'ai vu si <p>elle</p> grandit.\n<p>Ils</p> vont, qu'<p>ils</p> soient là.\nBien.\n",
    "test.context.en": "Two  <hon>plants<hoff> . Water.\n\n\n",
    "test.context.fr": "Deux  <hon>plantes<hoff> . De l'eau.\n\n\n",
}
