# SPDX-License-Identifier: MIT
"""examples/report.py makes a page of a run, and refuses what is no record in a sentence.

usage: report.py REVERSE, the program
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def report(*arguments):
    return subprocess.run([sys.executable, ROOT / "examples/report.py", *arguments], capture_output=True, text=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        record = directory / "run.json"
        subprocess.run([sys.argv[1], "--steps", "30", "--quiet", "--record", record], check=True, stdout=subprocess.DEVNULL)
        made = report(record)
        assert made.returncode == 0, made.stderr
        page = (directory / "run.html").read_text(encoding="utf-8")
        assert page.count("<svg") == 2 and "DB_2.CA, head 2" in page and "definition" in page, page[:2000]
        assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page, "it is not self-contained"

        (directory / "other.json").write_text("[1, 2]", encoding="utf-8")
        for arguments, sentence in (
            ([directory / "other.json"], "is no record of a run: make one by ./examples/run --record FILE.json"),
            ([directory / "nowhere.json"], "cannot be read: No such file or directory"),
            ([record, directory / "nowhere/page.html"], "cannot be written: No such file or directory"),
        ):
            refused = report(*arguments)
            assert refused.returncode == 1 and refused.stderr.endswith(sentence + "\n"), refused.stderr


if __name__ == "__main__":
    main()
