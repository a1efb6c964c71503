"""Good files of every kind that ``ctxmt corpus`` reads: content by file name."""

import gzip
import io
import json
import zipfile

from ctxmt_fairseq.corpora.pairs import Pair
from ctxmt_fairseq.corpora.transforms.pair_scores import pair_hash
from tests.helpers.public_corpora import SAMPLES, SCAT

_TALKS = """<doc docid="1" genre="lectures">
<url>http://www.ted.com/talks/a</url>
<keywords>talks, culture</keywords>
<speaker>A B</speaker>
<talkid>1</talkid>
<title>A talk &amp; more</title>
{0} &lt;3
{1}
</doc>
"""
_SGM = """<{0} setid="newstest" srclang="any">
<doc sysid="ref" docid="1-bbc" genre="news" origlang="en">
<p>
<seg id="1">{1}</seg>
<seg id="2">{2}</seg>
</p>
</doc>
</{0}>
"""
_XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021"><collection id="general">
<doc origlang="en" id="d1" domain="news">
<src lang="en"><p><seg id="1">A &amp; B</seg><seg id="2">C</seg></p></src>
<ref lang="fr" translator="A"><p><seg id="1">X</seg><seg id="2">Y</seg></p></ref>
<hyp system="S1" language="fr"><p><seg id="1">Z</seg><seg id="2">Q</seg></p></hyp></doc>
</collection></dataset>
"""
_SPEECHES = """<CHAPTER ID=1>
{0}
<SPEAKER ID=1 NAME="President">
{1}
<P>
{1}
"""
_SUBTITLES = """<?xml version="1.0" encoding="utf-8"?>
<document id="7">
<meta><source><genre>Comedy,Drama</genre><year>2001</year><country>USA</country></source>
<subtitle><duration>00:00:05,000</duration></subtitle></meta>
<s id="1"><time id="T1S" value="00:00:01,000" /><w id="1.1">{0}</w><time id="T1E" value="00:00:02,000" /></s>
<s id="2"><time id="T2S" value="00:00:03,000" /><w id="2.1">{1}</w><time id="T2E" value="00:00:04,000" /></s>
</document>
"""
_ALIGNMENT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE cesAlign PUBLIC "-//CES//DTD XML cesAlign//EN" "">
<cesAlign version="1.0">
<linkGrp targType="s" fromDoc="en/2001/12/5.xml.gz" toDoc="fr/2001/12/6.xml.gz">
<link id="SL0" xtargets="1;1" overlap="0.95" />
<link id="SL1" xtargets="2;2" overlap="0.97" />
</linkGrp>
</cesAlign>
"""
_TMX = """<?xml version="1.0" encoding="utf-8"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en"><prop type="source-document">http://a</prop><seg>{0}</seg></tuv>
<tuv xml:lang="fr"><prop type="source-document">http://b</prop><prop type="source-document">http://c</prop>
<seg>{1}</seg></tuv></tu>
</body></tmx>
"""
_FILM = {
    **{"Year": "2005-2020", "Rated": "TV-14", "Genre": "Drama, Fantasy", "Writer": "A B", "Plot": "It is.\n"},
    **{"Country": "France", "Ratings": [{"Source": "X", "Value": "8.4/10"}], "imdbID": "tt0000012"},
}
_BASICS = (
    "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\truntimeMinutes\tgenres\n"
    "tt0000012\tmovie\tThe X\tThe X\t0\t1998\t\\N\t136\tAction,Sci-Fi\n"
)
_WORDS = {"en": ("Hello.", "Good bye."), "fr": ("Bonjour.", "Au revoir.")}


def raw_corpora():
    """Files for every kind."""
    files = {
        "raw/alignment.xml": _ALIGNMENT,
        "raw/alignment.xml.gz": gzip.compress(_ALIGNMENT.encode(), mtime=0),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for (language, words), number in zip(_WORDS.items(), (5, 6), strict=True):
            subtitles = _SUBTITLES.format(*words)
            member = zipfile.ZipInfo(f"OpenSubtitles/xml/{language}/2001/12/{number}.xml")
            members.writestr(member, subtitles)
            files[f"raw/xml/{language}/2001/12/{number}.xml"] = subtitles
            files[f"raw/talks.{language}"] = _TALKS.format(*words)
            files[f"raw/news.{language}.sgm"] = _SGM.format(
                "srcset" if language == "en" else "refset", *words
            )
            files[f"raw/speeches.{language}.txt"] = _SPEECHES.format(*words)
            files[f"raw/joined.{language}"] = f"{' _eos '.join(words * 2)}\n" * 3
            files[f"raw/page.{language}"] = "".join(f"{word}\n" for word in (*words, "OK."))
    files["raw/page.aligned"] = "[0, 1]:[0]:0.123\n[]:[1]:0.0\n[2]:[2]:0.2\n"
    files |= {f"raw/scat/{name}": text for name, text in SCAT.items()}
    files["raw/both.zip"] = archive.getvalue()
    files["raw/news.xml"] = _XML
    files["raw/crawl.tmx"] = _TMX.format(_WORDS["en"][0], _WORDS["fr"][0])
    films = (Pair(f"{source}.", f"{target}.", "") for source, target in zip("ABCD", "EFGH", strict=True))
    scores = "".join(f"{pair_hash(pair):016x}\t0.5\t1.5\n" for pair in films)
    files["raw/scores.tsv"] = '{"scores": "adequacy"}\n' + scores
    files["raw/omdb.jsonl"] = json.dumps(_FILM) + "\n"
    files["raw/title.basics.tsv"] = _BASICS
    files["raw/title.crew.tsv"] = "tconst\tdirectors\twriters\ntt0000012\tnm1\tnm2\n"
    files["raw/name.basics.tsv"] = "nconst\tprimaryName\tbirthYear\nnm2\tLilly\t\\N\n"
    files["raw/list"] = "tt0000007\n"
    files["raw/films.en"], files["raw/films.fr"] = "A.\nB.\nC.\nD.\n", "E.\nF.\nG.\nH.\n"
    files["raw/films.docids"] = "2001/12/5\n" * 3 + "1999/7/6\n"
    files["raw/films.meta.jsonl"] = '{"speaker": "Dean"}\n' * 4
    files["raw/pairs.ids"] = "".join(
        f"en/2001/12/5.xml.gz\tfr/2001/12/6.xml.gz\t{n}\t{n}\n" for n in range(1, 4)
    )
    files["raw/columns"] = "d1\tA.\tE.\n" * 3 + "\n" + "d2\tB.\tF.\t0.5\n" * 2
    for preset, (samples, _, _) in SAMPLES.items():
        files |= {f"public/{preset}/{name}": sample for name, sample in samples.items()}
    files["raw/names"] = "news\td1\n" * 4 + "news\td2\n" * 4
    return {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
