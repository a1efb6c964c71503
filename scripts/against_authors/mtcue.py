"""st-vincent1/MTCue (Vincent et al. 2023) beside ours: vectors of sentences and metadata."""

from argparse import Namespace

import torch

from scripts.against_authors import comparison as c
from scripts.against_authors.usage import used

DIMENSION, DOCUMENT = 384, 3  # of its MiniLM; the current sentence and two before it
CASES = {
    "aug_parallel": {},
    "no positions (abl_pos)": {"no_doc_positions": True},
    "no context encoder (abl_cxt_enc)": {"context_just_embed": True, "layernorm_embedding_context": True},
    "sequential": {"synthesizer_augmented_cross_attention_merge_type": "sequential"},
    "qknorm=False": {"qknorm": False},
}


def import_program():
    """Its classes; their names leave fairseq's registries, because ours are called so, too."""
    from fairseq import models

    tables = [value for name, value in vars(models).items() if name.endswith("_REGISTRY")]
    before = [dict(table) for table in tables]
    from mtcue.models import mtcue_base

    added = dict(models.ARCH_CONFIG_REGISTRY)
    for table, known in zip(tables, before, strict=True):
        table.clear()
        table.update(known)
    return mtcue_base.MTCueTransformer, added["mtcue"]


def contexts(absent):
    """For each line vectors of the current and the previous sentences, and of metadata; zeros are absent.
    Without any context their sequential attention fails."""
    generator = torch.Generator().manual_seed(7)
    for line in range(sum(c.DOCUMENTS)):
        document = torch.randn(1, DOCUMENT, DIMENSION, generator=generator)
        metadata = torch.randn(1, 2, DIMENSION, generator=generator)
        document[:, 1 + line % DOCUMENT :] = 0
        metadata[:, line % 3 :] = 0
        if line == 5 and absent:
            document, metadata = torch.zeros_like(document), torch.zeros_like(metadata)
        yield document, metadata


def run(name, options, kind, configure, table):
    path = c.folder()
    dictionary = c.dictionary_in(path)
    args = Namespace(
        **c.SIZES,
        **options,
        arch="mtcue_aug_parallel_qk",
        source_lang="en",
        target_lang="fr",
        context_model="minilm",
        doc_context_len=DOCUMENT,
        context_layer=2,
        embed_dim=32,
        context_dropout=0.0,
        fp16=False,
    )
    configure(args)
    model = kind.build_model(args, Namespace(source_dictionary=dictionary, target_dictionary=dictionary))
    c.save(path, c.randomise(model), args)
    loaded = c.imported(path)
    theirs, ours, states = [], [], []
    for source, target, (document, metadata) in zip(*c.text(), contexts(name != "sequential"), strict=True):
        previous = torch.cat([target[-1:], target[:-1]])[None]
        output = model(
            (document.clone(), metadata.clone()), source[None], torch.tensor([len(source)]), previous
        )
        theirs.append(c.numbers(model, model.get_normalized_probs(output, True)[0], target))
        vectors = torch.cat([document, metadata], 1)
        places = torch.tensor([[*range(DOCUMENT), -1, -1]])
        distances = torch.where(vectors.abs().sum(2) > 0, places, -2)
        context = {"vectors": vectors, "distances": distances, "target_context_sizes": torch.tensor([0])}
        present = distances.ne(-2).any()
        ours.append(given(loaded.models[0], source, previous, target, context if present else None))
        if present and not options:
            with torch.no_grad():
                own = loaded.models[0].encoder.context_encoder(vectors, distances)
                found = model.cxt_encoder((document.clone(), metadata.clone()))["cxt_encoder_out"][
                    0
                ].transpose(0, 1)
            states.append(float((own.states[~own.padding] - found[0]).abs().max()))
    if states:
        table.add(f"{name}: context encoder's states", max(states))
    table.compare(name, ours, theirs, columns=slice(len(dictionary)))


def given(model, source, previous, target, context):
    output = model(source[None], torch.tensor([len(source)]), previous, context=context)
    return c.numbers(model, model.get_normalized_probs(output, True)[0], target)


def main():
    c.checkout()
    kind, configure = import_program()
    table = c.Table("st-vincent1/MTCue and ours with --context-fusion parallel-mean --context-qk-norm all")
    for name, options in CASES.items():
        run(name, options, kind, configure, table)
    table.say("used and trained on", used(c.IMPORTED[0]))
    table.show()


if __name__ == "__main__":
    main()
