"""The keys of the vault are stock age's: age opens what Tacenda wrapped, and Tacenda opens what age wrote."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import stays


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        project, keys = stays.project(root), root / "config/tacenda/keys"

        def tacenda(*words: str, code: int = 0) -> str:
            done = subprocess.run([binary, "-C", project, *words], capture_output=True, text=True)
            assert done.returncode == code, (words, done.returncode, done.stderr)
            return done.stdout + done.stderr

        tacenda("publish", str(project / "table.csv"), "--yes")
        wrapped = project / ".tacenda/vault/key.age"
        # Each of the two keys opens the project's key with stock age.
        opened = {age("-d", "-i", keys / name, wrapped) for name in ["vault.key", "recovery.key"]}
        assert len(opened) == 1 and len(opened.pop()) == 32
        for name in ["vault.key", "recovery.key"]:
            public = subprocess.run(["age-keygen", "-y", keys / name], capture_output=True, text=True, check=True)
            assert public.stdout.strip() in (keys / "vault.pub").read_text().split()
        # What age wraps, Tacenda opens: the same key for the same recipients, written by age.
        key = age("-d", "-i", keys / "vault.key", wrapped)
        wrapped.write_bytes(age("-R", keys / "vault.pub", text=key))
        assert "the vault and 1 release" in tacenda("verify")
        # A key of age-keygen stands in for ours.
        shutil.rmtree(keys)
        assert "K605" in tacenda("plan", str(project / "table.csv"), code=6)
        keys.mkdir(mode=0o700)
        subprocess.run(["age-keygen", "-o", keys / "vault.key"], check=True, capture_output=True)
        public = subprocess.run(["age-keygen", "-y", keys / "vault.key"], capture_output=True, text=True, check=True)
        (keys / "vault.pub").write_text(public.stdout)
        wrapped.write_bytes(age("-R", keys / "vault.pub", text=key))
        tacenda("plan", str(project / "table.csv"))
        tacenda("vault", "rekey")
        assert age("-d", "-i", keys / "vault.key", wrapped) != key
    print("stock age opens the key of a vault, and Tacenda opens what stock age wrote")


def age(*words, text: bytes = b"") -> bytes:
    return subprocess.run(["age", *words], input=text, capture_output=True, check=True).stdout


main()
