"""How texts are handed to SentencePiece."""

from ctxmt_fairseq.corpora.subwords import Subwords, train_subwords

SENTENCES = [f"the {animal}s sleep in house {number}" for animal in ("cat", "dog") for number in range(50)]


def test_a_sentence_is_no_batch(tmp_path, monkeypatch):
    """A batch starts threads, and waits for them: of single sentences that takes 20 times as long."""
    path = tmp_path / "spm.model"
    path.write_bytes(train_subwords(SENTENCES, 30, "bpe"))
    subwords, handed = Subwords(path), []
    whole = subwords.encode_all(SENTENCES, threads=2)
    encode = subwords.processor.encode
    monkeypatch.setattr(
        subwords.processor, "encode", lambda text, **how: handed.append(text) or encode(text, **how)
    )
    assert [subwords.encode(text) for text in SENTENCES] == subwords.encode_all(SENTENCES) == whole
    assert handed == 2 * SENTENCES
