"""The command lines that the fuzzer starts from: all of ``ctxmt``, fairseq's validation, scripts."""

from tests.fuzz.command import LANGUAGES, Command, given
from tests.fuzz.corpus_commands import CORPUS_COMMANDS

MODEL, MTCUE = "model/checkpoint_last.pt", "mtcue/checkpoint_last.pt"
FORMALITY = "--formal formal.fr --informal informal.fr"
HYPOTHESES = "--formal-hypotheses formal.hyp --informal-hypotheses informal.hyp"
PROMPTS = "--prompts prompts.tsv --cpu --beam 2"
VALIDATE = "--valid-subset valid --cpu --batch-size 4 --num-workers 0"
TRAIN = (
    "--task document_window --arch concat_transformer_tiny --encoder-layers 1 --decoder-layers 1 --cpu "
    "--criterion cross_entropy --optimizer sgd --lr 0.1 --max-tokens 200 --max-update 1 --num-workers 0 "
    "--source-context 1 --target-context 1 --disable-validation --no-save --save-dir ."
)
WEIGHTS = (
    "--token-weights weights --upsample pronouns=2 "
    "--criterion context_discounted_label_smoothed_cross_entropy"
)
HIGHLIGHTS = "--attention-highlights marks.jsonl --attention-weight 2"
GIVEN = "--bpe-codes given/codes --dict-source given/en.txt --dict-target given/fr.txt"
ANNOTATION = "--source-annotation words.jsonl --target-annotation words.jsonl"
SEARCH = "--cpu --beam 2 --max-len-b 4"

CONTEXT = given(
    "--data data|. --source-context 0|2 --source-context-after 0|1 --target-context 0|3 "
    "--target-context-on-source 0|1 --context-selection document|random|empty|absent|reference|swapped "
    "--metadata-fields all|none|genre --current-vector yes|no --window-tokens 0|12"
)
RESULT = given("--json json --examples lines --system name --setting setting.json --unspaced")
TEXT = given("--valid text --test text|text,text --blank-lines")
SCORE = given(
    "--docids text.docids --current text.current --lowercase --json json "
    "--tokenize 13a|char|intl|zh|none|flores200|ja-mecab|spm"
)
FORMS = given("--matching ctxpro|words --current forms.current --json json --examples lines")
EMBED = given(
    "--out store --fields all|none|genre|genre,plot --no-sentences --dtype float16|float32 --batch-size 2 "
    "--json json"
)
TRANSLATE = given(
    "--current text.current --output new --decoding prefix|window --target-context-from text.fr "
    "--context Sir --contexts text.meta.jsonl --keep-sentence current|first --documents-at-once 1 --scores "
    "--too-long cut|split|empty --lenpen 0|0.6|-1 --max-len-a 0|0.5 --max-len-b 0|3 --min-len 0|1|5 "
    "--unkpen 0|-2.5 --no-repeat-ngram-size 0|2 --corpus made --tag <BT> --mark origin=synthetic"
)
SENTENCE = given(
    "--sentence Hello --context Boat --document blank.en --line 2 --side encoder|decoder --layer 1 "
    "--target Bonjour --metadata Sir --output map.png"
)
CONTRAST = given(
    "--reduction sum|mean --span current|window --max-tokens 100 --json json --examples lines "
    "--format jsonl|voita|opensubs|scat|contrawsd"
)
EVALUATE = given(
    "--contexts trained|random|empty|absent|swapped --random-context random|shuffled --window 1|3 "
    "--keep-sentence current|first --decoding prefix|window --target-context-from reference|own|model "
    "--lenpen opt --dev few --lenpens 0.5 --bootstrap 5 --lowercase --average 1|2 --out new "
    "--convention suite|mean-window --tokenize char|none --documents documents --too-long cut|split|empty"
)
PROBE = given(
    "--contexts random|shuffled|empty|reference|swapped --sizes 0|1 --tags tags.jsonl --json json "
    "--words words --unit document|sentence --tokenize 13a|none|spm --top 2 --min-count 1|3 "
    "--select 3 --select-output selected --by max-cxmi|mean-cxmi|tag"
)
SETS = {
    "bawden.json": "",
    "voita.json": "",
    "jsonl.jsonl": "",
    "opensubs": "",
    "contrawsd.json": "",
    "scat.json": "",
}
SETS["contrapro.json"] = " --documents documents"

COMMANDS = [
    Command("user-dir", "user-dir", "", 2),
    Command(
        *("benchmark", "scripts.benchmark nothing --against measured.json", "measured", 8),
        *(given("--repeats 1 --sentences 5 --cpu"), True),
    ),
    Command(
        *("demo-corpus", "demo-corpus new --documents 1 --evaluation-documents 1 --examples 2", "", 3),
        given("--seed 2 --document-length 4 --phenomena pronoun|deixis,ellipsis --json"),
    ),
    Command(
        *("train", "train gated data new --dry-run", "data", 6),
        *(given("--size tiny|huge --from model/checkpoint_last.pt --lr x --list --bibtex"), True),
    ),
    Command("score", "score text.fr text.fr", "text.", 60, {**SCORE, **given("--bootstrap 5")}),
    Command("score-forms", "score-forms forms.jsonl forms.hyp", "forms", 20, FORMS),
    Command("score-forms json", "score-forms forms.json forms.hyp", "forms", 20, FORMS),
    Command(
        *("compare contrast", "compare contrast A=examples.jsonl B=examples.jsonl", "examples", 40),
        given("--json json --all-pairs"),
    ),
    Command(
        *("compare translations", "compare translations text.fr text.en text.fr --samples 100", "text.", 8),
        {**SCORE, **given("--seed 3 --metric bleu|chrf2 --unit document|sentence --all-pairs")},
    ),
    Command(
        *(
            "preprocess words",
            f"preprocess {LANGUAGES} --train text --no-subwords --out new",
            "text. counts",
            12,
        ),
        {
            **TEXT,
            **given("--separate --overwrite --vocab-size 5 --moses --moses-no-escape --moses-split-dashes"),
            **given("--truecase --truecase-counts counts --lowercase"),
        },
    ),
    Command(
        *("preprocess given", f"preprocess {LANGUAGES} --train text {GIVEN} --out new", "text. given", 12),
        {**TEXT, **given("--lowercase --overwrite --workers 1 --drop-overlap --bpe-vocabulary given/en.txt")},
    ),
    Command(
        *("preprocess like", f"preprocess {LANGUAGES} --test text --like data --out new", "text. data", 12),
        TEXT,
    ),
    Command(
        *(
            "preprocess subwords",
            f"preprocess {LANGUAGES} --train text --vocab-size 60 --out new",
            "text.",
            4,
        ),
        {**TEXT, **given("--joint --separate --spm-type bpe|unigram --workers 1 --character-coverage 0.99")},
    ),
    Command(
        *("embed preview", "embed data --train text --encoder discrete --dry-run", "text. data", 20),
        {**TEXT, **EMBED},
    ),
    Command("embed", "embed data --train text --encoder discrete", "text. data", 8, {**TEXT, **EMBED}),
    Command(
        *("preprocess pieces", f"preprocess {LANGUAGES} --test text --like pieces --out new", "text. pieces"),
        *(15, {**TEXT, **given("--workers 1")}),
    ),
    Command(
        "embed encoder", "embed data --train text --encoder encoder --cpu --out new", "text. data encoder", 15
    ),
    Command("threads", f"threads {MODEL} few.en", f"few. {MODEL} data", 4),
    # Text is read before the model: most of its defects show without one.
    Command(
        *("read text", "translate nowhere.pt text.en --docids text.docids", "text.", 25),
        {**TRANSLATE, **CONTEXT},
    ),
    Command("import", "import foreign/checkpoint.pt new", "foreign", 8, given("--data data --overwrite")),
    Command("card", "card alone", "alone", 8, given("--data data --license mit --json json --markdown new")),
    Command("converted", f"translate converted few.en {SEARCH}", "few. converted", 4),
    Command("export", "export alone new --to safetensors", "alone", 8, given("--license mit --overwrite")),
    Command("read subtitles", "translate nowhere.pt film.srt", "film", 12, given("--pause 0|1e3|x")),
    Command("subtitles", f"translate {MODEL} film.ass {SEARCH}", f"film {MODEL} data", 3),
    Command(
        *("read glossary", "translate nowhere.pt few.en --glossary terms.tsv", "few. terms"),
        *(12, given("--keep it|x")),
    ),
    Command("read table", "translate nowhere.pt table.tsv", "table", 8, given("--source-column id")),
    Command("read joined", "translate nowhere.pt joined.en --joined <eos>", "joined", 12, CONTEXT),
    Command(
        "read lines", "translate nowhere.pt lines.jsonl --json-lines", "lines", 25, {**TRANSLATE, **CONTEXT}
    ),
    Command(
        *("translate", f"translate {MODEL} few.en --docids few.docids {SEARCH}"),
        *(f"few. text. {MODEL} data", 4, {**TRANSLATE, **CONTEXT}),
    ),
    Command(
        *("translate contexts", f"translate {MTCUE} few.en --contexts few.meta.jsonl {SEARCH}"),
        *(f"few. text. {MTCUE} data", 3),
        {**TRANSLATE, **CONTEXT},
    ),
    Command(
        *("translate journal", f"translate {MODEL} text.en --docids text.docids --output out {SEARCH}"),
        *(f"text. out {MODEL} data", 4),
    ),
    Command(
        *("evaluate", f"evaluate model few sets/jsonl.jsonl --out evaluated {SEARCH}"),
        *("few. model data sets/jsonl evaluated", 3, EVALUATE),
    ),
    Command(
        *("probe", f"probe {MODEL} text --cxmi-only --cpu --max-tokens 500", f"text. tags {MODEL} data", 2),
        *({**PROBE, **CONTEXT}, True),
    ),
    Command(
        *("probe vectors", f"probe {MTCUE} text --cxmi-only --cpu --contexts absent", f"text. {MTCUE} data"),
        *(1, {**PROBE, **CONTEXT}, True),
    ),
    Command(
        *("average", "average model --count 2", "model", 15),
        given("--around best|last --output new.pt"),
    ),
    Command(
        *("compare lines", "compare lines text.en text.fr A=text.en text.fr --json json", "text.", 15),
        given("--docids text.docids --current text.current --context 0|9 --metric chrf1 --top 1 --lowercase"),
    ),
    Command(
        *("report", "report evaluated A=run compared.json picture.png --output page.html"),
        *("evaluated run/ compared picture", 25),
        given(
            "--source text.en --reference text.fr --docids text.docids --sets sets/jsonl.jsonl "
            "--examples 0|3 --title x"
        ),
    ),
    Command(
        *("compare pronouns", "compare pronouns text.en text.fr text.fr text.en --coreference coref.jsonl"),
        *("text. coref align words", 15),
        given(
            "--alignment align --annotation words.jsonl --samples 100 --metric chrf1 --least 1|9 --json json"
        ),
    ),
    Command(
        "corenlp",
        "corenlp corenlp/1.json corenlp/2.json --text text.en --docids text.docids --out new",
        *("text. corenlp", 15, given("--name x")),
    ),
    Command(
        *("corpus align", "corpus align text.en text.fr --output new"),
        *("text.", 15),
        given("--train text.fr"),
    ),
    Command(
        *("corpus tag", f"corpus tag text {LANGUAGES} --alignment align --output new {ANNOTATION}"),
        *("text. align words", 20, given("--context 1 --suite out --workers 1")),
    ),
    Command(
        *("corpus annotate", "corpus annotate text.fr --lang ru --output new"),
        *("text.", 15, given("--lang de|fr_FR --model text")),
    ),
    Command(
        *("analyse groups", f"analyse groups {MODEL} --sentence Hello", f"{MODEL} data blank", 2),
        {**SENTENCE, **CONTEXT},
    ),
    Command(
        *("analyse group-use", "analyse group-use nowhere.pt text.en --annotation words.jsonl"),
        *("text.en words", 15, given("--json json --max-tokens 1")),
    ),
    Command(
        *("analyse attention", f"analyse attention {MTCUE} --sentence Hello", f"{MTCUE} data blank", 2),
        {**SENTENCE, **CONTEXT},
    ),
    Command(
        *("analyse attention-share", f"analyse attention-share {MODEL} text --cpu", f"text. {MODEL} data", 1),
        {
            **CONTEXT,
            **given("--json json --output map.png --samples 100 --seed 2 --max-tokens 1|90 --rule program"),
        },
    ),
    Command(
        *("analyse lengths", "analyse lengths text.en text.fr text.fr text.en --samples 100", "text.", 8),
        given(
            "--edges 1|5|x --current text.current --metric chrf1|bleu --tokenize char|13a|none --lowercase "
            "--seed 2 --json json --output map.png"
        ),
    ),
    Command(
        *("analyse consistency", "analyse consistency text.en a=text.fr b=text.en --docids text.docids"),
        *("text. align words", 8),
        given(
            "--reference text.fr --alignment a=align|b=align --annotation words.jsonl "
            "--current text.current --min-count 2|3 --min-length 1|4 --common 0.1|1 --prefix 0|3 "
            "--all-pairs --samples 100 --seed 2 --json json --terms terms.tsv"
        ),
    ),
    Command(
        *(
            "analyse consistency aligned",
            "analyse consistency text.en a=text.fr --docids text.docids --alignment a=align",
        ),
        *("text. align words", 15),
        given("--annotation words.jsonl --common 1 --samples 100 --terms terms.tsv"),
    ),
    Command(
        *("analyse curves", "analyse curves run A=run/train.log --json json", "run/", 20),
        given("--by update --metrics loss|ppl --subset valid|test"),
    ),
    Command(
        *("analyse results", "analyse results A=evaluated A=contrast.json --json json"),
        *("evaluated/results contrast", 30),
        given(
            "--metrics bleu|chrf3 --only decoding=prefix|n=opt|x=1 --across window|system|penalty "
            "--against random|trained --lines"
        ),
    ),
    Command(
        *("analyse results option", "analyse results run --across context_discount --json json"),
        *("run/ contrast", 20, given("--beside contrast.json --metrics loss|ppl")),
    ),
    Command(
        *("analyse results examples", "analyse results result.json --across examples --json json"),
        *("result setting", 8),
    ),
    Command(
        *("analyse contexts", "analyse contexts nowhere.pt --texts labelled.tsv"),
        *("labelled scores", 15),
        given("--seed 2 --sentences --scores scores.json"),
    ),
    Command(
        *("control formality", f"control formality {FORMALITY} {HYPOTHESES}"),
        *("formal. informal. setting", 40, RESULT),
    ),
    Command(
        *(
            "control formality model",
            f"control formality {MTCUE} --source formal.hyp {FORMALITY} {PROMPTS}",
        ),
        *(f"formal. informal. prompts {MTCUE} data setting", 1),
        {**RESULT, **CONTEXT},
    ),
    Command(
        *("control attributes", "control attributes --hypotheses attributes.hyp attributes.jsonl"),
        *("attributes. setting", 40, RESULT),
    ),
    Command(
        *("control attributes eamt22", "control attributes --hypotheses eamt22.hyp eamt22.json"),
        *("eamt22", 20, {**RESULT, **given("--translations out")}),
    ),
    Command(
        *("control attributes model", f"control attributes {MTCUE} attributes.jsonl --cpu --beam 2"),
        *(f"attributes. sentences {MTCUE} data setting", 1),
        {**RESULT, **CONTEXT, **given("--sentences sentences.json --batch-size 1")},
    ),
    Command(
        *("control few-shot", "control few-shot text --attributes formality --counts 0,1,all --out few"),
        *("text. sentences", 30),
        given("--seed 3 --sentences sentences.json"),
    ),
    Command("fairseq-validate", f"fairseq-validate data --path {MODEL} {VALIDATE}", f"data {MODEL}", 3),
    Command("fairseq-train weights", f"fairseq-train data {TRAIN} {WEIGHTS}", "data weights", 3),
    Command("fairseq-train highlights", f"fairseq-train data {TRAIN} {HIGHLIGHTS}", "data marks", 3),
    Command("fairseq-validate store", f"fairseq-validate data --path {MTCUE} {VALIDATE}", f"data {MTCUE}", 2),
]
COMMANDS += CORPUS_COMMANDS
for _name, _more in SETS.items():
    _path = f"sets/{_name}"
    COMMANDS += [
        Command(f"read {_name}", f"contrast nowhere.pt {_path}{_more}", f"{_path} documents", 30),
        Command(
            *(
                f"contrast {_name}",
                f"contrast {MODEL} {_path}{_more} --cpu",
                f"{_path} documents {MODEL} data",
            ),
            *(1, {**CONTRAST, **CONTEXT}),
        ),
    ]
