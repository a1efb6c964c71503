"""Languages in their own scripts, from raw text to every result. Pronouns need the sentence before."""

import json
import random

import pytest

from tests.integration.commands import run

# Names of two kinds, what they do, the pronoun of each kind, what stands between words, and at the end. BLEU
# needs four words in a row.
LANGUAGES = {
    "zh-Hans": ("猫 狗 鸟", "书 桌子 球", "在跑 很大 掉下来了 不见了", "他 它", "", "。"),
    "ja": ("ねこ いぬ とり", "本 つくえ ボール", "は走る は大きい は落ちた は消えた", "彼 それ", "", "。"),
    "th": ("แมว หมา นก", "หนังสือ โต๊ะ ลูกบอล", "กำลังวิ่ง ตัวใหญ่ ตกน้ำ หายไป", "เขา มัน", "", ""),
    "fa": ("گربه سگ پرنده", "كتاب ميز توپ", "می\u200cدود بزرگ_است افتاد گم_شد", "او آن", " ", "."),
    "ar": (
        "القطّ الكلب الطائر",
        "الكرة الطاولة القصّة",
        "هنا_في_البيت كبير_جدًّا_اليوم بعيد_عن_البيت هناك_في_المدينة",
        "هو هي",
        " ",
        "؟",
    ),
    "hi": (
        "बिल्ली चिड़िया लड़का",
        "किताब मेज़ गेंद",
        "यहाँ_घर_में_है आज_बहुत_बड़ा_है कल_यहाँ_गिर_गया अब_कहीं_खो_गया",
        "वह यह",
        " ",
        "।",
    ),
    "tr": (
        "ısı İrem ıtır",
        "kitap İğne top",
        "şimdi_evde_burada bugün_çok_ılık dün_birden_düştü şimdi_ışıkta_İzmir’de",
        "kendisi o",
        " ",
        ".",
    ),
    "fr": (
        "le_chat le_chien l’oiseau",
        "la_balle la_table l’œuvre",
        "court tombe dort a_½_an",
        "il elle",
        " ",
        "\u202f!",
    ),
}
ENGLISH = ("cat dog bird", "book table ball", "runs sleeps falls goes", "it it", " ", ".")


def sentence(language, kind, name, verb, pronoun):
    """A sentence about a name of a kind, or about its pronoun."""
    first, second, verbs, pronouns, blank, end = language
    names = [names.replace("_", " ") for names in (first, second)[kind].split()]
    subject = pronouns.split()[kind] if pronoun else names[name]
    return f"{subject}{blank}{verbs.split()[verb].replace('_', ' ')}{end}"


def write(folder, name, language, documents, seed):
    draw = random.Random(seed)
    sides, ids = {"en": [], language: []}, []
    for document in range(documents):
        kind, noun = draw.randrange(2), draw.randrange(3)
        for pronoun in (False, True):
            what = kind, noun, draw.randrange(4), pronoun
            for side, lines in sides.items():
                lines.append(sentence(LANGUAGES.get(side, ENGLISH), *what))
            ids.append(document)
    for end, lines in {**sides, "docids": ids}.items():
        (folder / f"{name}.{end}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return sides


def contrastive(sides, language, path):
    """Of each document's second sentence the pronouns of both kinds."""
    with open(path, "w", encoding="utf-8") as lines:
        for at in range(1, len(sides["en"]), 2):
            pronouns = LANGUAGES[language][3].split()
            before, right = sides[language][at - 1 : at + 1]
            own = next(word for word in pronouns if right.startswith(word))
            wrong = right.replace(own, pronouns[1 - pronouns.index(own)], 1)
            record = {"id": str(at), "phenomenon": "pronoun", "distance": 1, "context": "source-previous",
                      "source": sides["en"][at - 1 : at + 1], "current": 1,
                      "targets": [[before, right], [before, wrong]], "correct": 0}  # fmt: skip
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_reads_the_script(language, tmp_path, record_property):
    write(tmp_path, "train", language, 1500, 1)
    write(tmp_path, "valid", language, 40, 2)
    sides = write(tmp_path, "test", language, 40, 3)
    contrastive(sides, language, tmp_path / "pronouns.jsonl")

    def ctxmt(*arguments):
        return run("ctxmt", *arguments, cwd=tmp_path).stdout

    text = [word for name in ("train", "valid", "test") for word in (f"--{name}", name)]
    shown = ctxmt("preprocess", "--source-lang", "en", "--target-lang", language, *text, "--spm-type", "bpe",
                  "--vocab-size", 150 if language in ("zh-Hans", "th") else 120, "--out", "data")  # fmt: skip
    assert all(row.endswith(" 0.00 %") for row in shown.splitlines()[1:])  # unknown, changed
    reference = f"test.{language}"
    assert "BLEU    sentence  100.00" in ctxmt("score", reference, reference, "--data", "data")

    ctxmt(
        "train",
        "windows",
        "data",
        "run",
        "--size",
        "tiny",
        "--max-update",
        400,
        "--sample-context-size",
        "--cpu",
    )
    model = "run/checkpoints/checkpoint_last.pt"
    ctxmt("translate", model, "test.en", "--docids", "test.docids", "--output", "hyp", "--cpu")
    found = json.loads((tmp_path / "data" / "ctxmt.json").read_text())
    assert found["target_lang"] == language
    ctxmt("score", "hyp", reference, "--data", "data", "--docids", "test.docids", "--json", "score.json")
    bleu, *_ = json.loads((tmp_path / "score.json").read_text())["scores"]
    record_property("bleu", f"{language}: BLEU {bleu['score']:.1f} ({bleu['signature']})")
    assert bleu["score"] > 97
    ctxmt("contrast", model, "pronouns.jsonl", "--json", "contrast.json", "--cpu")
    assert json.loads((tmp_path / "contrast.json").read_text())["accuracy"] > 97
    ctxmt("probe", model, "test", "--contexts", "random", "--json", "probe.json", "--samples", 100, "--cpu")
    own, other = (row["bleu"] for row in json.loads((tmp_path / "probe.json").read_text())["contexts"])
    assert own - other > 5  # the pronouns: a character of a sentence in Chinese
    names = "with=hyp", f"reference={reference}"
    compared = ctxmt("compare", "translations", reference, *names, "--data", "data", "--samples", 100)
    assert bleu["signature"].split("tok:")[1].split("|")[0] in compared
    ctxmt("evaluate", "run", "test", "pronouns.jsonl", "--lenpen", "opt", "--dev", "valid", "--cpu")
    results = json.loads((tmp_path / "run" / "evaluation" / "results.json").read_text())
    scores = [each["scores"][0] for each in results["translations"].values()]
    assert max(each["score"] for each in scores) > 97
    assert all(each["signature"] == bleu["signature"] for each in scores)
    assert results["contrast"]["pronouns"]["accuracy"] > 97
