"""neulab/contextual-mt (Fernandes et al. 2021) beside ours: windows of n source and m target sentences."""

from argparse import Namespace

from scripts.against_authors import comparison as c
from scripts.against_authors.usage import used


def run(sizes, table):
    from contextual_mt.contextual_dataset import ContextualDataset
    from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY

    path = c.folder()
    dictionary = c.dictionary_in(path, "<brk>", "<mask>")
    args = Namespace(
        **c.SIZES,
        arch="contextual_transformer",
        source_lang="en",
        target_lang="fr",
        source_context_size=sizes[0],
        target_context_size=sizes[1],
        left_pad_source=False,
    )
    kind = ARCH_MODEL_REGISTRY["contextual_transformer"]
    ARCH_CONFIG_REGISTRY["contextual_transformer"](args)
    model = kind.build_model(args, Namespace(source_dictionary=dictionary, target_dictionary=dictionary))
    c.save(path, c.randomise(model), args)
    loaded = c.imported(path)

    sources, targets = c.text()
    lengths = [[len(sentence) for sentence in side] for side in (sources, targets)]
    dataset = ContextualDataset(
        sources, lengths[0], dictionary, targets, lengths[1], dictionary, c.document_ids(),
        src_ctx_size=sizes[0], tgt_ctx_size=sizes[1], break_tag="<brk>",
    )  # fmt: skip
    theirs, states = [], []
    for line in range(len(sources)):
        batch = dataset.collater([dataset[line]])
        output = model(**batch["net_input"])
        current = batch["target"][0]
        scores = model.get_normalized_probs(output, True)[0][-len(current) :]
        theirs.append(c.numbers(model, scores, current))
        inputs = {k: v for k, v in batch["net_input"].items() if k.startswith("src")}
        states.append(model.encoder(**inputs)["encoder_out"][0][:, 0])
    batches = list(c.our_batches(loaded, sources, targets))
    ours = [c.our_numbers(loaded, *each) for each in batches]
    name = f"{sizes[0]} source, {sizes[1]} target sentences"
    table.compare_states(name, c.source_states(loaded, batches), states)
    table.compare(name, ours, theirs, columns=slice(len(dictionary)))
    table.compare_scores(name, loaded, theirs, context_end="separator")


def main():
    c.checkout()
    import contextual_mt  # noqa: F401  (registers)

    table = c.Table("neulab/contextual-mt and ours with --context-end eos")
    for sizes in ((2, 2), (0, 1), (3, 0)):
        run(sizes, table)
    table.say("used and trained on", used(c.IMPORTED[0]))
    table.show()


if __name__ == "__main__":
    main()
