"""A small project that the tests with stock tools publish from: its policy file and its table."""

import os
import pathlib

POLICY = """policy = 1
[series]
name = "stays"
[columns]
id = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 120] }
illness = { role = "sensitive", type = "category" }
[promise]
model = "m-invariance"
m = 2
[counterfeits]
max_share = 0.5
[withheld]
max_share = 0.5
"""


def project(root: pathlib.Path, policy: str = POLICY) -> pathlib.Path:
    """Makes a project below a folder. What the command remembers outside of it stays in that folder, too."""
    os.environ.update(XDG_CONFIG_HOME=str(root / "config"), XDG_STATE_HOME=str(root / "state"))
    folder = root / "project"
    folder.mkdir()
    (folder / "tacenda.toml").write_text(policy)
    illness = ["flu", "gout", "asthma", "angina"]
    rows = "".join(f"p{person},{20 + person % 50},{illness[person % 4]}\n" for person in range(40))
    (folder / "table.csv").write_text("id,age,illness\n" + rows)
    return folder
