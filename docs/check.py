# SPDX-License-Identifier: MIT
"""Opens every page of the book in headless Chromium, without a network, at several widths: the console must stay empty, every
formula and picture must be there, and no block may be cut off. From 1,100 pixels on that holds for every block. Below, code and
tables may scroll within themselves; formulas and pictures may not.

usage: check.py SITE [PAGE …] checks all pages, or these
"""

import pathlib
import sys
import tempfile

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ModuleNotFoundError:
    print("skipped: Python has no selenium; on Debian: apt-get install python3-selenium chromium-driver")
    sys.exit(77)

WIDTHS = (360, 768, 1100, 1400, 1920)

STATE = """
const [whole, again, done] = arguments;
// What is cut off, or sticks out: a block whose content is wider than itself. Only the innermost of nested ones is named.
function cut() {
  const hidden = "[id^=MathJax_SVG_Hidden], #MathJax_Message, .MJX_Assistive_MathML, .visually-hidden, .tip, svg *";
  const scrolls = whole ? null : "pre, .table-wrapper, .wide";
  const wide = [...document.querySelectorAll("body *")].filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1
    && !e.closest(hidden) && !(scrolls && e.matches(scrolls) && getComputedStyle(e).overflowX !== "visible"));
  return wide.filter(e => !wide.some(other => other !== e && e.contains(other)))
    .map(e => `${e.tagName.toLowerCase()}.${e.className.baseVal ?? e.className} is ${e.clientWidth} wide, and its content `
      + `${e.scrollWidth}: ${e.textContent.trim().replace(/\\s+/g, " ").slice(0, 60)}`);
}
function report() {
  // The still picture of a figure that runs is hidden.
  const shown = selector => [...document.querySelectorAll(selector)].filter(e => !e.closest(".live-ready > .live-picture"));
  const rendered = shown(".MathJax_SVG svg").filter(svg => svg.getBoundingClientRect().width > 0);
  done({
    width: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
    cut: cut(),
    formulas: shown('script[type^="math/tex"]').length,
    rendered: rendered.length,
    broken: [...document.querySelectorAll(".MathJax_Error, .noError, .merror")].map(e => e.textContent),
    empty: shown(".drawing svg").filter(svg => svg.getBoundingClientRect().height < 10).length,
    title: document.title,
  });
}
// A page that is there already has its formulas broken anew, for its new width.
if (window.MathJax && MathJax.Hub) MathJax.Hub.Queue(again ? ["Rerender", MathJax.Hub] : () => 0, report); else report();
"""


def browser(profile):
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    chrome.set_script_timeout(60)
    return chrome


def size(chrome, width):
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})


def show(chrome, page, width):
    size(chrome, width)
    chrome.get(page.as_uri())
    chrome.execute_async_script(STATE, False, False)


def complaints(chrome, page, name):
    """What is wrong with a page, and how many formulas it has."""
    size(chrome, WIDTHS[0])
    chrome.get(page.as_uri())
    found, state = [], None
    for width in WIDTHS:
        size(chrome, width)
        state = chrome.execute_async_script(STATE, width >= 1100, state is not None)
        wrong = [f"the console says: {entry['message']}" for entry in chrome.get_log("browser")]
        if state["width"] > state["window"]:
            wrong.append(f"is {state['width']} wide in a window of {state['window']}")
        wrong += [f"cut off: {block}" for block in state["cut"]]
        if state["rendered"] != state["formulas"]:
            wrong.append(f"{state['rendered']} of {state['formulas']} formulas are there")
        wrong += [f"a formula is broken: {text}" for text in state["broken"]]
        if state["empty"]:
            wrong.append(f"{state['empty']} pictures are empty")
        found += [f"{name}, {width} wide: {complaint}" for complaint in wrong]
    return found, state["formulas"]


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    if not site.is_dir():
        print("skipped: the pages are not built yet; ./docs/run or meson compile site builds them")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as profile:
        chrome = browser(profile)
        try:
            found, formulas, pages = [], 0, 0
            for page in [site / f"{page}.html" for page in sys.argv[2:]] or sorted(site.rglob("*.html")):
                if "_static" in page.parts:
                    continue
                pages += 1
                more, count = complaints(chrome, page, str(page.relative_to(site)))
                found += more
                formulas += count
            if not formulas:
                found.append("there is no formula at all")
        finally:
            chrome.quit()
    if found:
        sys.exit("\n".join(found))
    print(f"{pages} pages with {formulas} formulas were opened at {', '.join(map(str, WIDTHS))} pixels")


if __name__ == "__main__":
    main()
