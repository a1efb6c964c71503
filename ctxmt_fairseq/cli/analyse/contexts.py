"""Texts of contexts as points, before and after a model's context encoder: two maps, made with UMAP.

For mtcue_transformer and cue_transformer. Before is the text encoder's vector, after the context encoder's
output for this context alone. Colours show an attribute of the texts or a measured score, as figure 3 of the
MTCue paper; markers a second attribute; up to 30 points are named. How well the vectors themselves separate
the attributes is printed.

Contexts are
  --texts FILE   a text per line, and after tabs up to two attributes (strings or numbers): colour and marker
  --split NAME   all distinct metadata of a split of the data folder, the attribute is the field
  --scores FILE  the prompts that ctxmt control formality --json measured; with --texts or --split, of
                 their texts those that have a score. Then the score comes before other attributes.
  --previous FILE  sentences, as --texts, beside the metadata of --texts or --split in one map: the model
                 takes them for the previous sentence, and a further attribute tells them apart.

Example: ctxmt analyse contexts mtcue.pt --texts contexts.tsv --output contexts.png
"""

from typing import TYPE_CHECKING, List, Optional, Tuple

from ctxmt_fairseq.base import option_types
from ctxmt_fairseq.base.command import OptionGroup, option
from ctxmt_fairseq.base.errors import BadInput
from ctxmt_fairseq.base.paths import Input, Scatter
from ctxmt_fairseq.cli.options.model import OfModel

if TYPE_CHECKING:
    from ctxmt_fairseq.analysis.labelled_texts import LabelledTexts
    from ctxmt_fairseq.generation.loading import LoadedModels


class Texts(OptionGroup):
    heading = "contexts"

    texts: Optional[Input] = option("text, or text TAB attribute (TAB attribute), per line")
    split: Optional[str] = option("the metadata of train, valid, test, ..")
    previous: Optional[Input] = option("previous sentences beside them, one per line")
    scores: Optional[Input] = option("result of ctxmt control formality --json", metavar="FILE.json")
    sentences: bool = option("the model takes the texts for the previous sentence, not for metadata")

    def check(self) -> None:
        """Raises BadInput: options that do not go together, or a file that is not there."""
        from ctxmt_fairseq.text.text_lines import open_file

        if (self.texts and self.split) or not (self.texts or self.split or self.scores):
            raise BadInput("give --texts, --split or --scores, but not the first two together")
        if self.previous and (self.sentences or self.scores):
            raise BadInput("leave out --sentences and --scores beside --previous")
        for path in filter(None, (self.texts, self.previous, self.scores)):
            open_file(path).close()

    def read(self, loaded: "LoadedModels") -> Tuple["LabelledTexts", List[int]]:
        """The texts with their attributes, and for what the model takes each."""
        from ctxmt_fairseq.analysis import labelled_texts
        from ctxmt_fairseq.analysis.context_space import METADATA, PREVIOUS, check_distance
        from ctxmt_fairseq.analysis.labelled_texts import SCORE, read_formality_scores

        scores = read_formality_scores(self.scores) if self.scores else {}
        labelled = labelled_texts.LabelledTexts(list(scores))
        if self.texts:
            labelled = labelled_texts.read_labelled_texts(self.texts)
        previous = labelled_texts.read_labelled_texts(self.previous) if self.previous else None
        distance = PREVIOUS if self.sentences or previous else METADATA
        check_distance(loaded.model, distance)
        if self.split:
            loaded.task.load_dataset(self.split)
            labelled = labelled_texts.metadata_texts(loaded.task.dataset(self.split).contexts)
        if self.scores:
            known = len(labelled.texts)
            labelled = labelled.scored(SCORE, scores)
            print(f"{len(labelled.texts)} of {known} texts have a score")
        if previous is None:
            return labelled, [distance] * len(labelled.texts)
        distances = [METADATA] * len(labelled.texts) + [PREVIOUS] * len(previous.texts)
        return labelled_texts.metadata_and_sentences(labelled, previous), distances


class Contexts(OfModel):
    texts: Texts
    seed: int = option("of the maps", 1, option_types.seed)
    output: Scatter = option(
        "the picture; FILE.csv and FILE.json beside it have the numbers", Scatter("contexts.png")
    )

    def run(self) -> None:
        from ctxmt_fairseq.analysis.architecture import architecture
        from ctxmt_fairseq.analysis.context_map import check_umap, context_map
        from ctxmt_fairseq.analysis.context_space import context_space
        from ctxmt_fairseq.analysis.labelled_map import write_picture

        self.texts.check()
        check_umap()
        loaded = self.model.load_one(self.path)
        labelled, distances = self.texts.read(loaded)
        space = context_space(loaded, labelled.texts, distances)
        encoder, name = loaded.task.known["encoder"], architecture(loaded.model)
        shown = context_map(labelled, space, encoder, name, self.seed)
        sizes = " to ".join(map(str, shown.dimensions))
        print(f"{len(labelled.texts)} texts, {sizes} dimensions", shown.table(), sep="\n\n")
        files = write_picture(self.output, shown.draw(), shown.csv(), shown.as_dict())
        print("", *files, sep="\n")
