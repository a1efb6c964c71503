"""Pawel-M/shortening-context-mt beside ours: caching and shortening, with the program's rules."""

from argparse import Namespace

from scripts.against_authors import comparison as c
from scripts.against_authors.usage import used

LATENT = {"shortening_ffn_hidden": 512, "shortening_groups": 3, "shortening_group_learned_pos": True}
POOLED = {"shortening_use_pooling": True, "shortening_groups": 3, "shortening_group_learned_pos": True}
SPARSE = {"shortening_use_sparsemax": True}
GATED = {"context_use_parallel_cross_attention": True, "context_use_gated_context_attention": True}
CASES = {  # the architecture's first word, its options
    "tokens, serial": ("caching", {}),
    "tokens, concatenated": ("caching", {"context_concatenate_context": True}),
    "sentence, parallel with gate": ("caching", {"caching_aggregate_sentence": True, **GATED}),
    "mean": ("shortening", {**POOLED, "shortening_pooling_type": "mean"}),
    "max": ("shortening", {**POOLED, "shortening_pooling_type": "max"}),
    "linear": ("shortening", {**POOLED, "shortening_pooling_type": "linear"}),
    "group, sparsemax": ("shortening", {**LATENT, **SPARSE}),
    "group, softmax": ("shortening", LATENT),
    "group, concatenated": ("shortening", {**LATENT, **SPARSE, "context_concatenate_context": True}),
    "select": ("shortening", {**LATENT, **SPARSE, "shortening_selecting_groups": True}),
    "group, without current": ("shortening", {**LATENT, **SPARSE, "shortening_no_current_context": True}),
}


def run(name, kind, options, table):
    from contextual_mt.contextual_list_dataset import ContextualListDataset
    from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY

    path = c.folder()
    dictionary = c.dictionary_in(path, "<brk>", "<mask>")
    arch = f"{kind}_contextual_transformer"
    gradient = {f"{kind}_propagate_context_encoder_gradient": True}
    args = Namespace(
        **c.SIZES,
        **options,
        **gradient,
        arch=arch,
        source_lang="en",
        target_lang="fr",
        source_context_size=2,
        target_context_size=0,
        context_sentence_learned_pos=True,
        encoder_layers_to_keep=None,
        decoder_layers_to_keep=None,
        max_source_positions=1024,
        max_target_positions=1024,
    )
    ARCH_CONFIG_REGISTRY[arch](args)
    task = Namespace(source_dictionary=dictionary, target_dictionary=dictionary)
    model = ARCH_MODEL_REGISTRY[arch].build_model(args, task)
    c.save(path, c.randomise(model), args)
    loaded = c.imported(path)

    sources, targets = c.text()
    lengths = [[len(sentence) for sentence in side] for side in (sources, targets)]
    dataset = ContextualListDataset(
        sources, lengths[0], dictionary, targets, lengths[1], dictionary, c.document_ids(), src_ctx_size=2
    )
    theirs, states = [], []
    for line in range(len(sources)):
        batch = dataset.collater([dataset[line]])
        output = model(**batch["net_input"])
        theirs.append(c.numbers(model, model.get_normalized_probs(output, True)[0], batch["target"][0]))
        inputs = {k: v for k, v in batch["net_input"].items() if k.startswith("src")}
        states.append(model.encoder(**inputs)["encoder_out"][0][0])
    batches = list(c.our_batches(loaded, sources, targets))
    ours = [c.our_numbers(loaded, *each) for each in batches]
    table.compare_states(name, c.source_states(loaded, batches), states)
    table.compare(name, ours, theirs, columns=slice(len(dictionary)))
    table.compare_scores(name, loaded, theirs, missing_context="none")
    translations = [
        search(loaded, line, batch, model, dataset, dictionary) for line, (batch, _) in enumerate(batches)
    ]
    table.add(
        f"{name}: {len(translations)} searches, different",
        sum(a != b for a, b in translations),
        "their search",
    )


def search(loaded, line, batch, model, dataset, dictionary):
    """The best of a beam of three of both."""
    from contextual_mt.contextual_sequence_generator import ContextualSequenceGenerator
    from fairseq.sequence_generator import SequenceGenerator

    ours = SequenceGenerator(loaded.models, loaded.task.target_dictionary, beam_size=3, max_len_b=12)
    theirs = ContextualSequenceGenerator(
        [model], dictionary, beam_size=3, max_len_b=12, no_repeat_ngram_size=0
    )
    their_batch = dataset.collater([dataset[line]])
    found = [
        [int(token) for token in generator.generate(models, sample)[0][0]["tokens"]]
        for generator, models, sample in ((ours, loaded.models, batch), (theirs, [model], their_batch))
    ]
    return tuple(found)


def main():
    c.checkout()
    import contextual_mt  # noqa: F401  (registers)

    table = c.Table(
        "Pawel-M/shortening-context-mt and ours with --missing-context empty --shortening-partial zeros"
    )
    for name, (kind, options) in CASES.items():
        run(name, kind, options, table)
    table.say("used and trained on", used(c.IMPORTED[0]))
    table.show()


if __name__ == "__main__":
    main()
