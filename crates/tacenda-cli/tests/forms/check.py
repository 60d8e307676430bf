"""SARIF, JUnit and Markdown reports, held against a schema, an XSD and a parser: a series that fails, one with open questions
and one that passes, each with labels and names that need escaping."""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
from lxml import etree
from markdown_it import MarkdownIt

HERE = pathlib.Path(__file__).parent
SERIES = {
    "fails": [
        "age,zip <&|>,disease\n20-29,a|b,flu\n20-29,a|b,<hiv>\n30-39,c & d,flu\n",
        "age,zip <&|>,disease\n20-24,a|b,flu\n25-29,a|b,<hiv>\n30-39,c & d,flu\n40-49,e,`x`\n",
    ],
    "passes": ["age,zip <&|>,disease\n20-29,a,flu\n20-29,a,hiv\n30-39,b,flu\n30-39,b,cold\n"],
}


def printed(binary: pathlib.Path, files: list, form: str) -> str:
    words = [*map(str, files), "--quasi", "age,zip <&|>", "--sensitive", "disease", "--format", form, "-q"]
    run = subprocess.run([binary, "audit", *words], capture_output=True, text=True)
    assert run.returncode in (0, 1, 6), run.stderr
    return run.stdout


def check_sarif(text: str, fails: bool) -> None:
    sarif = json.loads(text)
    schema = json.loads((HERE / "sarif.json").read_text())
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(sarif)
    run = sarif["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert bool(run["results"]) == fails
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"], result


def check_junit(text: str, fails: bool) -> None:
    tree = etree.fromstring(text.encode())
    etree.XMLSchema(etree.parse(HERE / "junit.xsd")).assertValid(tree)
    for suite in tree.iter("testsuite"):
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    assert (int(tree.get("failures")) > 0) == fails


def check_markdown(text: str) -> None:
    """Every line that looks like a row of a table became one, with as many cells as its head; no raw HTML."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    assert not [token for token in tokens if token.type.startswith("html")]
    inline = [child for token in tokens if token.type == "inline" for child in token.children or []]
    assert not [child for child in inline if child.type == "html_inline"]
    rows = sum(token.type == "tr_open" for token in tokens)
    tables = sum(token.type == "table_open" for token in tokens)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert rows + tables == len(lines), (rows, tables, len(lines))
    for is_table, block in itertools.groupby(text.splitlines(), lambda line: line.startswith("|")):
        counts = {line.replace("\\|", "").count("|") for line in block}
        assert not is_table or len(counts) == 1, counts


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        for what, releases in SERIES.items():
            files = []
            for number, text in enumerate(releases, 1):
                files.append(pathlib.Path(name) / f"{what} & co-{number}.csv")
                files[-1].write_text(text)
            fails = what == "fails"
            check_sarif(printed(binary, files, "sarif"), fails)
            check_junit(printed(binary, files, "junit"), fails)
            check_markdown(printed(binary, files, "markdown"))
    print("SARIF, JUnit and Markdown hold against a schema, an XSD and a parser")


if __name__ == "__main__":
    main()
