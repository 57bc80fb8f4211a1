"""How Sphinx makes these documents and the reference into HTML; docs/meson.build calls it.

The sources lie in the whole tree: README.md is the first page, so that links work alike here and where a forge shows
the files. The reference of the headers comes from Doxygen's XML by Breathe, that of the Python package from its
docstrings. Chosen over Doxygen's own HTML by trying both: its search finds words of a page, not names alone, the pages
suit a phone and the dark, and C, Fortran and Python stand side by side."""
import ctypes
import enum
import os
import re
import shutil
import sys
from pathlib import Path
from unittest.mock import MagicMock

from docutils import nodes
from sphinx import addnodes
from sphinx.domains.c import CDomain
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[1]
MATHJAX = Path("/usr/share/javascript/mathjax")  # Debian's libjs-mathjax; elsewhere formulas come from the network

project = "cuda_opt"
extensions = [
    "breathe",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_inline_tabs",
]
include_patterns = [
    "*.md", "docs/*.md", "docs/notes/*.md", "docs/reference/*.md", "docs/tables/*.md", "examples/README.md",
]
root_doc = "README"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a header's first heading may be of the second level

html_theme = "furo"
html_theme_options = {
    # Debian's Furo was compiled without its dark colours.
    "dark_css_variables": {
        "color-foreground-primary": "#d8dade",
        "color-foreground-secondary": "#9aa0a8",
        "color-foreground-muted": "#858b93",
        "color-foreground-border": "#5c636b",
        "color-background-primary": "#14171a",
        "color-background-secondary": "#1b1f23",
        "color-background-hover": "#232930",
        "color-background-hover--transparent": "#23293000",
        "color-background-border": "#31373e",
        "color-background-item": "#3a4149",
        "color-brand-primary": "#6cb2f5",
        "color-brand-content": "#6cb2f5",
        "color-highlighted-background": "#0b3d66",
        "color-highlight-on-target": "#33340c",
        "color-problematic": "#f08a80",
        "color-api-keyword": "#9aa0a8",
        "color-card-background": "#1b1f23",
        "color-card-border": "#31373e",
    }
}
html_extra_path = ["html"]
html_static_path = ["style"]
html_css_files = ["style.css"]
html_copy_source = False
copybutton_selector = "div.highlight:not(.highlight-text > *, .highlight-none > *) > pre"  # programs, not their output
html_show_sphinx = False
html_show_copyright = False

breathe_default_project = "headers"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp", "cuh": "cpp"}
breathe_show_include = False

# The package is read, not run: there is no library to load.
os.environ.pop("CUDA_OPT_LIBRARY", None)
ctypes.CDLL = MagicMock()
sys.path.insert(0, str(ROOT / "python"))
autodoc_mock_imports = ["jax", "torch"]
autodoc_typehints = "none"  # the docstrings tell types
napoleon_use_rtype = False

if MATHJAX.is_dir():
    mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG-full"
    mathjax2_config = {"messageStyle": "none", "tex2jax": {"processClass": "math"}}
    myst_update_mathjax = False  # which is for version 3

# Links that lead to a header lead to its page of the reference.
PAGE_OF = {
    "include/cuda_opt.h": "c.md",
    "include/cuda_opt.hpp": "cpp.md",
    "include/cuda_opt.f90": "fortran.md",
    "include/cuda_opt_arrays.f90": "fortran.md",
    "include/cuda_opt_batches.f90": "fortran.md",
    "include/cuda_opt/search.cuh": "search.md",
    "include/cuda_opt_batch.h": "batch.md",
    "include/cuda_opt/batch.cuh": "batch.md",
    "include/cuda_opt/ranks.h": "ranks.md",
    "include/cuda_opt/mpi.h": "ranks.md",
    "include/cuda_opt_setulb.h": "setulb.md",
    "include/cuda_opt_unlp.h": "unlp.md",
}
# The navigation, by the purpose of the pages. Laboratory notes (docs/notes) and the report of the last run on a GPU
# are for developers: docs/notes/index.md lists them.
CONTENTS = {
    "Tutorials": "tutorial python fortran /examples/README",
    "How-to guides": "howto which_solver migrating batch ranks history_precision initial_hessian operator scaling "
    "noise gradient_check argmin search cvt",
    "Reference": "return_codes termination reference/c reference/cpp reference/fortran reference/python "
    "reference/batch reference/ranks reference/search reference/setulb reference/unlp setulb manual_interface glossary "
    "releases /CHANGELOG license",
    "Explanation": "performance algorithm determinism architecture backends reliability /CONTRIBUTING",
}
OUTSIDE = {"docs/gpu-report"}  # a page that a program writes, and that is in no contents


def table_of_contents(name, pages):
    entries = [page[1:] if page.startswith("/") else f"docs/{page}" for page in pages.split()]
    return f"\n```{{toctree}}\n:hidden:\n:caption: {name}\n\n" + "\n".join(entries) + "\n```\n"


def with_tabs(text):
    """Make tabs of the same program in several languages. In the Markdown files they are marked by comments, which are
    not shown elsewhere: <!-- tab: C --> before each of them, and <!-- /tabs --> behind the last one. A heading at the
    beginning of a tab is for readers of the file only."""
    tab = r"^<!-- tab: ([^\n]+) -->\n+(?:#+ [^\n]*\n)?(.*?)(?:<!-- /tabs -->\n|(?=^<!-- tab: ))"
    return re.sub(tab, r"`````{tab} \1\n\2`````\n\n", text, flags=re.M | re.S)


def lead_within_the_pages(_, page, source):
    """Links to headers lead to the reference; those to folders and examples, which are no pages, are words alone."""
    folder = ROOT / Path(page).parent

    def lead(link):
        target = os.path.relpath(folder / link["to"], ROOT)
        if target in PAGE_OF:
            return f"[{link['words']}]({os.path.relpath(ROOT / 'docs/reference' / PAGE_OF[target], folder)})"
        is_example = target.startswith("examples/") and not target.endswith(".md")
        return link["words"] if (ROOT / target).is_dir() or is_example else link[0]

    source[0] = re.sub(r"\[(?P<words>[^\]]*)\]\((?P<to>[^):#]+)\)", lead, source[0])
    source[0] = with_tabs(source[0])
    if page in OUTSIDE:
        source[0] = f"---\norphan: true\n---\n\n{source[0]}"
    if page == root_doc:
        source[0] += "".join(table_of_contents(name, pages) for name, pages in CONTENTS.items())


def join_the_theme(static):
    """Debian's Furo leaves apart what is one file elsewhere: a script that browsers load as a module alone, not from a
    disk, and a style at an address of Debian's web server."""
    script, style = static / "scripts/furo.js", static / "styles/furo.css"
    text = script.read_text()
    if text.startswith("import Gumshoe"):
        script.write_text((static / "scripts/gumshoe-patched.js").read_text() + text.partition("\n")[2])
    normalize = Path("/usr/share/nodejs/normalize.css/normalize.css")
    if normalize.is_file():
        style.write_text(style.read_text().replace("@import url(/javascript/normalize.css/normalize.css);",
                                                   normalize.read_text()))


def complete(app, failure):
    """Put into the pages what they would else look for outside."""
    static = Path(app.outdir, "_static")
    if failure is None:
        join_the_theme(static)
    if failure is None and MATHJAX.is_dir():  # what one combined file of MathJax asks for, 2 of its 50 MB
        to = static / "mathjax"
        for part in ("MathJax.js", "config/TeX-AMS_SVG-full.js", "jax/output/SVG/fonts/TeX", "jax/element/mml/optable",
                     "extensions/MathMenu.js", "extensions/MathZoom.js"):
            for source in (MATHJAX / part).rglob("*.js") if (MATHJAX / part).is_dir() else [MATHJAX / part]:
                copy = to / source.relative_to(MATHJAX)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)


ANONYMOUS = "[anonymous]"  # what Sphinx calls the enumerations of the C headers, which have no name


class NamedObjects(CDomain):
    """C without names of anonymous enumerations: the search finds CUDA_OPT_PGTOL, not [anonymous].CUDA_OPT_PGTOL."""

    def get_objects(self):
        for name, shown, *place in super().get_objects():
            if shown != ANONYMOUS:
                yield name, shown.removeprefix(f"{ANONYMOUS}."), *place


class WithoutAnonymous(SphinxTransform):
    """The same in the pages and in the index."""

    default_priority = 800  # before Sphinx collects the entries of the index

    def apply(self):
        for index in self.document.findall(addnodes.index):
            index["entries"] = [
                (kind, words.removeprefix(f"{ANONYMOUS}."), *place)
                for kind, words, *place in index["entries"] if not words.startswith(f"{ANONYMOUS} ")
            ]
        for name in list(self.document.findall(addnodes.desc_name)):
            if name.astext() == ANONYMOUS:
                name.replace_self(nodes.inline())


def name_the_version(_, config):
    config.html_title = f"{project} {config.release}"  # make_pages sets the release after this file has been read


def without_signature_of_enum(app, what, name, obj, options, signature, return_annotation):
    """Do not show the constructor of an enumeration: it belongs to Python's class Enum, and users do not call it."""
    return ("", None) if isinstance(obj, type) and issubclass(obj, enum.Enum) else None


def setup(app):
    app.add_domain(NamedObjects, override=True)
    app.connect("autodoc-process-signature", without_signature_of_enum)
    app.connect("config-inited", name_the_version)
    app.add_transform(WithoutAnonymous)
    app.connect("source-read", lead_within_the_pages)
    app.connect("build-finished", complete)
