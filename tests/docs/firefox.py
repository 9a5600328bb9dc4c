# SPDX-License-Identifier: MIT
"""Uses the figures that run in headless Firefox, without a network, by its own protocol, Marionette: Debian has no geckodriver.

usage: firefox.py SITE
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PREFERENCES = {
    "marionette.port": 0,  # any that is free; the file MarionetteActivePort tells which
    "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9, "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,  # nowhere
    "devtools.console.stdout.content": True,
    "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False, "app.update.enabled": False,
}
ENTER, LEFT, RIGHT = "\ue007", "\ue012", "\ue014"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Firefox:
    """A browser: every command is a list [0, number, name, parameters] in JSON after its length, and so is every answer."""

    def __init__(self, program, folder):
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
        (folder / "user.js").write_text("".join(lines), encoding="utf-8")
        self.log = (folder / "log.txt").open("w+", encoding="utf-8")
        self.process = subprocess.Popen([program, "--headless", "--no-remote", "--marionette", "--profile", str(folder)],
                                        stdout=self.log, stderr=subprocess.STDOUT)
        port, patience = folder / "MarionetteActivePort", 600
        while not (port.is_file() and port.read_text().strip()):
            patience -= 1
            if self.process.poll() is not None or patience == 0:
                raise SystemExit("Firefox does not start:\n" + (folder / "log.txt").read_text(encoding="utf-8"))
            time.sleep(0.1)
        self.stream = socket.create_connection(("127.0.0.1", int(port.read_text()))).makefile("rwb")
        self.number = 0
        self.read()  # what it is
        self("NewSession")
        self("SetTimeouts", script=120_000)

    def read(self):
        length = b""
        while (byte := self.stream.read(1)) != b":":
            length += byte
        return json.loads(self.stream.read(int(length)))

    def __call__(self, command, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, f"WebDriver:{command}", parameters]).encode()
        self.stream.write(b"%d:%s" % (len(message), message))
        self.stream.flush()
        _, _, error, answer = self.read()
        if error:
            raise SystemExit(f"Firefox, {command} {parameters}: {error['message']}")
        return answer.get("value") if isinstance(answer, dict) else answer

    def script(self, text):
        return self("ExecuteScript", script=text, args=[])

    def until(self, what, condition):
        """Waits until an expression in the page is true."""
        text = f"""const done = arguments[0], end = Date.now() + 100_000;
            (function look() {{ if ({condition}) done(true); else if (Date.now() > end) done(false); else setTimeout(look, 50); }})();"""
        if not self("ExecuteAsyncScript", script=text, args=[]):
            raise SystemExit(f"Firefox: it never came that {what}")

    def keys(self, selector, text):
        element = self("FindElement", using="css selector", value=selector)[ELEMENT]
        self("ElementSendKeys", id=element, text=text)

    def open(self, page, figure):
        self("Navigate", url=page.as_uri())
        self.script("document.querySelector('.live').scrollIntoView()")
        self.until(f"{figure} is ready", f"document.querySelector('[data-figure={figure}].live-ready')")

    def end(self):
        self("DeleteSession")
        self.process.terminate()
        self.process.wait()
        self.log.seek(0)
        # MathJax, which is not ours, runs out of its stack in Firefox now and then when the machine is busy.
        return [line for line in self.log.read().splitlines() if line.startswith(("console.", "JavaScript error"))
                and "file://" in line and "/mathjax/" not in line]


def text(selector):
    return f"document.querySelector('{selector}').textContent"


def choose(browser, number, option):
    browser.script(f"""const select = document.querySelectorAll('.live-figure select')[{number}];
        select.selectedIndex = {option}; select.dispatchEvent(new Event('change'));""")


def trains(browser, site):
    browser.open(site / "transformer_lm.html", "train")
    browser.keys(".live-first", ENTER)
    browser.until("600 steps are done", "document.querySelector('.live-figure').dataset.step === '600'")
    browser.until("3 7 is answered", f"{text('.live-answer')} === '→ 3 7 0 7 3 0 right'")
    browser("Refresh")
    browser.script("document.querySelector('.live').scrollIntoView()")
    browser.until("it has learned again", "document.querySelector('.live-figure')?.dataset.step === '600'")
    browser.until("3 7 is answered again", f"{text('.live-answer')} === '→ 3 7 0 7 3 0 right'")
    browser.keys(".live-figure input[type=text]", " 99")
    browser.until("99 is refused", f"{text('.live-complaint')} === 'A token is an integer from 1 to 10, not 99.'")
    browser.keys(".live-inside summary", ENTER)
    browser.until("there is something inside", "document.querySelector('.live-inside').dataset.shown === '0 Y 5 0'")
    browser.keys(".live-inside canvas", RIGHT)
    browser.until("an entry is chosen", "document.querySelector('.live-inside').dataset.shown === '0 Y 5 1'")
    browser.keys(".live-key:last-of-type", ENTER)
    browser.until("a box of the drawing is opened", f"{text('.live-title')}.startsWith('loss, softmax(Z): P. 6 × 11.')")
    browser.until("its rows are labelled", f"{text('.live-rows')} === '037073'")
    choose(browser, 0, 5)
    browser.until("there is a small model", f"{text('.live-type')}.includes('.d_model = 32')")


def breaks(browser, site):
    browser.open(site / "break_the_mask.html", "break_the_mask")
    browser.until("all holds", f"{text('.live-status')}.startsWith('All ')")
    choose(browser, 0, 1)
    browser.until("it is broken", f"{text('.live-status')}.endsWith(' statements fail.')")
    browser.keys(".live-figure button", ENTER)
    browser.until("it is healed", f"{text('.live-status')}.startsWith('All ')")


def moves(browser, site, page, figure):
    browser.open(site / f"{page}.html", figure)
    before, at_end = browser.script("""const slider = document.querySelector('.live-figure input[type=range]');
        return [document.querySelector('.live-figure').dataset.shown, slider.value === slider.max];""")
    browser.keys(".live-figure input[type=range]", LEFT if at_end else RIGHT)
    browser.until(f"{figure} moves", f"document.querySelector('.live-figure').dataset.shown !== '{before}'")


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if not program:
        print("skipped: there is no Firefox; on Debian: apt-get install firefox-esr")
        sys.exit(77)
    if not (site / "_static/browser/train.wasm.js").is_file():
        print("skipped: the pages are not built, or without Clang for wasm32; ./docs/run builds them, and installs it on Debian")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        browser = Firefox(program, pathlib.Path(folder))
        try:
            trains(browser, site)
            breaks(browser, site)
            for page, figure in (("positional_encoding", "positions"), ("loss", "loss"), ("attention", "softmax"),
                                 ("normalization", "normalization")):
                moves(browser, site, page, figure)
            if said := browser.end():
                raise SystemExit("Firefox says:\n" + "\n".join(said))
        finally:
            if browser.process.poll() is None:
                browser.process.kill()
    print("all figures run in Firefox")


if __name__ == "__main__":
    main()
