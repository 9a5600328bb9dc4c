# SPDX-License-Identifier: MIT
"""Opens every page of the write-up in headless Chromium, without a network, as wide as a phone and as a desk: nothing may be
said on the console, every formula and picture must be there, and nothing may be wider than a phone.

usage: check.py SITE [--pictures DIRECTORY PAGE …], which keeps pictures of these pages, narrow and wide, light and dark
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

WIDTHS = {"phone": 390, "desk": 1440}

STATE = """
const done = arguments[arguments.length - 1];
function report() {
  const rendered = [...document.querySelectorAll(".MathJax_SVG svg")].filter(svg => svg.getBoundingClientRect().width > 0);
  done({
    width: document.documentElement.scrollWidth,
    window: document.documentElement.clientWidth,
    widest: [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
      .slice(0, 3).map(e => e.tagName + "." + (e.className.baseVal ?? e.className)),
    formulas: document.querySelectorAll('script[type^="math/tex"]').length,
    rendered: rendered.length,
    broken: [...document.querySelectorAll(".MathJax_Error, .noError, .merror")].map(e => e.textContent),
    empty: [...document.querySelectorAll(".drawing svg")].filter(svg => svg.getBoundingClientRect().height < 10).length,
    title: document.title,
  });
}
if (window.MathJax && MathJax.Hub) MathJax.Hub.Queue(report); else report();
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


def show(chrome, page, width, height=900, scheme="light"):
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    chrome.get(page.as_uri())
    return chrome.execute_async_script(STATE)


def complaints(chrome, page, name, width):
    state = show(chrome, page, width)
    found = [f"the console says: {entry['message']}" for entry in chrome.get_log("browser")]
    if state["width"] > state["window"]:
        found.append(f"is {state['width']} wide in a window of {state['window']}: {', '.join(state['widest'])}")
    if state["rendered"] != state["formulas"]:
        found.append(f"{state['rendered']} of {state['formulas']} formulas are there")
    found += [f"a formula is broken: {text}" for text in state["broken"]]
    if state["empty"]:
        found.append(f"{state['empty']} pictures are empty")
    return [f"{name}, {width} wide: {complaint}" for complaint in found], state["formulas"]


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    if not site.is_dir():
        print("skipped: the pages are not built yet; ./docs/run or meson compile site builds them")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as profile:
        chrome = browser(profile)
        try:
            if len(sys.argv) > 3:
                directory = pathlib.Path(sys.argv[3])
                directory.mkdir(parents=True, exist_ok=True)
                for page in sys.argv[4:]:
                    for size, width in WIDTHS.items():
                        for scheme in ("light", "dark"):
                            show(chrome, site / f"{page}.html", width, 1800, scheme)
                            chrome.save_screenshot(str(directory / f"{page.replace('/', '-')}-{size}-{scheme}.png"))
                return
            found, formulas, pages = [], 0, 0
            for page in sorted(site.rglob("*.html")):
                if "_static" in page.parts:
                    continue
                pages += 1
                for width in WIDTHS.values():
                    more, count = complaints(chrome, page, str(page.relative_to(site)), width)
                    found += more
                formulas += count
            if not formulas:
                found.append("there is no formula at all")
        finally:
            chrome.quit()
    if found:
        sys.exit("\n".join(found))
    print(f"{pages} pages with {formulas} formulas were opened at {' and '.join(map(str, WIDTHS.values()))} pixels")


if __name__ == "__main__":
    main()
