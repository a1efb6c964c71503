"""The demo corpus in the files that people download: OPUS, IWSLT, Voita et al., WMT."""

import gzip
import itertools
import json
from html import escape

from tests.helpers.opus_files import alignment, document, sentence, write_zip
from tests.integration.commands import read


def documents_of(prefix):
    """A list of (source, target) pairs for each document."""
    ids = read(f"{prefix}.docids")
    pairs = zip(read(f"{prefix}.en"), read(f"{prefix}.fr"), ids, strict=True)
    groups = itertools.groupby(pairs, key=lambda pair: pair[2])
    return [[pair[:2] for pair in group] for _, group in groups]


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def compress(path, lines):
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))


def opus(folder, documents):
    """en-fr.xml.gz, en.zip and fr.zip, one film a document; lists of held-out films; OMDb's records."""
    archives, groups = ({}, {}), []
    for film, pairs in enumerate(documents, 100):
        names = [f"{language}/2001/{film}/{film}{n}.xml.gz" for n, language in enumerate(("en", "fr"))]
        for side, (name, archive) in enumerate(zip(names, archives, strict=True)):
            archive[name] = document(
                *(
                    sentence(number, escape(pair[side]), 3 * number, 3 * number + 2)
                    for number, pair in enumerate(pairs, 1)
                )
            )
        groups.append((*names, [(f"{number};{number}", 0.95) for number in range(1, len(pairs) + 1)]))
    for language, archive in zip(("en", "fr"), archives, strict=True):
        write_zip(folder / f"{language}.zip", archive)
    (folder / "en-fr.xml.gz").write_bytes(gzip.compress(alignment(*groups).encode()))
    # MTCue's list of held-out files: half for development, half for test, in each a film without a record
    write(folder / "blocklist.fr", [f"en/2001/{film}/{film}0.xml" for film in (100, 102, 104, 101, 103, 105)])
    (folder / "omdb").mkdir()
    for film in {*range(100, 100 + len(documents))} - {104, 105}:
        record = {
            "imdbID": f"tt{film:07}",
            "Genre": "Drama",
            "Rated": "N/A",
            "Year": "2001",
            "Plot": "A plot.",
        }
        (folder / "omdb" / f"{film}.json").write_text(json.dumps(record))


def iwslt(folder, documents):
    """train.tags.en-fr.*, and the test sets of 2011 to 2015, a talk in each."""
    *training, a, b, c, d, e = documents
    for side, language in enumerate(("en", "fr")):
        lines = []
        for number, pairs in enumerate(training):
            lines += [f'<doc docid="{number}" genre="lectures">', f"<title>{number}</title>"]
            lines += [f" {escape(pair[side], quote=False)} " for pair in pairs] + ["</doc>"]
        write(folder / f"train.tags.en-fr.{language}", lines)
        kind = ("srcset", "refset")[side]
        for year, pairs in zip(range(2011, 2016), (a, b, c, d, e), strict=True):
            lines = ["<mteval>", f'<{kind} setid="iwslt2017-tst{year}" srclang="english" trglang="french">']
            lines += ['<doc docid="7" genre="lectures">', "<title>A &amp; B</title>"]
            lines += [
                f'<seg id="{number}"> {escape(pair[side], quote=False)} </seg>'
                for number, pair in enumerate(pairs, 1)
            ]
            write(
                folder / f"IWSLT17.TED.tst{year}.en-fr.{language}.xml",
                [*lines, "</doc>", f"</{kind}>", "</mteval>"],
            )


def voita(folder, documents):
    """2019: lines of four sentences; 2018: context, source and target, compressed."""
    (folder / "context_aware").mkdir()
    fours = [pairs[at : at + 4] for pairs in documents for at in range(0, len(pairs) - 3, 4)]
    for split, lines in (("train", fours[4:]), ("dev", fours[:2]), ("test", fours[2:4])):
        for side, language in enumerate(("en", "fr")):
            joined = [" _eos ".join(pair[side] for pair in four) for four in lines]
            write(folder / "context_aware" / f"{language}_{split}", joined)
        if split == "train":
            (folder / "context_agnostic").mkdir()
            for side, language in enumerate(("en", "fr")):
                write(
                    folder / "context_agnostic" / f"{language}_train",
                    [pair[side] for four in lines for pair in four],
                )
        twos = [(before[0], *after) for four in lines for before, after in itertools.pairwise(four)]
        for column, name in enumerate(("en.context", "en", "fr")):
            compress(folder / f"{split}.{name}.gz", [two[column] for two in twos])


def suites(folder, documents):
    """The four files of Voita et al. (2019) that focused concatenation is evaluated on."""
    folder.mkdir()
    for number, name in enumerate(("deixis_test", "lex_cohesion_test", "ellipsis_infl", "ellipsis_vp")):
        joined = [" _eos ".join(pair[side] for pair in documents[number][:4]) for side in (0, 1)]
        wrong = joined[1].rsplit(" ", 2)[0] + " mot ."
        example = {"src": joined[0], "dst": [joined[1], wrong], "true_ind": 0, "ctx_dist": 1}
        (folder / f"{name}.json").write_text(json.dumps([example]))


def wmt(folder, documents):
    """Columns with blank lines between documents, CzEng's columns, lines without documents, test sets, and a
    corpus that was filtered."""
    for name, part in {"europarl-v9": documents[4:12], "news-commentary-v14": documents[14:]}.items():
        lines = itertools.chain(*([*map("\t".join, pairs), ""] for pairs in part))
        compress(folder / f"{name}.en-fr.tsv.gz", lines)
    czeng = [f"news-b1-00train-f1\t0.9\t{source}\t{target}" for source, target in documents[12]]
    compress(folder / "czeng17.gz", czeng)
    (folder / "dev").mkdir()
    for side, language in enumerate(("en", "fr")):
        write(folder / f"commoncrawl.en-fr.{language}", [pair[side] for pair in documents[13]])
        write(folder / f"paracrawl.{language}", [pair[side] for pair in documents[3]])
        kind, end = (("srcset", "src"), ("refset", "ref"))[side]
        for year, pairs in ((2016, documents[0]), (2018, documents[1])):
            lines = [
                f'<{kind} setid="newstest{year}" srclang="any">',
                '<doc sysid="ref" docid="1-bbc" genre="news">',
            ]
            lines += [f'<seg id="{number}">{pair[side]}</seg>' for number, pair in enumerate(pairs, 1)]
            path = folder / "dev" / f"newstest{year}-enfr-{end}.{language}.sgm"
            write(path, [*lines, "</doc>", f"</{kind}>"])
    write(folder / "paracrawl.docids", ["http://a http://b"] * len(documents[3]))
