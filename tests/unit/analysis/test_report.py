"""``ctxmt report``: what stands in the page, and that it is one harmless file."""

import base64
import io
import json
import os
import re
import shutil
import subprocess

import pytest
from PIL import Image

from ctxmt_fairseq.analysis.page.found import _from_here
from ctxmt_fairseq.analysis.page.result_blocks import owner_of, translation_tests
from ctxmt_fairseq.analysis.page.svg_curves import curve_chart
from ctxmt_fairseq.base.plots.charts import Point
from ctxmt_fairseq.evaluation.significance.contrast import compare_contrast
from tests.helpers.html_pages import Page, check_harmless, column
from tests.helpers.reports import REFERENCE, SOURCE, SYSTEMS, run, write_lines, write_runs
from tests.helpers.result_files import results, translation, write_results

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of runs, and the arguments that make the page of them; no test changes it."""
    folder = tmp_path_factory.mktemp("runs")
    arguments = write_runs(folder)
    compared = json.loads((folder / "compared.json").read_text())
    compared["comparisons"][1]["stars"] = "**"
    (folder / "compared.json").write_text(json.dumps(compared))
    run("report", *arguments, "--output", folder / "report.html")
    return folder, arguments


@pytest.fixture(scope="module")
def html(made):
    return (made[0] / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


# ---- what it shows -----------------------------------------------------------------------------------


def test_scores_stand_side_by_side_with_their_stars(made, page):
    for number, name in enumerate(SYSTEMS):
        results = json.loads((made[0] / f"runs/{name}/evaluation/results.json").read_text())
        for score in results["translations"]["prefix"]["scores"]:
            title = score["name"] + (", document" if score["level"] == "document" else "")
            stars = "**" if (name, title) == ("s2to2", "chrF2") else ""
            assert column(page, SYSTEMS, title)[number] == f"{score['score']:.2f}{stars}"
    assert "stale" not in page.text and "99 sentences" not in page.text
    assert column(
        page, ("metric", "resampled", "difference", "95 % interval", "p"), "s2to2 - sentence, own context"
    )


def test_systems_that_found_other_length_penalties_stand_side_by_side(tmp_path):
    """With the penalties; of two in one folder, without results.json, both are shown."""
    for name, penalty, bleu in (("a", "0.6", 10.0), ("b", "1", 20.0)):
        folder = tmp_path / name / "evaluation"
        write_results(folder.parent, results({f"prefix.w3.n{penalty}.random": bleu, "prefix": 5.0}))
        for made in (f"prefix.w3.n{penalty}.random", "prefix.absent"):  # the latter is not in the results
            write_lines(folder / f"{made}.hyp", REFERENCE if name == "a" else SOURCE)
    for penalty, bleu in (("-0.5", 30.0), ("2", 40.0)):
        (tmp_path / "c").mkdir(exist_ok=True)
        (tmp_path / f"c/prefix.w3.n{penalty}.random.score.json").write_text(json.dumps(translation(bleu)))
    texts = (
        "--source",
        write_lines(tmp_path / "en", SOURCE),
        "--reference",
        write_lines(tmp_path / "fr", REFERENCE),
    )
    run("report", *(tmp_path / name for name in "abc"), *texts, "--output", tmp_path / "page.html")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    (table,) = [table for table in page.tables if table[1][0] == "length penalty n"]
    assert table[1][1:] == ["0.6", "1", "-0.5"] and table[2][1:] == ["10.00", "20.00", "30.00"]
    shared = "random context, windows of 3, its own length penalty"
    assert f"{shared}: " in page.text
    assert "random context, windows of 3, length penalty 2: " in page.text and "40.00" in page.text
    assert f"Where translations differ: {shared}" in page.text and "no context" not in page.text


def test_the_first_lines_say_who_wins(made, page):
    bleu = [float(column(page, SYSTEMS, "BLEU, own context")[place].strip("*")) for place in (0, 1)]
    lead = f"s2to2 has the best BLEU, {bleu[1]:.2f}: {bleu[1] - bleu[0]:+.2f} against sentence"
    other = f"sentence has the best BLEU, {bleu[0]:.2f}; the next, s2to2, has {bleu[1] - bleu[0]:+.2f}"
    assert f"Summary {lead if bleu[1] > bleu[0] else other} (not significant)." in page.text
    assert "s2to2 decides more than sentence in 1 of 1 contrastive sets, in 1 significantly." in page.text
    assert column(page, SYSTEMS, "pronouns, accuracy %")[1] == "83.3*"


def test_losses_of_other_units_are_in_other_charts(made, tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(made[0], folder)
    log = folder / "runs/s2to2/train.log"
    before = run_page(folder)
    head = "{'_name': None, 'criterion': {'_name': 'other'}}"
    log.write_text(f"2026-01-02 03:04:05 | INFO | fairseq_cli.train | {head}\n{log.read_text()}")
    after = run_page(folder)
    assert before.text.count("loss of validations, of its own unit") == 0
    assert "loss of validations, of its own unit: s2to2" in after.text
    assert column(after, SYSTEMS, "trained on")[1] == "2026-01-02"


def run_page(folder):
    runs = [str(folder / "runs" / name) for name in SYSTEMS]
    run("report", *runs, "--output", folder / "other.html")
    return Page((folder / "other.html").read_text(encoding="utf-8"))


def test_accuracies_by_phenomenon_and_distance_with_mcnemar(made, page):
    paths = [str(made[0] / f"runs/{name}/evaluation/pronouns.examples.jsonl") for name in SYSTEMS]
    tests = {row.group: row.as_dict() for row in compare_contrast(list(zip("ab", paths, strict=True)))}
    groups = {"Disc." if group == "disc" else group: row for group, row in tests.items()}
    assert {"all", "gender", "ellipsis <i>", "distance 0", "distance 1", "distance 2", "Disc."} == set(groups)
    for name, row in groups.items():
        examples, *cells = column(page, ("examples", *SYSTEMS), name)
        shares = [100 * row[key] / row["examples"] for key in ("correct_a", "correct_b")]
        assert cells == [f"{shares[0]:.1f}", f"{shares[1]:.1f}{row['stars']}"]
        assert examples == ("" if name == "Disc." else str(row["examples"]))
    assert tests["all"]["stars"]


def test_probes_attention_and_lengths(page):
    assert column(
        page, ("bleu", "chrf2", "CXMI, bits/word", "bits/sentence", "nats/sentence", "nats/token"), "random"
    ) == [
        "29.00**",
        "49.00",
        "+0.0500",
        "+0.500",
        "+0.347",
        "-",  # a result of before
    ]
    assert column(page, SYSTEMS, "share, encoder") == ["0.5000", "0.7000*"]
    charts = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert [chart.split(" by ")[0] for chart in charts] == [
        "CXMI, bits per word", "BLEU", "chrF2", "loss of validations", "BLEU (windows)", "bleu",
    ]  # fmt: skip
    assert sum(tag == "polyline" for tag in page.tags) == 2 * len(charts)
    assert column(page, SYSTEMS, "test") == ["21", "21"]  # of a chart whose places have names
    assert "elle 12 +0.510" in page.text and "perdue" not in page.text  # which context makes no likelier


def test_examples_in_which_systems_differ(page):
    assert "(pronouns: 12 of 24)" in page.text
    before = "Une lampe. Bien."  # the target context, which decides
    example = "pronouns: gender, distance 1; not by sentence A <script>lamp</script>. So. It is 2. "
    assert f"{example}right chosen by s2to2 {before} Elle est 2. wrong {before} Il est 2." in page.text
    assert "4 of 5 sentences are translated differently" in page.text
    first = page.text.index("line 4 "), page.text.index("line 5 ")  # farthest apart first
    assert first[0] < first[1] and "line 1 " not in page.text
    assert f"I saw a lamp. It was red. reference {REFERENCE[1]}" in page.text
    assert f"line 4 The heart & the dog. reference {REFERENCE[3]}" in page.text  # begins a document


def test_commands_and_versions(made, page):
    assert "fairseq-train data --arch s2to2 ctxmt evaluate runs/s2to2 text" in page.text
    assert f"ctxmt compare translations {made[0]}/text.fr" in page.text
    assert column(page, ("this page", *SYSTEMS, "comparisons"), "python")[1:3] == ["3.11", "3.11"]
    assert "BLEU (sentence): nrefs:1|case:mixed" in page.text


def test_the_axis_of_a_chart_holds_its_points():
    points = [Point("bleu", "a", 0, 1.0, 0.5, 1.5), Point("bleu", "a", 2, 3.0, 2.5, 100.00000001)]
    chart = curve_chart("", points, "")
    assert [text for _, text in chart.grid] == ["0", "25", "50", "75", "100"]
    (curve,) = chart.curves
    assert curve.points == [(58.0, 184.2), (336.0, 180.7)]
    assert curve.band == [(58.0, 185.1), (336.0, 181.6), (336.0, 10.0), (58.0, 183.4)]
    flat = curve_chart("", [Point("bleu", "a", 3, 7.0)], "")
    assert flat.curves[0].points == [(197.0, 98.0)] and len(flat.grid) == 5 and not flat.curves[0].band
    assert curve_chart("", [Point("x", "a", 1, value) for value in (1e300, 1e300)], "").grid


def test_the_names_of_places_below_a_chart_hide_no_others():
    """Epochs of two trainings end after 500 and 510 updates; numbers of 7 digits leave no room for ten."""
    for places in ([500, 510, 1000, 1020], range(10**6, 10**7, 10**6)):
        ticks = curve_chart("", [Point("loss", "a", place, 2.0) for place in places], "").ticks
        assert [text for _, text in ticks] == [str(places[0]), str(places[-1])]
    ticks = curve_chart("", [Point("loss", "a", place, 2.0) for place in range(11)], "").ticks
    assert [text for _, text in ticks] == [*map(str, range(11))]


def test_differences_of_comet_have_the_digits_of_the_command():
    row = {"a": "a", "b": "b", "metric": "comet", "units": 9, "unit": "sentence", "stars": "**"}
    row |= {"difference": 0.0043, "low": 0.0021, "high": 0.0062, "p_holm": 0.001}
    table = translation_tests("compared", {"comparisons": [row, {**row, "metric": "bleu"}]}, {})
    assert [each[3].text for each in table.rows] == ["+0.0043", "+0.00"]
    assert table.rows[0][4] == "+0.0021 .. +0.0062"


def test_a_comparison_names_files_from_its_own_folder(tmp_path):
    (tmp_path / "a.hyp").touch()
    row = {"name": "x", "metric": "bleu"}
    content = {"files": {"A": "a.hyp", "B": "b.hyp"}, "comparisons": [row]}
    found = _from_here(tmp_path / "compared.json", content)
    assert owner_of("A", {(tmp_path / "a.hyp").resolve(): ("A", "prefix")}, found) == ("A", "prefix")
    assert owner_of("B", {}, found) is None and found["comparisons"] == [row]


# ---- one harmless file, for a telephone --------------------------------------------------------------


def test_one_file_without_script_that_a_telephone_shows(page, html):
    style = check_harmless(page, html)
    content = {value for tag, name, value in page.attributes if (tag, name) == ("meta", "content")}
    assert "width=device-width, initial-scale=1" in content
    pictures = [value for tag, name, value in page.attributes if name == "src"]
    assert len(pictures) == 1
    for data in pictures:
        image = Image.open(io.BytesIO(base64.b64decode(data.split(",")[1])))
        image.load()
        assert image.format == "PNG" and min(image.size) > 100
    lengths = re.findall(r"(?<!max-)\bwidth:\s*([\d.]+)(px|rem|em)", style)
    lengths += re.findall(r"min-width:\s*([\d.]+)(px|rem|em)", style)
    assert lengths and all(float(size) * (1 if unit == "px" else 16) <= 390 for size, unit in lengths)
    wide = {tag for tag, name, value in page.attributes if name == "width"}
    assert wide == {"rect"}  # in units of the drawing
    assert page.tags.count("table") + page.tags.count("img") == html.count('<div class="scroll">')
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert {f"#{name}" for name in ids} == {value for _, name, value in page.attributes if name == "href"}


PAYLOADS = (
    '"><script>alert(1)</script>', "</style><script>x</script>", "' onerror='x", "{{ 7 * 7 }}{% raw %}",
    "<!--", "]]>", "</pre></title><img src=x onerror=alert(1)>", "javascript:alert(1)", "&lt;b&gt;",
    "\u202e\x01",
)  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_from_files_stays_text(made, tmp_path, payload):
    """Every string of every result is the payload: the page's elements are those of a harmless one."""
    pages = []
    for number, text in enumerate(("harmless", payload)):
        folder = tmp_path / str(number)
        shutil.copytree(made[0], folder)
        for path in folder.rglob("*.json"):
            path.write_text(json.dumps(spoilt(json.loads(path.read_text()), text)))
        for path in [*folder.rglob("*.hyp"), *folder.glob("text.[ef]*")]:
            lines = path.read_text().splitlines()
            path.write_text("".join(f"{text} {line}\n" for line in lines))
        arguments = [*(folder / f"runs/{name}" for name in SYSTEMS), *folder.glob("[clsw]*.json")]
        (folder / "runs/s2to2/train.log").write_text(f"+ {text}\n")
        run(
            "report", *sorted(arguments), "--title", text, "--source", folder / "text.en",
            "--reference", folder / "text.fr", "--output", folder / "report.html",
        )  # fmt: skip
        html = (folder / "report.html").read_text(encoding="utf-8")
        pages.append(Page(html))
        check_harmless(pages[-1], html)
    assert pages[0].tags == pages[1].tags
    shown = " ".join(payload.split())
    assert pages[1].text.count(shown) == pages[0].text.count("harmless") > 40


def spoilt(value, text, key=""):
    """With the text in all values that are shown, and in keys that are names."""
    if isinstance(value, dict):
        named = key in ("translations", "contrast", "phenomena", "versions", "means", "signatures")
        return {f"{text} {k}" if named else k: spoilt(v, text, k) for k, v in value.items()}
    if isinstance(value, list):
        return [spoilt(v, text, key) for v in value]
    return f"{text} {value}" if isinstance(value, str) and key not in ("a", "b", "system") else value


# ---- in a browser ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it(made, tmp_path, width):
    """The page is as wide as the window; $CTXMT_SCREENSHOTS keeps the pictures."""
    picture = tmp_path / f"{width}.png"
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        f"--screenshot={picture}", f"--window-size={width},4000", f"--user-data-dir={tmp_path / 'profile'}",
        f"file://{made[0]}/report.html",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Content Security Policy" not in done.stderr
    image = Image.open(picture).convert("RGB")
    assert image.size == (width, 4000)
    right = image.crop((width - 8, 0, width, 4000))  # the margin
    assert right.getcolors() == [(8 * 4000, (255, 255, 255))]
    assert len(image.getcolors(10**6)) > 20
    if os.environ.get("CTXMT_SCREENSHOTS"):
        shutil.copy(picture, os.environ["CTXMT_SCREENSHOTS"])
