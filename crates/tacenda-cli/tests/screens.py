"""Opens the three editions of a report, and the recipients' page in German and French, in headless Chromium: light, dark,
as wide as a phone, and on paper.

Usage: screens.py TACENDA [FOLDER]. Screenshots are left in FOLDER (target/screens if not given), to be looked at.
Seen to fail: a page without its style, or without its dark colours, looks the same in the dark; a page whose body was
emptied has too few colours; a script on the page is refused by the page's own policy and says so.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

WIDTH, HEIGHT = 1100, 2400
# A window cannot be as narrow as a phone, but a frame in it can.
PHONE, WINDOW = 390, 500
# A page of plain text has a few dozen shades of grey; plots, badges and washes have many more.
LEAST_COLOURS = 100


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    sys.exit("no chromium; on Debian: apt-get install -y chromium")


def run_chromium(profile, words):
    flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
        "--enable-logging=stderr", f"--user-data-dir={profile}",
    ]
    done = subprocess.run([chromium(), *flags, *words], capture_output=True, text=True, timeout=180)
    said = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not said, f"the page complains: {said}"
    return done


def pixels(path):
    """The pixels of a PNG with eight bits a channel, as a set."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6), f"{path}: depth {depth}, kind {kind}"
    size = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        if name == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw, line = zlib.decompress(packed), width * size
    above, colours = bytearray(line), set()
    for row in range(height):
        start = row * (line + 1)
        way, now = raw[start], bytearray(raw[start + 1 : start + 1 + line])
        if way == 1:
            for i in range(size, line):
                now[i] = (now[i] + now[i - size]) & 255
        elif way == 2:
            now = bytearray((a + b) & 255 for a, b in zip(now, above))
        elif way == 3:
            for i in range(line):
                now[i] = (now[i] + ((now[i - size] if i >= size else 0) + above[i]) // 2) & 255
        elif way == 4:
            for i in range(line):
                a, b, c = (now[i - size] if i >= size else 0), above[i], (above[i - size] if i >= size else 0)
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                now[i] = (now[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
        colours.update(bytes(now[i : i + 3]) for i in range(0, line, size))
        above = now
    return colours, bytes(now[:3])


def picture(page, target, profile, width, scheme):
    """Takes a screenshot, and returns its number of colours and how light its last row is."""
    run_chromium(profile, [
        f"--screenshot={target}", f"--window-size={width},{HEIGHT}",
        f"--blink-settings=preferredColorScheme={scheme}", page.as_uri(),
    ])
    assert target.exists(), f"no screenshot {target}"
    colours, paper = pixels(target)
    assert len(colours) >= LEAST_COLOURS, f"{target} has only {len(colours)} colours"
    return sum(paper)


def shoot(page, folder, profile):
    name = page.stem
    looks = {
        look: picture(page, folder / f"{name}-{look}.png", profile, WIDTH, scheme)
        for look, scheme in (("light", 1), ("dark", 0))
    }
    frame = folder / f"{name}-phone.html"
    style = f"body{{margin:0}}iframe{{width:{PHONE}px;height:{HEIGHT}px;border:0}}"
    frame.write_text(f'<!doctype html><style>{style}</style><iframe src="{page.as_uri()}"></iframe>')
    picture(frame, folder / f"{name}-phone.png", profile, WINDOW, 1)
    frame.unlink()
    assert looks["dark"] + 300 < looks["light"], f"{name} looks the same in the dark: {looks}"
    paper = folder / f"{name}.pdf"
    run_chromium(profile, [f"--print-to-pdf={paper}", "--no-pdf-header-footer", page.as_uri()])
    assert paper.read_bytes()[:5] == b"%PDF-", f"{name} cannot be printed"
    print(f"{name}: {page.stat().st_size} bytes, light, dark, phone and paper")


def main():
    tacenda = str(Path(sys.argv[1]).resolve())
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "target/screens").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        project, profile = os.path.join(scratch, "demo"), os.path.join(scratch, "profile")
        subprocess.run([tacenda, "demo", project, "--patients", "3000"], check=True, capture_output=True)
        for edition in ("recipient", "steward", "auditor"):
            page = folder / f"{edition}.html"
            subprocess.run(
                [tacenda, "-C", project, "report", "--edition", edition, "-o", str(page)], check=True, capture_output=True
            )
            text = page.read_text()
            assert not re.search(r"https?://|<script|<link|<img", text), f"{edition} loads something"
            assert page.stat().st_size < 2_000_000
            shoot(page, folder, profile)
        for language in ("de", "fr"):
            page = folder / f"recipient-{language}.html"
            words = ["report", "--edition", "recipient", "--language", language, "-o", str(page)]
            subprocess.run([tacenda, "-C", project, *words], check=True, capture_output=True)
            assert f'<html lang="{language}">' in page.read_text()
            shoot(page, folder, profile)
        published = Path(project) / "releases/ward-stays/r0004/report.html"
        shoot(Path(shutil.copy(published, folder / "folder.html")), folder, profile)


main()
