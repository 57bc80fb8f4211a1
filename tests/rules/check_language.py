#!/usr/bin/env python3
"""Usage: check_language.py SOURCE_ROOT

Counts words that this project does not use in comments and docstrings: private metaphors for concepts that have a name
in the field (docs/glossary.md), idioms that a reader from outside understands only at the second reading, and comments
that begin as a fragment of a sentence. Prints one line per folder with the count per 10,000 words. If a folder exceeds
its limit, the check fails and prints each place in that folder."""
import ast
import io
import re
import sys
import tokenize
from pathlib import Path

# The highest number of idioms per 10,000 words in each folder, otherwise 0. A limit may be lowered, but is not raised.
LIMITS = {
    "include": 10,
    "lib/lbfgsb": 6,  # the name of the state "ending"
    "python": 45,
}
# A word that also has a standard meaning is matched only in the context in which it was used as a metaphor.
IDIOMS = {
    "history": r"(?:columns?|bits|pairs?) (?:of|in) the memory|memory's (?:bits|columns)",
    "initial Hessian": r"metrics?|one number",
    "sweep": r"(?:a|the|one|each|every|per|this|that|same|first|second|last|next) pass|asked of the rows",
    "active": r"held",
    "displacement": r"(?:the|its|their) way (?:to|of|gone)|way gone",
    "block, chunk": r"pieces?",
    "transition": r"turns?",
    "request, reply": r"asks|asked|answers?|answered",
    "report, record": r"tells?|told",
    "save_best, restore_best": r"put(?:s|ting)? (?:aside|away)|br(?:ings?|ought) back",
    "compile-time": r"(?:the )?compiler knows|known to the compiler",
    "in shared memory": r"at hand|near at hand",
    "persistent, transient": r"what (?:lasts|passes)",
    "API boundary": r"rim",
    "layer": r"floors?(?! ?\()",
    "termination": r"endings?",
    "undefined": r"not here",
    "all-gather": r"meets?",
    "workspace": r"desks?",
    "a plain word": r"stands? (?:in|for itself|with|behind|there)|nobody|so many|of the time of before|whoever|"
                    r"likewise|come to (?:its|their) end|a (?:thread|warp) a problem|an iteration (?:takes|costs)|"
                    r"go(?:es)? on",
}
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in IDIOMS.values()) + r"|\bsome [0-9.]+ ", re.I)
# A comment that begins with one of these words is usually not a sentence ("What the sweeps learn.").
FRAGMENT = re.compile(r"\s*(?:What|Where|Of|Whether|So many|Likewise)\b")
WORD = re.compile(r"[^\W\d_][\w'-]*")
C_COMMENT = re.compile(r'//([^\n]*)|/\*(.*?)\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
FORTRAN_COMMENT = re.compile(r"!([^\n]*)|\"[^\"\n]*\"|'[^'\n]*'")
C_SUFFIXES = (".h", ".hpp", ".cuh", ".c", ".cpp", ".cu")


def matched_comments(pattern, text):
    for match in pattern.finditer(text):
        comment = next((group for group in match.groups() if group is not None), None)
        if comment is not None:
            yield text.count("\n", 0, match.start()) + 1, comment


def python_comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string[1:]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if (docstring := ast.get_docstring(node)) is not None:
                yield node.body[0].lineno, docstring


def comments(path):
    """Pairs of a line's number and the text of the comment or docstring that begins there."""
    text = path.read_text()
    if path.suffix == ".py":
        return python_comments(text)
    return matched_comments(FORTRAN_COMMENT if path.suffix == ".f90" else C_COMMENT, text)


def folder_of(path):
    """The folder with a limit of its own: a folder of lib, those of lib/sweeps each, otherwise the top folder."""
    folders = path.parts[:-1]
    return "/".join(folders[:3]) if folders[0] == "lib" else folders[0]


def joined(found):
    """Comments on consecutive lines as one text, so that an idiom across a line break is found."""
    blocks, last = [], None
    for line, comment in found:
        if last is not None and line == last + 1 and "\n" not in comment:
            blocks[-1][1] += " " + comment.strip()
        else:
            blocks.append([line, comment])
        last = line if "\n" not in comment else None
    return [(line, re.sub(r"\s+(?:\* )?", " ", text)) for line, text in blocks]


def count(root):
    """For each folder its words of comments, and the places of idioms in them."""
    words, places = {}, {}
    for top in ("include", "lib", "compat", "python", "drivers", "apps", "testfuncs"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (*C_SUFFIXES, ".f90", ".py") or not path.is_file():
                continue
            relative = path.relative_to(root)
            folder = folder_of(relative)
            for line, text in joined(comments(path)):
                words[folder] = words.get(folder, 0) + len(WORD.findall(text))
                places.setdefault(folder, []).extend(
                    f"{relative}:{line}: {match[0].strip()}" for match in PATTERN.finditer(text))
                if fragment := FRAGMENT.match(text):
                    places[folder].append(f"{relative}:{line}: begins with {fragment[0].strip()}")
    return words, places


def main(root):
    words, places = count(root)
    failed = not words
    for folder in sorted(words):
        rate = 10000 * len(places.get(folder, [])) / max(words[folder], 1)
        limit = LIMITS.get(folder, 0)
        exceeded = rate > limit
        failed = failed or exceeded
        print(f"{folder}: {len(places.get(folder, []))} idioms in {words[folder]} words, {rate:.1f} per 10,000,"
              f" limit {limit}")
        if exceeded:
            print("\n".join(places[folder]))
    total, found = sum(words.values()), sum(len(there) for there in places.values())
    print(f"all: {found} idioms in {total} words, {10000 * found / max(total, 1):.1f} per 10,000")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
