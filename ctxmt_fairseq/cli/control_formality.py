"""How accurately a model's translations are formal or informal, as its context asks for.

Every sentence is translated without context and with each prompt as its only context: a model that was
trained with the current sentence's own vector does without it too, unless --current-vector yes. The
references of both formalities have the phrases that express it marked, [F]Haben Sie[/F] das gehört?, as in
CoCoA-MT and the IWSLT 2022 formality task, whose rule counts: a translation is formal if all words of a
formal phrase are among its words and those of no informal phrase are, and the other way round; the accuracy
is the share that is as wanted of those that are either. Several files of each kind (domains) count as one
set.

The default prompts are those of MTCue (Vincent et al. 2023, appendix D), which reports the best of them for
either formality; a warning says where its accuracy rests on few translations. Any system's translations can
be judged without a model.

Examples:
  ctxmt control formality mtcue.pt --source test.en --formal test.formal.annotated.de \
--informal test.informal.annotated.de --json formality.json
  ctxmt control formality --formal-hypotheses formal.de --informal-hypotheses informal.de \
--formal test.formal.annotated.de --informal test.informal.annotated.de
"""

PROMPT_OPTIONS = "--prompts, --formal-prompt, --informal-prompt"


def add_arguments(parser) -> None:
    from ctxmt_fairseq.cli.control_options import add_evaluation_options

    parser.add_argument("path", metavar="MODEL", nargs="?", help="a checkpoint; several joined by ':'")
    text = parser.add_argument_group("text")
    text.add_argument("--source", metavar="FILE", nargs="+", help="sentences, one per line (for a MODEL)")
    text.add_argument(
        "--formal", metavar="FILE", nargs="+", required=True, help="annotated formal references, line by line"
    )
    text.add_argument("--informal", metavar="FILE", nargs="+", required=True, help="informal ones")
    text.add_argument("--formal-hypotheses", metavar="FILE", nargs="+", help="translations meant as formal")
    text.add_argument("--informal-hypotheses", metavar="FILE", nargs="+", help="those meant as informal")
    prompts = parser.add_argument_group("prompts")
    for formality in ("formal", "informal"):
        prompts.add_argument(
            f"--{formality}-prompt",
            metavar="TEXT",
            action="append",
            help=f"a context for {formality} translation; repeated for more (default: MTCue's five)",
        )
    prompts.add_argument(
        "--prompts",
        metavar="FILE",
        help="a line each: formal or informal, a tab and a prompt; or a prompt that is tried for both",
    )
    add_evaluation_options(parser)


def run(args) -> None:
    from ctxmt_fairseq.cli.control_options import check_system, read_setting, rule_of, write_result
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.attribute_control.formality import (
        FORMAL,
        INFORMAL,
        FormalityReport,
        judge,
        read_references,
    )
    from ctxmt_fairseq.evaluation.attribute_control.judging import words_among

    check_system(args, "--formal-hypotheses", "--informal-hypotheses")
    if (args.path is None) != (args.source is None):
        raise BadInput("--source: expected with a MODEL, and only then")
    setting = read_setting(args)
    if args.path is None:
        if args.formal_prompt or args.informal_prompt or args.prompts:
            raise BadInput(f"{PROMPT_OPTIONS}: expected a MODEL")
        beside = {
            "--formal-hypotheses": args.formal_hypotheses,
            "--informal-hypotheses": args.informal_hypotheses,
        }
    else:
        beside = {"--source": args.source}
    references, lines = read_references(args.formal, args.informal, beside)
    if args.path is None:
        translations = dict(zip((FORMAL, INFORMAL), lines.values(), strict=True))
        outcomes = judge(translations, references, rule_of(args, words_among))
        report, plain = FormalityReport(outcomes), "translations"
    else:
        report, plain = _control(args, lines["--source"], references), "no context"
    print(report.table(plain))
    system = args.path or args.formal_hypotheses[0]
    write_result(args, system, setting, report.as_dict(), report.example_lines(references))


def _control(args, sentences, references):
    import sys

    from ctxmt_fairseq.cli.control_options import load_translate, rule_of
    from ctxmt_fairseq.errors import BadInput
    from ctxmt_fairseq.evaluation.attribute_control.formality import (
        FORMAL,
        INFORMAL,
        PROMPTS,
        control_formality,
        read_prompts,
    )
    from ctxmt_fairseq.evaluation.attribute_control.judging import words_among

    given = args.formal_prompt or args.informal_prompt
    if given and args.prompts:
        raise BadInput("expected --prompts, or --formal-prompt and --informal-prompt")
    prompts = {
        FORMAL: args.formal_prompt or PROMPTS[FORMAL],
        INFORMAL: args.informal_prompt or PROMPTS[INFORMAL],
    }
    if args.prompts:
        prompts = read_prompts(args.prompts)
    loaded, translate = load_translate(args)
    if not loaded.reads_metadata:
        if given or args.prompts:
            raise BadInput(f"{PROMPT_OPTIONS}: expected a model of the task metadata_context")
        print("ctxmt: the model reads no metadata: without prompts", file=sys.stderr)
        prompts = dict.fromkeys(prompts, ())
    return control_formality(translate, sentences, references, prompts, rule_of(args, words_among, loaded))
