"""Lines of coreference files, as tools other than ours write them."""

import json


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def record(line, pronoun, at, span, nominal=True, source="corenlp"):
    antecedent = None if at is None else {"line": at, "span": span, "nominal": nominal}
    return json.dumps({"line": line, "pronoun": pronoun, "antecedent": antecedent, "source": source})
