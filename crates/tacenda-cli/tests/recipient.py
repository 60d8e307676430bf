"""A recipient opens a release: publish the demo's series with the real binary, then load every
release with pandas, from CSV and from Parquet, and count people in it."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECIPES = HERE.parents[2] / "docs" / "recipes.md"
READS = HERE.parent.parent / "tacenda" / "tests" / "pandas_reads_release.py"


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "hospital"
        run = [binary, "demo", project, "--patients", "2000", "--format", "json"]
        report = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
        releases = sorted((project / "releases").glob("*/r*"))
        assert len(releases) == 4, releases
        for release, summary in zip(releases, report["releases"]):
            subprocess.run([sys.executable, READS, release], check=True)
            manifest = json.loads((release / "manifest.json").read_text())
            assert manifest["release"]["number"] == summary["release"], manifest["release"]
        recipes(binary, releases[-1])
    print("4 releases read by pandas; the recipes count as tacenda count does")


def recipes(binary: pathlib.Path, release: pathlib.Path) -> None:
    """Runs the recipes of the README (pandas) and of docs/recipes.md (polars), and compares them with tacenda count."""
    readme = (release / "README.md").read_text()
    blocks = [block for block in fenced(readme) if "def spread" in block]
    assert len(blocks) == 1, "the README has one recipe that weighs rows"
    os.chdir(release)
    pandas = {}
    exec(blocks[0], pandas)
    counts, unit = pandas["counts"], json.loads((release / "manifest.json").read_text())["counts"]["unit"]
    assert len(counts) > 20 and (counts.people % unit == 0).all(), counts
    for column, cells in counts.groupby("column"):
        off = (pandas["spread"](column).sum() - cells.set_index("cell").people).abs()
        assert off.max() < unit, f"{column}: {off.max()}"
    polars = {name: pandas[name] for name in ("number", "cover", "values", "below", "csv", "pd")}
    polars["stem"] = next(release.glob("*.counts.csv")).name.removesuffix(".counts.csv")
    exec(next(block for block in fenced(RECIPES.read_text()) if "polars" in block), polars)
    old = lambda cell: pandas["number"](cell[1:-1].split(",")[0]) >= 65
    women = lambda cell: cell == "F"
    for where, wanted in [("age >= 65", {"age": old}), ("sex = F and age >= 65", {"age": old, "sex": women})]:
        asked = [binary, "count", release, "--where", where, "--format", "json"]
        said = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)["estimate"]
        weights = pandas["people"].row_weight.astype(float).to_numpy()
        for name, recipe in [("pandas", pandas), ("polars", polars)]:
            fits = weights.copy()
            for column, fit in wanted.items():
                fits = fits * recipe["share"](column, fit).to_numpy()
            assert abs(fits.sum() - said) < 1 + 0.01 * said, f"{name}, {where}: {fits.sum()}, not {said}"


def fenced(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.S)


if __name__ == "__main__":
    main()
