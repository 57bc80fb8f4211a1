#!/usr/bin/env python3
"""Usage: check_pages.py SOURCE_ROOT VERSION [HTML]

The documents as HTML, made without a warning of Doxygen or Sphinx: every link and picture within them is there,
the reference has every function of the headers, and the search finds the words that users look for. In headless
Chromium, where it is installed with Selenium, no page has an error in the console, asks for a file that is missing, or
is wider than its window. Without HTML there was nothing to make the pages with."""
import functools
import http.server
import json
import re
import sys
import threading
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT, VERSION = Path(sys.argv[1]), sys.argv[2]
SITE = Path(sys.argv[3]) if len(sys.argv) > 3 else None
del sys.argv[1:]
TELEPHONE, DESKTOP = (390, 844), (1280, 900)
FOUND = "document.querySelector('.search-summary, #search-results p')?.innerText.includes('found')"
# Words that users look for, their stems in the index, and a page that answers.
SEARCHES = {
    "deterministic": (["determinist"], "docs/howto"),
    "bitwise": (["bitwis"], "docs/howto"),
    "convergence criteria": (["converg", "criteria"], "docs/termination"),
    "verbose": (["verbos"], "docs/howto"),
    "license": (["licens"], "docs/license"),
}
# What of a page reaches beyond the screen, and not within a box that scrolls by itself: the tags.
BEYOND_THE_EDGE = """[...document.querySelectorAll("article *")].filter(element => {
    if (element.getBoundingClientRect().right <= innerWidth + 1) return false;
    for (let box = element; box && box.tagName != "ARTICLE"; box = box.parentElement)
        if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return false;
    return true;
}).map(element => element.outerHTML.slice(0, 120))"""


def setUpModule():
    if not SITE:
        raise unittest.SkipTest("no Doxygen, or no Sphinx with Breathe, Furo and MyST")


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src", "data", "srcset"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.names.add(value)


class Links(unittest.TestCase):
    def test_no_warning_was_printed(self):
        self.assertEqual(Path(SITE.parent, "warnings.txt").read_text(), "")

    def test_every_link_and_picture_is_there(self):
        pages = {path.resolve(): Page(path) for path in SITE.rglob("*.html")}
        self.assertGreater(len(pages), 30)
        dead, pictures = [], 0
        for path, page in pages.items():
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                pictures += target.suffix == ".svg"
                if not target.is_file():
                    dead.append(f"{path.relative_to(SITE.resolve())}: {link}")
                elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                    dead.append(f"{path.relative_to(SITE.resolve())}: {link}: no such place")
        self.assertEqual(dead, [])
        self.assertGreater(pictures, 10)

    def test_nothing_comes_from_elsewhere(self):
        """Pages, scripts, styles and pictures are all of this folder: it serves without a network."""
        for path in SITE.rglob("*.html"):
            for link in Page(path).links:
                if link.endswith((".js", ".css", ".svg", ".png")):
                    self.assertFalse(urlsplit(link).netloc, f"{path}: {link}")


class Reference(unittest.TestCase):
    """The pages of the reference have what the headers declare."""

    def names(self, page):
        """The names that have an entry on the page."""
        return set(re.findall(r'<span class="sig-name descname">(?:<span class="\w+">)*<span class="pre">(\w+)</span>',
                              Path(SITE, "docs/reference", page).read_text()))

    def header(self, name):
        return Path(ROOT, "include", name).read_text()

    def test_functions_and_constants_of_c(self):
        text = re.sub(r"/\*.*?\*/", "", self.header("cuda_opt.h"), flags=re.S)
        declared = set(re.findall(r"^CUDA_OPT_API [^;]*?\b(cuda_opt_\w+)\(", text, re.M))
        declared |= set(re.findall(r"^    (CUDA_OPT_\w+) =", text, re.M))
        self.assertGreater(len(declared), 150)
        self.assertEqual(declared - self.names("c.html"), set())

    def test_members_of_cpp(self):
        """Each function whose declaration follows a comment for the reference."""
        text = self.header("cuda_opt.hpp").partition("namespace cudaopt {")[2]
        declared = re.findall(r"\*/\n\s*(?:template <[^>]*> )?[^\n(]*?\b(\w+)\(", text)
        self.assertGreater(len(declared), 45)
        self.assertEqual(set(declared) - self.names("cpp.html") - {"operator"}, set())
        page = Path(SITE, "docs/reference/cpp.html").read_text()
        for member in ("Minimiser::solve", "Handle::get_int", "Array::to_host", "Batch::message_of"):
            self.assertIn(f'id="cudaopt::{member}', page)


    def test_names_of_python(self):
        text = Path(ROOT, "python/cuda_opt/__init__.py").read_text()
        public = re.findall(r'"(\w+)"', text.partition("__all__ = [")[2])
        self.assertGreater(len(public), 20)
        page = Path(SITE, "docs/reference/python.html").read_text()
        self.assertEqual([name for name in public if f'id="cuda_opt.{name}"' not in page], ["version"])


class Search(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        text = Path(SITE, "searchindex.js").read_text()
        cls.index = json.loads(text[text.index("{") : text.rindex("}") + 1])

    def pages_with(self, stem):
        found = set()
        for kind in ("terms", "titleterms"):
            numbers = self.index[kind].get(stem, [])
            found |= {numbers} if isinstance(numbers, int) else set(numbers)
        return {self.index["docnames"][number] for number in found}

    def test_words_that_users_look_for(self):
        for words, (stems, page) in SEARCHES.items():
            for stem in stems:
                with self.subTest(words=words, stem=stem):
                    self.assertIn(page, self.pages_with(stem))

    def test_names_of_constants_have_no_prefix(self):
        """The enumerations of the C headers have no name, for which Sphinx has "[anonymous]"."""
        for path in SITE.rglob("*"):
            if path.suffix in (".html", ".js"):
                self.assertNotIn("[anonymous]", path.read_text(), path.name)


class Server(http.server.ThreadingHTTPServer):
    """The pages over HTTP; it notes what is asked for and not there."""

    def __init__(self):
        self.missing = missing = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_request(self, code="-", size="-"):
                if int(code) >= 400 and self.path != "/favicon.ico":
                    missing.append(self.path)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=SITE))
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, page):
        return f"http://127.0.0.1:{self.server_port}/{page}"


class InABrowser(unittest.TestCase):
    """Every page and every picture as Chromium shows it."""

    @classmethod
    def setUpClass(cls):
        try:
            from selenium import webdriver
            from selenium.common.exceptions import WebDriverException
        except ImportError:
            raise unittest.SkipTest("no Selenium") from None
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            service = webdriver.chrome.service.Service("/usr/bin/chromedriver")
            cls.browser = webdriver.Chrome(service=service, options=options)
        except WebDriverException as problem:
            raise unittest.SkipTest(f"no Chromium: {str(problem).strip().splitlines()[0]}") from None
        cls.addClassCleanup(cls.browser.quit)
        cls.server = Server()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def setUp(self):
        self.browser.get_log("browser")
        self.server.missing.clear()

    def resize(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open(self, page, size=DESKTOP, scheme="light"):
        self.resize(*size)
        feature = [{"name": "prefers-color-scheme", "value": scheme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
        self.browser.get(self.server.address(page))

    def evaluate(self, expression):
        return self.browser.execute_script(f"return {expression}")

    def wait_for(self, expression):
        end = time.monotonic() + 30
        while not (value := self.evaluate(expression)):
            self.assertLess(time.monotonic(), end, f"{expression} does not come true")
            time.sleep(0.1)
        return value

    def test_no_page_has_an_error_or_a_missing_file_or_is_too_wide(self):
        for path in sorted(SITE.rglob("*.html")):
            page = path.relative_to(SITE).as_posix()
            with self.subTest(page=page):
                self.open(page, TELEPHONE)
                self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")
                                  if entry["level"] in ("SEVERE", "WARNING") and "favicon" not in entry["message"]], [])
                self.assertEqual(self.evaluate(BEYOND_THE_EDGE), [])
                broken = "[...document.images].filter(i => i.loading != 'lazy' && i.complete && !i.naturalWidth).length"
                self.assertEqual(self.evaluate(broken), 0)
        self.assertEqual(self.server.missing, [])

    def test_formulas_are_set(self):
        self.open("docs/algorithm.html")
        self.wait_for("document.querySelectorAll('.MathJax_SVG svg').length > 20")
        self.assertEqual(self.evaluate("document.querySelectorAll('.MathJax_Error, .merror').length"), 0)

    def test_the_search_finds_words_of_a_page(self):
        self.open("search.html?q=generalized+Cauchy+point")
        self.wait_for(FOUND)
        found = self.evaluate("[...document.querySelectorAll('#search-results li a')].map(a => a.innerText)")
        self.assertIn("The method, from the papers to the code", found)

    def test_the_search_puts_the_answer_first(self):
        for words, (_, page) in SEARCHES.items():
            with self.subTest(words=words):
                self.open(f"search.html?q={words.replace(' ', '+')}")
                self.wait_for(FOUND)
                links = self.evaluate("[...document.querySelectorAll('#search-results li a')].map(a => a.href)")
                pages = [re.split("[?#]", link)[0] for link in links]
                self.assertIn(self.server.address(f"{page}.html"), pages[:5])

    def test_text_and_contents_of_a_page_have_room(self):
        """At every width of the window the text is beside the contents of the page, and neither is cut off."""
        for page in ("README.html", "docs/reference/c.html", "docs/howto.html"):
            self.open(page)
            for width in (500, 800, 1000, 1024, 1100, 1200, 1300, 1311, 1313, 1366, 1400, 1439, 1441, 1456, 1600, 1920):
                with self.subTest(width=width, page=page):
                    self.resize(width, 900)
                    self.assertEqual(self.evaluate(BEYOND_THE_EDGE), [])
                    edges = self.evaluate("""(() => {
                        const edge = name => document.querySelector(name).getBoundingClientRect();
                        const contents = edge(".toc-drawer"), text = edge("article");
                        const width = document.documentElement.clientWidth;  // without the scroll bar
                        return {shown: contents.left < width - 2, left: contents.left, right: contents.right,
                                text: text.right, width};
                    })()""")
                    self.assertLessEqual(edges["text"], edges["width"])
                    if edges["shown"]:
                        self.assertLessEqual(edges["right"], edges["width"] + 1)
                        self.assertLessEqual(edges["text"], edges["left"] + 1)

    def test_titles_have_the_version(self):
        self.open("docs/howto.html")
        self.assertIn(f"cuda_opt {VERSION}", self.browser.title)

    def test_it_is_dark_in_the_dark(self):
        brightness = ("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3)"
                      ".reduce((sum, part) => sum + Number(part), 0)")
        self.open("README.html", scheme="light")
        self.assertGreater(self.evaluate(brightness), 600)
        self.open("README.html", scheme="dark")
        self.assertLess(self.evaluate(brightness), 150)
        self.open("docs/notes/benchmarks.html", scheme="dark")
        self.assertIn("invert", self.evaluate("getComputedStyle(document.querySelector('img[src*=table4]')).filter"))

    def test_every_picture_is_whole_and_scales(self):
        """All words lie within the picture's frame, and the frame is a viewBox."""
        for path in sorted(Path(SITE, "_images").glob("*.svg")):
            with self.subTest(picture=path.name):
                self.open(f"_images/{path.name}")
                self.assertTrue(self.evaluate("document.documentElement.hasAttribute('viewBox')"), "no viewBox")
                outside = self.evaluate(
                    "(() => { const all = document.documentElement.getBoundingClientRect();"
                    " return [...document.querySelectorAll('text')].filter(t => { const b = t.getBoundingClientRect();"
                    " return b.left < all.left - 1 || b.right > all.right + 1 || b.top < all.top - 1 ||"
                    " b.bottom > all.bottom + 1; }).map(t => t.textContent); })()"
                )
                self.assertEqual(outside, [])


if __name__ == "__main__":
    unittest.main()
