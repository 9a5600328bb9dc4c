# SPDX-License-Identifier: MIT
"""examples/report.py makes a page of a run, and refuses what is no record in a sentence.

usage: report.py DIRECTORY, of the programs
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
        for program, options, texts in (
            ("reverse", ["--quiet"], ["DB_2.CA, head 2", "definition"]),
            ("translate", ["train", "--blocks", "2", "--batch-size", "2", "--model", directory / "model"],
             ["decoder.tgt.dec_2.cross, head 8", "numbers", ">quatorze<", ">seventy<"]),
        ):
            subprocess.run([pathlib.Path(sys.argv[1]) / program, *options, "--steps", "30", "--record", record], check=True,
                           stdout=subprocess.DEVNULL)
            made = report(record)
            assert made.returncode == 0, made.stderr
            page = (directory / "run.html").read_text(encoding="utf-8")
            assert page.count("<svg") == 2 and all(text in page for text in texts), page[:2000]
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
