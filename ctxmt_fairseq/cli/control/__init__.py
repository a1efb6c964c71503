"""Control attributes of translations, such as formality, by context, and measure how accurately that works.

Examples:
  ctxmt control formality mtcue.pt --source test.en --formal test.formal.annotated.de \
--informal test.informal.annotated.de
  ctxmt control few-shot corpus/train --counts 0,1,5,30,all --attributes speaker,formality --out few-shot
"""

COMMANDS = {
    "cli.control.": {
        "formality": "accuracy of formal and informal translation on contrastive references (CoCoA-MT)",
        "attributes": "accuracy by attribute and combination on a set with expected forms",
        "few-shot": "training metadata with annotations kept on k examples per combination",
    }
}
