"""A recipient opens a release: publish the demo's series with the real binary, then load every
release with pandas, from CSV and from Parquet, and count people in it."""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
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
    print("4 releases read by pandas")


if __name__ == "__main__":
    main()
