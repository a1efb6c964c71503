"""Of windows: the translations so far are forced in every command, or whole windows are decoded in all."""

import re

import pytest
import sacrebleu

from ctxmt_fairseq.corpora.subwords import Subwords
from tests.integration.commands import TASK, TINY, TRAINING, USER_DIR, printed, read, refused, run

SEARCH = ("--beam", 2, "--max-len-b", 20, "--cpu")
BLEU = (
    *("--eval-bleu", "--eval-bleu-args", '{"beam": 2, "max_len_b": 20}', "--eval-bleu-remove-bpe"),
    *("sentencepiece", "--valid-subset", "test2", "--batch-size-valid", 5, "--ignore-unused-valid-subsets"),
)


def generate(data, model, *options):
    """The translations of test2, and what was said."""
    done = run(
        *("fairseq-generate", data, "--user-dir", USER_DIR, "--path", model, "--gen-subset", "test2"),
        *("--num-workers", 0, "--batch-size", 8, "--remove-bpe", "sentencepiece", *SEARCH, *options),
    )
    texts = printed(done.stdout, "H")
    return [texts[line][0] for line in sorted(texts)], done.stdout + done.stderr


@pytest.mark.parametrize("decoding", ["prefix", "window"])
def test_all_commands_translate_alike(decoding, s2to2, data, corpus):
    model, options = s2to2 / "checkpoint_last.pt", ("--decoding", decoding) * (decoding != "prefix")
    text, ids = read(corpus / "test2.en"), read(corpus / "test2.docids")
    docids = ("--docids", corpus / "test2.docids")
    done = run("ctxmt", "translate", model, corpus / "test2.en", *docids, *SEARCH, *options)
    expected = done.stdout.splitlines()
    found, log = generate(data, model, *options)
    said = f"--decoding {decoding}: "
    assert found == expected and said in log and said in done.stderr
    other = "prefix" if decoding == "window" else "window"
    assert generate(data, model, "--decoding", other)[0] != expected
    first = ids.count(ids[0])
    interactive = ("fairseq-interactive", data, "--user-dir", USER_DIR, "--path", model, *SEARCH, *options)
    done = run(*interactive, input="".join(f"{line}\n" for line in text[:first]))
    assert [found for _, (found,) in sorted(printed(done.stdout, "D").items())] == expected[:first]
    assert said in done.stdout + done.stderr


def test_other_documents_that_are_context_are_translated_first(s2to2, data, corpus):
    model, other = s2to2 / "checkpoint_last.pt", ("--context-selection", "random")
    text = ("ctxmt", "translate", model, corpus / "test2.en", "--docids", corpus / "test2.docids", *SEARCH)
    own = run(*text).stdout.splitlines()
    found = run(*text, *other).stdout.splitlines()
    assert generate(data, model, *other, "--seed", 3)[0] == found != own  # the seed of the training


@pytest.mark.parametrize("decoding", ["prefix", "window"])
def test_validation_scores_what_the_commands_translate(decoding, s2to2, data, corpus, tmp_path):
    """Twice in a run: the second validation must not see the first one's translations."""
    windows = ("--arch", "concat_transformer", "--segment-positions", "shift")
    done = run(
        *("fairseq-train", data, *TASK, *TINY, *TRAINING, *windows, "--save-dir", tmp_path),
        *("--source-context", 1, "--target-context", 1, "--max-tokens", 1000),
        *("--finetune-from-model", s2to2 / "checkpoint_last.pt", "--max-update", 2, "--no-last-checkpoints"),
        *("--save-interval-updates", 1, "--decoding", decoding, *BLEU),
    )
    bleu = [float(text) for text in re.findall(r'"test2_bleu": "([\d.]+)"', done.stdout)]
    assert f"--decoding {decoding}: " in done.stdout and len(bleu) == 2
    for update in (1, 2):
        found, _ = generate(data, tmp_path / f"checkpoint_1_{update}.pt", "--decoding", decoding)
        score = sacrebleu.corpus_bleu(found, [read(corpus / "test2.fr")]).score
        assert score == pytest.approx(bleu[update - 1], abs=0.02) and score > 0


@pytest.mark.parametrize("decoding", ["prefix", "window"])
def test_alignments_are_of_the_sentence_that_is_shown(decoding, s2to2, data, corpus):
    model = s2to2 / "checkpoint_last.pt"
    command = ("--user-dir", USER_DIR, "--path", model, *SEARCH, "--decoding", decoding, "--print-alignment")
    generate = ("fairseq-generate", data, *command, "--gen-subset", "test2", "--batch-size", 8)
    stdout = run(*generate, "--num-workers", 0).stdout
    pieces, translations, points = Subwords.load(data, "en"), printed(stdout, "H"), printed(stdout, "A")
    source = [pieces.encode(text).split() for text in read(corpus / "test2.en")]
    assert sorted(points) == list(range(43))
    for line, (text,) in points.items():
        found = [tuple(map(int, point.split("-"))) for point in text.split()]
        assert [second for _, second in found] == list(range(len(translations[line][0].split())))
        assert all(first < len(source[line]) for first, _ in found)
    assert len({first for text in points.values() for first in text[0].split()}) > 20
    weights = printed(run(*generate, "--print-alignment", "soft", "--num-workers", 0).stdout, "A")
    shares = [[float(number) for number in word.split(",")] for word in weights[1][0].split()]
    assert {len(share) for share in shares} == {len(source[1]) + 1}  # </s> is a place, too
    assert all(0 < sum(share) < 1 for share in shares)  # the rest goes to the context


def test_what_forced_prefixes_do_not_go_with(s2to2, data):
    model = s2to2 / "checkpoint_last.pt"
    for option, message in (
        (("--keep-sentence", "first"), "--keep-sentence first needs --decoding window"),
        (("--prefix-size", 2), "--prefix-size: expected no target context, or --decoding window"),
        (("--constraints",), "--constraints: "),
        (("--decoding", "both"), "--decoding: expected prefix or window, found 'both'"),
    ):
        assert message in refused("fairseq-generate", data, *TASK[:2], "--path", model, "--cpu", *option)
