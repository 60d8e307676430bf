"""A stranger checks a signed release with stock tools alone: minisign, sha256sum and openssl. Every flipped byte is seen. An
approval made with stock minisign counts."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import stays


def main() -> None:
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        project = stays.project(root)

        def tacenda(*words: str, **more: str) -> dict:
            run = [binary, "-C", project, *words, "--format", "json"]
            return json.loads(subprocess.run(run, check=True, capture_output=True, env=os.environ | more).stdout)

        key = tacenda("key", "new", "--no-passphrase")["public_key"]
        release = pathlib.Path(tacenda("publish", str(project / "table.csv"), "--yes")["folder"])
        tries = releases_are_checked(release, key)
        statement_is_checked(release, key)
        rotation_is_checked(tacenda, release.parent, project, key)
        approval_counts(binary, tacenda, root, project)
    print(f"minisign, sha256sum and openssl accept a release; {tries} flipped bytes were all seen")


def minisign(release: pathlib.Path, key: str) -> bool:
    done = subprocess.run(["minisign", "-q", "-Vm", "SHA256SUMS", "-P", key], cwd=release, capture_output=True)
    return done.returncode == 0


def sums(release: pathlib.Path) -> bool:
    return subprocess.run(["sha256sum", "--check", "--strict", "--status", "SHA256SUMS"], cwd=release).returncode == 0


def releases_are_checked(release: pathlib.Path, key: str) -> int:
    assert minisign(release, key) and sums(release)
    tries = 0
    for path in sorted(release.iterdir()):
        good = path.read_bytes()
        # What stands in the first line of a signature nobody signs; that a statement fits, openssl says.
        start = good.index(b"\n") + 1 if path.suffix == ".minisig" else 0
        if path.suffix == ".jsonl":
            continue
        step = 1 if path.name.startswith("SHA256SUMS") else max(1, len(good) // 25)
        for at in range(start, len(good), step):
            if path.suffix == ".minisig" and good[at : at + 1] == b"\n":
                continue
            bad = bytearray(good)
            bad[at] ^= 1
            # The last letter of a base64 line has bits to spare, and minisign does not read them: the same signature, spelt otherwise.
            if path.suffix == ".minisig" and decoded(bad) == decoded(good):
                continue
            path.write_bytes(bad)
            assert not (minisign(release, key) and sums(release)), f"{path.name}, byte {at}"
            tries += 1
        path.write_bytes(good)
    assert minisign(release, key) and sums(release) and tries > 700, tries
    return tries


def decoded(signature: bytes) -> list[bytes]:
    """Its four lines as minisign reads them; a line that is no base64 stays as it is."""
    lines = bytes(signature).split(b"\n")
    for at in (1, 3):
        try:
            lines[at] = base64.b64decode(lines[at], validate=True)
        except ValueError:
            pass
    return lines


def statement_is_checked(release: pathlib.Path, key: str) -> None:
    envelope = json.loads((release / "manifest.intoto.jsonl").read_text())
    kind, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
    statement = json.loads(payload)
    digest = subprocess.run(["sha256sum", release / "manifest.json"], capture_output=True, text=True).stdout.split()[0]
    assert statement["subject"] == [{"name": "manifest.json", "digest": {"sha256": digest}}], statement
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    public = bytes.fromhex("302a300506032b6570032100") + base64.b64decode(key)[10:]
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "key").write_bytes(public)
        (place / "sig").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
        run = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", place / "key", "-rawin"]
        run += ["-in", place / "text", "-sigfile", place / "sig"]
        for text, wanted in [(signed, 0), (signed + b" ", 1)]:
            (place / "text").write_bytes(text)
            assert subprocess.run(run, capture_output=True).returncode == wanted


def rotation_is_checked(tacenda, series: pathlib.Path, project: pathlib.Path, old: str) -> None:
    new = tacenda("key", "rotate", "--no-passphrase")
    (project / "table.csv").write_text((project / "table.csv").read_text() + "p90,33,flu\np91,34,gout\n")
    tacenda("publish", str(project / "table.csv"), "--yes")
    release = series / "r0002"
    assert minisign(release, new["public_key"]) and not minisign(release, old)
    assert tacenda("verify", str(release), "--key", old)["signed_by"] == [new["key"]]
    # The old key's signature over the new key, with the stock tool.
    link = json.loads((release / "signer.json").read_text())["lineage"][0]
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        text = f"untrusted comment: minisign public key {new['key']}\n{link['public_key']}\n"
        (place / "new.pub").write_text(text)
        (place / "new.pub.minisig").write_text(link["signature"])
        subprocess.run(["minisign", "-q", "-Vm", "new.pub", "-P", old], cwd=place, check=True)


def approval_counts(binary: pathlib.Path, tacenda, root: pathlib.Path, project: pathlib.Path) -> None:
    pair = ["-p", root / "second.pub", "-s", root / "second.key"]
    subprocess.run(["minisign", "-G", "-W", *pair], check=True, capture_output=True)
    second = (root / "second.pub").read_text().splitlines()[1]
    (project / "tacenda.toml").write_text(stays.POLICY + f'[signatures]\napprovers = ["{second}"]\n')
    (project / "table.csv").write_text((project / "table.csv").read_text() + "p92,35,asthma\np93,36,angina\n")
    plan = tacenda("plan", str(project / "table.csv"))["plan"]
    run = [binary, "-C", project, "publish", "--plan", plan, "--yes"]
    refused = subprocess.run(run, capture_output=True, text=True)
    assert refused.returncode == 6 and "K603" in refused.stderr, refused.stderr
    subprocess.run(["minisign", "-S", "-s", root / "second.key", "-m", plan], check=True, capture_output=True)
    assert tacenda("publish", "--plan", plan, "--yes")["approved_by"] is not None


main()
