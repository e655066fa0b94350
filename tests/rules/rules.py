#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules of the house as a program. Each check prints what it found as FILE:LINE: text and exits 1.

usage: rules.py CHECK [SOURCE_DIR]     CHECK: edges, libraries, banned, lengths, headers, words, format
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..", ".."))
found = []


def complain(path, line, text):
    found.append(f"{os.path.relpath(path, ROOT)}:{line}: {text}")


def files(*roots, suffixes=(".c", ".h")):
    for root in roots:
        for folder, _, names in os.walk(os.path.join(ROOT, root)):
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.join(folder, name)


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")


def architecture():
    """The table of ARCHITECTURE.md: module -> (library text, set of modules that it may include)."""
    table = {}
    for line in lines(os.path.join(ROOT, "ARCHITECTURE.md")):
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if len(cells) != 4 or not cells[0].startswith("`"):
            continue
        allowed = set(re.findall(r"[a-z]+", re.sub(r"\(.*?\)", "", cells[3])))
        for module in re.findall(r"`([a-z_.]+)`", cells[0]):
            table[module] = (cells[2], allowed)
    return table


def module_of(path):
    parts = os.path.relpath(path, ROOT).split(os.sep)
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else parts[1]
    if parts[:2] == ["include", "benchctl"]:
        return "base" if parts[2] == "base" else parts[2].removesuffix(".h")
    return None


def check_edges():
    table = architecture()
    table["matrix"][1].add("settings")
    for path in files("src", "include"):
        module = module_of(path)
        if module not in table:
            complain(path, 1, f"module '{module}' is not in ARCHITECTURE.md")
            continue
        allowed = table[module][1]
        if "everything" in allowed:
            continue
        for n, line in enumerate(lines(path), 1):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not m:
                continue
            target = m.group(1)
            if target.startswith("benchctl/"):
                other = "base" if target.startswith("benchctl/base/") else target[len("benchctl/"):].removesuffix(".h")
            elif "/" in target:
                other = target.split("/")[0]
            else:
                other = module
            if other != module and other not in allowed and not (other == "settings" and "matrix" in allowed):
                complain(path, n, f"'{module}' may not include '{target}'")


LIBRARIES = {  # header pattern -> the only file or folder that may include it
    r"yaml\.h": "src/base/tree_parse.c",
    r"jansson\.h": "src/base/json.c",
    r"openssl/.*": "src/base/hash.c",
    r"curl/.*": ("src/http/", "src/generator/curl"),
    r"zlib\.h": "src/histogram/",
    r"archive.*\.h": "src/archive/",
    r"libpq-fe\.h|postgres_ext\.h": "src/postgres/",
    r"git2.*": "src/parity/",
}


def check_libraries():
    for path in files("src", "include"):
        relative = os.path.relpath(path, ROOT)
        for n, line in enumerate(lines(path), 1):
            m = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            if not m:
                continue
            for pattern, home in LIBRARIES.items():
                if re.fullmatch(pattern, m.group(1)) and not relative.startswith(home):
                    complain(path, n, f"<{m.group(1)}> belongs to {home if isinstance(home, str) else ' and '.join(home)} alone")


BANNED = {
    "strcpy": "its length is not checked", "strcat": "its length is not checked", "sprintf": "use snprintf or strbuf_addf",
    "vsprintf": "use vsnprintf", "gets": "its length is not checked", "strtok": "use strtok_r", "gmtime": "use gmtime_r",
    "localtime": "use gmtime_r", "ctime": "use clock_rfc3339", "asctime": "use clock_rfc3339", "atoi": "use integer_parse",
    "atol": "use integer_parse", "atof": "use number_parse", "system": "no shell is ever called", "popen": "no shell is ever called",
    "rand": "use rng_next", "srand": "use rng_seed", "alloca": "no stack of unknown size", "usleep": "wait on the loop",
    "tmpnam": "use mkostemp", "mktemp": "use mkostemp", "gettimeofday": "use clock_now_ns",
}
BANNED_ALLOC = {"malloc": "use xmalloc", "calloc": "use xcalloc", "realloc": "use xrealloc", "strdup": "use xstrdup", "strndup": "use xstrndup"}
PRINTERS = {"printf", "puts", "putchar", "perror", "exit"}


def without_comments_and_strings(text):
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def check_banned():
    for path in files("src", "include"):
        relative = os.path.relpath(path, ROOT)
        code = without_comments_and_strings("\n".join(lines(path)))
        for n, line in enumerate(code.split("\n"), 1):
            for m in re.finditer(r"(?<![\w.>])([a-z]\w*)\s*\(", line):
                name = m.group(1)
                if name in BANNED:
                    complain(path, n, f"{name}(): {BANNED[name]}")
                if name in BANNED_ALLOC and relative != "src/base/mem.c":
                    complain(path, n, f"{name}(): {BANNED_ALLOC[name]}")
                if name in PRINTERS and not relative.startswith(("src/cmd/", "src/main.c")):
                    complain(path, n, f"{name}(): only cmd and main print or exit")
            if re.search(r"\b(TODO|FIXME|XXX)\b", lines(path)[n - 1]):
                complain(path, n, "unfinished work is not kept in comments")


def check_lengths():
    for path in files("src", "include", "examples", "tests"):
        text = lines(path)
        if len(text) > 501:
            complain(path, len(text), f"{len(text) - 1} lines, 500 at most")
        start = None
        for n, line in enumerate(text, 1):
            if line == "{":
                start = n
            elif line == "}" and start:
                if n - start - 1 > 60 and not os.path.relpath(path, ROOT).startswith("tests"):
                    complain(path, start, f"a function of {n - start - 1} lines, 60 at most")
                start = None


def check_headers():
    compiler = os.environ.get("CC", "cc")
    libraries = "yaml-0.1 libcurl libgit2 libarchive libpq jansson libcrypto zlib"
    flags = subprocess.run(["pkg-config", "--cflags", *libraries.split()], capture_output=True, text=True, check=True).stdout.split()
    for path in files("src", "include", suffixes=(".h",)):
        with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
            f.write(f'#include "{path}"\nextern int unused;\n')
            f.flush()
            command = [compiler, "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                       f"-I{ROOT}/include", f"-I{os.path.dirname(path)}", f"-I{ROOT}/src", *flags, f.name]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                complain(path, 1, "does not compile alone:\n" + done.stderr)


def check_words():
    """SPDX first in every source; no absolute paths of one machine."""
    for path in files("src", "include", "examples", "tests"):
        if "SPDX-License-Identifier: MIT" not in lines(path)[0]:
            complain(path, 1, "the first line is not the SPDX line")


def check_format():
    tool = os.environ.get("CLANG_FORMAT", "clang-format")
    all_files = list(files("src", "include", "examples", "tests"))
    done = subprocess.run([tool, "--dry-run", "-Werror", f"--style=file:{ROOT}/.clang-format", *all_files], capture_output=True, text=True)
    if done.returncode:
        found.extend(done.stderr.strip().split("\n")[:40])


if __name__ == "__main__":
    globals()["check_" + sys.argv[1]]()
    for item in found:
        print(item)
    sys.exit(1 if found else 0)
