# SPDX-License-Identifier: MIT
"""Uses the figures that run as a reader would, in headless Chromium, without a network, as wide as a desk and as a phone.

usage: figures.py SITE PRINTED, where PRINTED is what examples/break_the_mask has printed
"""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import check  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

WIDTHS = (1440, 390)
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


NAMELESS = """
// A drawing of buttons is a group, one that takes keys an application, any other an image.
const drawings = [...arguments[0].querySelectorAll("svg, canvas")].filter(e => !e.getAttribute("aria-label")
  || e.getAttribute("role") !== (e.querySelector("[role=button]") ? "group" : e.tabIndex === 0 ? "application" : "img"));
const controls = [...arguments[0].querySelectorAll("input, select, button, [role=button]")].filter(e => e.labels && e.type !== "button"
  ? !e.labels.length : !(e.getAttribute("aria-label") ?? e.textContent).trim());
return [...drawings, ...controls].map(e => e.outerHTML.slice(0, 80));
"""
DRAWN = """
window.drawn = 0;
new MutationObserver(() => ++window.drawn).observe(arguments[0], { childList: true });
"""


AFTER_A_FAILURE = """
let calls = 0;
const act = live.latest(async () => { if (++calls === 1) throw new Error("the first one"); });
act().catch(act).then(() => arguments[0](calls));
"""


class Reader:
    """Someone who uses a figure of a page."""

    def __init__(self, chrome, site, page, width):
        self.chrome, self.site, self.width = chrome, site, width
        self.turn_to(page)
        chrome.execute_script("sessionStorage.clear()")  # of the readers before

    def turn_to(self, page):
        self.page = page
        check.show(self.chrome, self.site / f"{page}.html", self.width)

    def expect(self, holds, what):
        if not holds:
            raise SystemExit(f"{self.page}, {self.width} wide: {what}")

    def until(self, what, condition):
        try:
            return WebDriverWait(self.chrome, 240, 0.1).until(lambda _: condition())
        except Exception as error:
            raise SystemExit(f"{self.page}, {self.width} wide: it never came that {what}: {error}") from error

    def open(self, figure):
        """Scrolls to a figure, and waits until it runs."""
        box = self.chrome.find_element(By.CSS_SELECTOR, f'[data-figure="{figure}"]')
        self.chrome.execute_script("arguments[0].scrollIntoView()", box)
        self.until(f"{figure} is ready", lambda: "live-ready" in box.get_attribute("class"))
        self.figure = box.find_element(By.CLASS_NAME, "live-figure")
        self.fits()

    def fits(self):
        wide = self.chrome.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.expect(wide[0] <= wide[1], f"is {wide[0]} wide in a window of {wide[1]}")

    def one(self, selector):
        return self.figure.find_element(By.CSS_SELECTOR, selector)

    def button(self, text):
        return next(button for button in self.figure.find_elements(By.TAG_NAME, "button") if button.text.startswith(text))

    def press(self, text):
        """By keyboard."""
        self.button(text).send_keys(Keys.ENTER)

    def data(self, name):
        return self.figure.get_attribute(f"data-{name}")

    def type(self, text):
        field = self.one('input[type="text"]')
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE)
        field.send_keys(text)

    def tap(self, element, x, y):
        """By touch, so many pixels from the left and the top of an element."""
        self.chrome.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.chrome.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        # Once the page has come to rest.
        left, top = self.chrome.execute_async_script("""const [element, done] = arguments; requestAnimationFrame(() =>
            requestAnimationFrame(() => { const r = element.getBoundingClientRect(); done([r.left, r.top]); }));""", element)
        for kind, points in (("touchStart", [{"x": left + x, "y": top + y}]), ("touchEnd", [])):
            self.chrome.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        self.chrome.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})

    def described(self):
        """Says what to try; each drawing has a text, and each control a name."""
        self.expect("Try:" in self.figure.text, "does not say what to try")
        nameless = self.chrome.execute_script(NAMELESS, self.figure)
        self.expect(not nameless, f"has no name: {nameless}")

    def quiet(self):
        said = [entry["message"] for entry in self.chrome.get_log("browser")]
        self.expect(not said, f"the console says {said}")


def trains(reader):
    reader.open("train")
    reader.press("Train 600 steps")
    reader.until("600 steps are done", lambda: reader.data("step") == "600")
    answers = {"3 7": "→ 3 7 0 7 3 0 right", "9 9": "→ 9 9 0 9 9 0 right"}
    for question, answer in answers.items():
        reader.type(question)
        reader.until(f"{question} is answered by {answer}", lambda: reader.one(".live-answer").text == answer)
    for wrong, sentence in {"3 99": "A token is an integer from 1 to 10, not 99.", "": "A sequence has 2 tokens, not 0.",
                            "a b": "A token is an integer from 1 to 10, not a.", "1 2 3": "A sequence has 2 tokens, not 3."}.items():
        reader.type(wrong)
        reader.until(f"'{wrong}' is refused", lambda: reader.one(".live-complaint").text == sentence)
    reader.type("3 7")
    reader.until("the complaint is gone", lambda: reader.one(".live-complaint").text == "")
    reader.press("Ask all questions")
    reader.until("all questions were asked", lambda: "of 100 answers are right" in reader.figure.text)
    reader.expect("100 of 100" in reader.figure.text, "after 600 steps not all answers are right")
    reader.expect(len(reader.figure.find_elements(By.CSS_SELECTOR, ".live-maps svg[aria-label]")) == 4, "there are not four maps")
    reader.fits()
    reader.described()
    keeps(reader)
    looks_inside(reader)
    reader.press("Train to step")  # stopped, asked, and gone on with
    reader.until("it goes on", lambda: "Step 600 " not in reader.one(".live-status").text)
    reader.expect("answers are right" not in reader.figure.text, "the answers of fewer steps are still counted")
    reader.type("1 2")
    reader.until("it answers while it learns", lambda: reader.one(".live-answer").text == "→ 1 2 0 2 1 0 right")
    reader.press("Stop")
    chooses(reader)
    seed = reader.one('input[type="number"]')
    seed.send_keys(Keys.CONTROL, "a")
    seed.send_keys("x")
    reader.press("New model")
    reader.until("a wrong seed is refused", lambda: "A seed is an integer" in reader.one(".live-status").text)
    reader.quiet()


REFUSED = 'Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("refused", "SecurityError"); } });'


def keeps(reader):
    """The model is the same on another page, and after a reload, and answers. Where that is refused, nothing is said."""
    learned, answer = reader.one(".live-status").text, reader.one(".live-answer").text
    for page in ("start", "transformer_lm", "transformer_lm"):
        reader.turn_to(page)
        reader.open("train")
        reader.until("it has learned again", lambda: reader.data("step") == "600")
        reader.expect(reader.one(".live-status").text == learned, f"it has learned something else: {reader.one('.live-status').text}")
        reader.expect(reader.one(".live-answer").text == answer, f"it answers {reader.one('.live-answer').text}")
    added = reader.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": REFUSED})
    for trained in (True, False):
        reader.turn_to("transformer_lm")
        reader.open("train")
        reader.expect(reader.one(".live-status").text == "A new model, which has learned nothing.", "something was kept that must not be")
        if trained:
            reader.press("Train 600 steps")
            reader.until("it learns", lambda: reader.data("step") == "600")
    reader.quiet()
    reader.chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    reader.turn_to("transformer_lm")
    reader.open("train")
    reader.until("it has learned again", lambda: reader.data("step") == "600")


# What the boxes of the drawing open, of which the model has those from DB_1 on twice; and the labels of the rows and columns of
# some of their matrices, for the question 3 7, in a vocabulary of 11.
OPENED = ("Em", "PE", "DB1.Nca", "DB1.CA", "DB1", "DB1.FF", "DB1", "N", "Φ", "loss")
READ, ALL = "0 3 7 0 7 3", "0 1 2 3 4 5 6 7 8 9 10"
LABELS = {(0, "X"): (READ, ""), (0, "We"): (ALL, ""), (0, "Y"): (READ, ""), (3, "WQ"): ("", ""), (6, "A"): (READ, READ),
          (6, "A\u0304"): (READ, READ), (6, "K"): (READ, ""), (8, "Y"): (READ, ""), (37, "X"): (READ, ""), (37, "Y"): ("", ALL),
          (37, "Z"): (READ, ALL), (38, "B"): ("", ALL), (39, "P"): (READ, ALL), (39, "x"): (READ, "")}
ASTRAY = """
const canvas = arguments[0].querySelector("canvas").getBoundingClientRect();
const labels = (of, begins, size) => [...arguments[0].querySelectorAll(`${of} span`)].map((label, k, all) =>
  Math.abs(label.getBoundingClientRect()[begins] - canvas[begins] - k * canvas[size] / all.length));
return Math.max(0, ...labels(".live-rows", "top", "height"), ...labels(".live-columns", "left", "width"));
"""


def looks_inside(reader):
    """Each box of the drawing opens what it stands for; matrices have labels; and each entry that is pointed at is what its terms
    make: in each matrix of each box, forth and back. (On a phone of some.)"""
    reader.one(".live-inside summary").send_keys(Keys.ENTER)
    inside, entry, title = reader.one(".live-inside"), reader.one(".live-entry"), reader.one(".live-title")
    shown = lambda: inside.get_attribute("data-shown")
    reader.until("there is something inside", lambda: shown() == "0 Y 5 0")
    cells = reader.one(".live-matrix canvas")
    cells.send_keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_RIGHT)
    reader.until("an entry is chosen by keyboard", lambda: shown() == "0 Y 3 1")
    reader.tap(cells, 1, 23)
    reader.until("an entry is chosen by touch", lambda: shown() == "0 Y 1 0")
    drawn = reader.figure.find_elements(By.CLASS_NAME, "live-key")
    names = [key.get_attribute("textContent") for key in drawn]
    reader.expect(names == ["Em", "PE", "N_ca", "CA", "+", "FF", "+", "N", "Φ", "softmax"], f"the drawing has the boxes {names}")
    reader.tap(drawn[6], 3, drawn[6].rect["height"] / 2)  # beside the small circle
    reader.until("a box is opened by touch", lambda: shown().startswith("18 "))
    seen, made, labelled = set(), 0, 0
    inner = lambda: reader.figure.find_elements(By.CSS_SELECTOR, '[aria-label^="The boxes in this one"] button')

    def look():
        nonlocal made, labelled
        box = int(shown().split()[0])
        seen.add(box)
        for matrix in reader.figure.find_elements(By.CSS_SELECTOR, '[aria-label="The matrices of this box"] button'):
            name = matrix.text
            matrix.send_keys(Keys.ENTER)
            reader.until(f"{name} of box {box} is shown", lambda: shown().replace("_", "").startswith(f"{box} {name} "))
            value, total = entry.get_attribute("data-value"), entry.get_attribute("data-sum")
            if total:
                made += 1
                reader.expect(abs(float(value) - float(total)) < 1e-5 + 1e-4 * abs(float(value)), f"box {box}, {name}: {entry.text}")
            if (box, name) in LABELS:
                labelled += 1
                found = tuple(" ".join(label.text for label in reader.figure.find_elements(By.CSS_SELECTOR, f".live-{axis} span"))
                              for axis in ("rows", "columns"))
                reader.expect(found == LABELS[box, name], f"box {box}, {name} has the labels {found}")
                reader.expect((astray := reader.chrome.execute_script(ASTRAY, inside)) < 1.5, f"box {box}, {name}: a label is {astray} astray")
            if (box, name) in ((6, "A"), (39, "P")):
                reader.fits()
                reader.described()

    for block in (1, 2) if reader.width > 600 else (1,):
        if block == 2:
            reader.press("DB2")
            reader.until("another block is opened", lambda: reader.button("DB2").get_attribute("aria-pressed") == "true")
        for k, key in enumerate(drawn):
            if k not in range(2, 7) and block == 2 or reader.width < 600 and k not in (0, 3, 9):
                continue
            key.send_keys(Keys.ENTER if k % 2 else Keys.SPACE)
            reader.until(f"{names[k]} is opened", lambda: key.get_attribute("aria-pressed") == "true")
            opens = OPENED[k].replace("1", str(block))
            reader.expect(title.text.startswith(opens) and title.is_displayed(), f"{names[k]} opens {title.text}")
            for number in range(max(1, len(inner()))):
                if inner():
                    inner()[number].send_keys(Keys.ENTER)
                    reader.until("a box in it is opened", lambda: inner()[number].get_attribute("aria-pressed") == "true")
                look()
    reader.expect(reader.width < 600 or seen == set(range(40)), f"of the boxes inside these were opened: {seen}")
    reader.expect(labelled == len(LABELS) if reader.width > 600 else labelled > 5, f"only {labelled} matrices had labels")
    reader.expect(made > (100 if reader.width > 600 else 10), f"only {made} entries were explained")


def chooses(reader):
    """A small model of one's own, another seed, SGD; and without motion nothing is drawn until training stops."""
    model, optimizer = (Select(element) for element in reader.figure.find_elements(By.TAG_NAME, "select")[:2])
    status, chart = reader.one(".live-status"), reader.one(".live-chart")
    reader.figure.find_elements(By.CLASS_NAME, "live-key")[-1].send_keys(Keys.ENTER)
    model.select_by_visible_text("16 wide, 1 block, 1 head")  # which has no such box
    reader.until("a box that is there is opened", lambda: reader.one(".live-inside").get_attribute("data-shown").startswith("0 "))
    model.select_by_visible_text("32 wide, 2 blocks, 2 heads")
    reader.until("there is a small model", lambda: ".d_model = 32, .d_ff = 64, .n_layers = 2" in reader.one(".live-type").text)
    reader.until("it is new", lambda: reader.data("step") == "0")
    for motion, few in (("reduce", True), ("no-preference", False)):
        reader.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": motion}]})
        reader.chrome.execute_script(DRAWN, chart)
        steps = str(int(reader.data("step")) + 600)
        reader.press("Train 600 steps")
        reader.until(f"{steps} steps of the small model are done", lambda: reader.data("step") == steps)
        drawn = reader.chrome.execute_script("return window.drawn")
        reader.expect((drawn == 1) == few, f"prefers-reduced-motion is {motion}, and the curve was drawn {drawn} times")
    reader.expect(reader.one(".live-answer").text == "→ 3 7 0 7 3 0 right", "the small model did not learn")
    reader.fits()
    reader.press("Another seed")
    reader.until("there is another model", lambda: status.text.startswith("A new model") and reader.data("step") == "0")
    reader.expect(reader.one('input[type="number"]').get_attribute("value") == "2", "the seed is the same")
    optimizer.select_by_visible_text("SGD")
    reader.until("it is new", lambda: status.text.startswith("A new model"))
    reader.press("Train 600 steps")
    reader.until("SGD has made 600 steps", lambda: reader.data("step") == "600")
    optimizer.select_by_visible_text("Adam")
    model.select_by_visible_text("Example 0: 2 of 10 tokens")
    reader.until("it is the notebook's model again", lambda: ".d_model = 128" in reader.one(".live-type").text and status.text.startswith("A new model"))


def first_report(printed):
    """Of what the program has printed, the first report."""
    begins = printed.index("note:")
    return printed[begins:printed.index("\n\n", begins)].rstrip()


def alike(said, want):
    """Whether two reports are the same, with numbers that agree."""
    return NUMBER.sub("x", said) == NUMBER.sub("x", want) and all(
        abs(float(a) - float(b)) < 1e-6 for a, b in zip(NUMBER.findall(said), NUMBER.findall(want)))


def breaks(reader, printed):
    reader.open("break_the_mask")
    holds = reader.one(".live-status").text
    reader.expect(re.fullmatch(r"All \d+ statements hold\.", holds), f"unbroken: {holds}")
    reader.expect(reader.chrome.execute_async_script(AFTER_A_FAILURE) == 2, "after a failure nothing is called any more")
    reader.one("select").send_keys("one")
    reader.until("it is broken", lambda: reader.data("checked") == "1 0 0 0")
    reader.expect("statements fail" in reader.one(".live-status").text, "a broken mask is not seen")
    said, want = reader.one(".live-printed").get_attribute("textContent").rstrip(), first_report(printed)
    reader.expect(alike(said, want), f"the report is another one:\n{said}")
    for other in (want.replace("FAILS", "holds", 1), NUMBER.sub("7.5", want, 1)):
        reader.expect(not alike(said, other), f"the control is not seen:\n{other}")
    reader.fits()
    reader.described()
    selects = [Select(element) for element in reader.figure.find_elements(By.TAG_NAME, "select")]
    reader.press("Heal it")
    reader.until("it is healed", lambda: reader.data("checked") == "0 0 0 0")
    reader.expect(reader.one(".live-status").text == holds, "healed, not all claims hold")
    # Which claims fail, and over which numbers.
    claim = "attention is autoregressive"
    for which, option, over in ((1, 2, "bits field sets"), (2, 1, "double field"), (2, 2, ""), (3, 1, ""), (3, 2, "double field")):
        selects[which].select_by_index(option)
        reader.expect(reader.one("select").is_enabled() == (which != 1), f"choice {which}: what row i sees is no choice of its own")
        want = ["0"] * 4
        want[which] = str(option)
        reader.until(f"{which}, {option} is checked", lambda: reader.data("checked") == " ".join(want))
        fails = [line.split(claim + ": ")[1] for line in reader.one(".live-printed").get_attribute("textContent").splitlines()
                 if claim + ": " in line and not line.startswith("holds")]
        names = {"double within": "double", "float and double": "bits", "the prime field": "field", "sets of": "sets"}
        found = " ".join(name for begins, name in names.items() if any(line.startswith(begins) for line in fails))
        reader.expect(found == over, f"choice {which}, {option} fails over '{found}', not '{over}'")
        selects[which].select_by_index(0)
        reader.until("it is undone", lambda: reader.data("checked") == "0 0 0 0")
    reader.quiet()


def moves(reader, figure):
    """By keyboard, each slider."""
    reader.open(figure)
    reader.described()
    for slider in reader.figure.find_elements(By.CSS_SELECTOR, 'input[type="range"]'):
        before = reader.data("shown")
        key = Keys.ARROW_LEFT if slider.get_attribute("value") == slider.get_attribute("max") else Keys.ARROW_RIGHT
        slider.send_keys(key)
        reader.until(f"{figure} moves", lambda: reader.data("shown") != before)
    slider, before = reader.one('input[type="range"]'), reader.data("shown")
    reader.tap(slider, slider.size["width"] - 12, slider.size["height"] / 2)
    reader.until(f"{figure} moves by touch", lambda: reader.data("shown") != before)
    for box in reader.figure.find_elements(By.CSS_SELECTOR, 'input[type="checkbox"]'):
        before = reader.data("shown")
        box.send_keys(Keys.SPACE)
        reader.until(f"{figure} moves", lambda: reader.data("shown") != before)
        reader.expect(not reader.one(".live-chart").is_displayed(), "a curve is of other columns")
    spread = lambda: [round(float(x) - float(reader.data("shown").split()[0]), 6) for x in reader.data("shown").split()[:5]]
    for button in [button for button in reader.figure.find_elements(By.TAG_NAME, "button") if button.text == "Add 1 to all"]:
        before = spread()
        button.send_keys(*25 * [Keys.ENTER])
        reader.until("nothing more can be added", lambda: button.get_attribute("aria-disabled") == "true")
        reader.expect(spread() == before, "not all were moved alike")
    reader.fits()
    reader.quiet()


def stays_still(chrome, site, page, figure):
    """Without WebAssembly, and without scripts, the picture stays."""
    added = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.WebAssembly;"})
    for how in ("WebAssembly", "scripts"):
        if how == "scripts":
            chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
            chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        chrome.get((site / f"{page}.html").as_uri())
        box = chrome.find_element(By.CSS_SELECTOR, f'[data-figure="{figure}"]')
        picture = box.find_element(By.CLASS_NAME, "live-picture")
        if "live-ready" in box.get_attribute("class") or not picture.is_displayed() or picture.size["height"] < 20:
            raise SystemExit(f"{page}, without {how}: the picture of {figure} is not there")
    chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    if said := chrome.get_log("browser"):
        raise SystemExit(f"{page}, without WebAssembly: the console says {said}")


SIZES = {"train": 200_000, "own": 200_000, "break_the_mask": 400_000, "numbers": 100_000}
SMALL = {"positional_encoding": "positions", "loss": "loss", "attention": "softmax", "normalization": "normalization"}


def main():
    site, printed = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    if not (site / "_static/browser/train.wasm.js").is_file():
        print("skipped: the pages are not built, or without Clang for wasm32; ./docs/run builds them, and installs it on Debian")
        sys.exit(77)
    for module, limit in SIZES.items():
        if (size := (site / f"_static/browser/{module}.wasm.js").stat().st_size) > limit:
            raise SystemExit(f"{module}.wasm.js has {size} bytes, and may have {limit}")
    with tempfile.TemporaryDirectory() as profile:
        chrome = check.browser(profile)
        try:
            for width in WIDTHS:
                breaks(Reader(chrome, site, "break_the_mask", width), printed.read_text(encoding="utf-8"))
                trains(Reader(chrome, site, "transformer_lm", width))
                for page, figure in SMALL.items():
                    moves(Reader(chrome, site, page, width), figure)
            for page, figure in {"transformer_lm": "train", "break_the_mask": "break_the_mask", **SMALL}.items():
                stays_still(chrome, site, page, figure)
        finally:
            chrome.quit()
    print("all figures run, as wide as a desk and as a phone, and stay still without scripts")


if __name__ == "__main__":
    main()
