#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the source tree that no compiler makes. One sentence per finding, exit status 1 if any.

  guard.py layers ROOT             an #include may point only to a layer below
  guard.py symbols ROOT LAYER=LIB… the pure libraries call nothing outside the allow-list
  guard.py tests ROOT              every module has a unit test or a reason in untested.txt
  guard.py spdx ROOT               every source file names its licence
  guard.py format ROOT             clang-format would change nothing
  guard.py pages ROOT              every option of a listing command is in its manual page
"""
import functools
import os
import re
import shutil
import subprocess
import sys

# What each layer may include besides itself; what those may include follows. Design, section 2.
BELOW = {
    "base": [],
    "text": ["base"],
    "schema": ["text"],
    "model": ["schema"],
    "sched": ["model"],
    "assoc": ["model"],
    "core": ["sched", "assoc"],
    "agent": ["model"],
    "os": ["base"],
    "acct": ["os", "assoc"],
    "rpc": ["os", "schema", "model"],
    "login": ["agent", "os"],
    "pam": ["login"],
    "cli": ["rpc", "assoc", "lua"],
    "sim": ["core", "agent", "cli"],
    "cmd": ["cli", "sim", "login", "acct"],
    "lua": ["os", "model"],
    "slurmctld": ["core", "sched", "rpc", "lua"],
    "slurmd": ["agent", "rpc"],
    "slurmdbd": ["acct", "rpc"],
    "slurmstepd": ["agent", "rpc"],
}

# The layers without clock, files, threads, environment and randomness.
PURE = ["base", "text", "schema", "model", "sched", "assoc", "core", "agent"]

# What any pure library may take from libc and libm: functions of their arguments alone. Memory comes
# from base/alloc.h only; qsort is deterministic in glibc for total orders.
ALLOWED = set("""
    bcmp free memchr memcmp memcpy memmem memmove memrchr memset mempcpy
    strcasecmp strcasestr strchr strchrnul strcmp strcpy strcspn strlen strncasecmp strncmp strncpy
    strnlen strpbrk strrchr strsep strspn strstr stpcpy
    strtod strtol strtoll strtoul strtoull __isoc23_strtol __isoc23_strtoul __isoc23_strtoll
    __isoc23_strtoull
    snprintf sprintf vsnprintf qsort qsort_r bsearch abort __assert_fail __stack_chk_fail
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc tolower toupper
    ceil exp exp2 expm1 log1p fabs floor fmod frexp ldexp log log2 lround llround pow rint round sqrt trunc
    __popcountdi2 __udivti3 __umodti3 __divti3 __modti3
""".split())

# More for one layer, with the reason.
ALLOWED_IN = {
    "base": {
        "malloc": "alloc.c is where memory comes from",
        "calloc": "alloc.c is where memory comes from",
        "realloc": "alloc.c is where memory comes from",
        "vasprintf": "alloc.c is where memory comes from",
        "write": "alloc.c says why before it aborts",
        "close": "fd_cleanup()",
        "__errno_location": "fd_cleanup() preserves errno",
        "strerror_r": "error_errno()",
    },
    "text": {
        "localtime_r": "timestamp.c, calendar.c: calendar arithmetic in the process's zone",
        "mktime": "timestamp.c, calendar.c: calendar arithmetic in the process's zone",
        "strftime": "timestamp.c: SLURM_TIME_FORMAT",
    },
    "core": {
        "sigdescr_np": "job_state.c: the English name of a signal, whatever the locale",
    },
}

# What sanitizers, coverage and the linker put in.
INSTRUMENTATION = re.compile(
    r"^(__(asan|ubsan|lsan|tsan|msan|sanitizer|sancov|start___sancov|stop___sancov|gcov|llvm)_?"
    r"|_GLOBAL_OFFSET_TABLE_|__dynamic_cast|__tls_get_addr|__TMC_END__)")
# -D_FORTIFY_SOURCE: __memcpy_chk stands for memcpy.
FORTIFIED = re.compile(r"^__(\w+)_chk$")

# Folders whose programs are tested as a whole, by tests/peer and tests/e2e.
PROGRAMS = {"cmd"}


def walk(root, folder, *suffixes):
    for path, folders, files in os.walk(os.path.join(root, folder)):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for name in sorted(files):
            if not suffixes or name.endswith(suffixes):
                yield os.path.relpath(os.path.join(path, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def layer_of(path):
    return path.split(os.sep)[1]


@functools.cache
def reachable(layer):
    found = {layer}
    for below in BELOW[layer]:
        found |= reachable(below)
    return found


def check_layers(root):
    for path in walk(root, "src", ".c", ".h"):
        layer = layer_of(path)
        if layer not in BELOW:
            yield f"{path}: {layer} is not a layer; add it to BELOW in tests/guard/guard.py"
            continue
        for number, line in enumerate(read(root, path).split("\n"), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match[1].split("/")[0] if "/" in match[1] else layer
            if target == "..":
                yield f"{path}:{number}: includes {match[1]}; write \"layer/file.h\""
            elif target not in reachable(layer):
                yield f"{path}:{number}: {layer} may not include {match[1]}"


def nm(library, *options):
    output = subprocess.run(["nm", "-A", *options, library], check=True, capture_output=True,
                            text=True).stdout
    for line in output.splitlines():
        where, _, rest = line.partition(": ")
        fields = (rest or line).split()
        member = os.path.basename(where.replace(":", "/"))  # archive:member or archive/member
        yield member, fields[-1]


def check_symbols(root, libraries):
    paths = dict(pair.split("=", 1) for pair in libraries)
    defined = {layer: {symbol for _, symbol in nm(path, "--defined-only")}
               for layer, path in paths.items()}
    for layer, path in paths.items():
        known = set().union(*(defined.get(below, set()) for below in reachable(layer)))
        reported = set()
        for member, symbol in nm(path, "-u"):
            fortified = FORTIFIED.match(symbol)
            plain = fortified[1] if fortified else symbol
            if (plain in known or plain in ALLOWED or plain in ALLOWED_IN.get(layer, {})
                    or INSTRUMENTATION.match(symbol) or (member, symbol) in reported):
                continue
            reported.add((member, symbol))
            yield f"src/{layer}: {member} calls {symbol}(), which a pure library may not"


def exceptions_read(root):
    """Lines `path  reason` of untested.txt."""
    path = "tests/guard/untested.txt"
    if not os.path.exists(os.path.join(root, path)):
        return {}
    rows = (line.split(None, 1) for line in read(root, path).splitlines()
            if line.strip() and not line.startswith("#"))
    return {row[0]: row[1].strip() if len(row) > 1 else "" for row in rows}


def modules_covered(root):
    """src paths with a test: test_X.c stands for X.c, and for the modules that its opening comment
    names after "Covers:"."""
    covered = set()
    for path in walk(root, "tests/unit", ".c"):
        layer = path.split(os.sep)[2] if path.count(os.sep) > 2 else None
        match = re.match(r"test_(.+)\.c$", os.path.basename(path))
        if not layer or not match:
            continue
        covered.add(f"src/{layer}/{match[1]}.c")
        for comment in re.findall(r"/\*.*?\*/", read(root, path), re.DOTALL)[:2]:
            named = re.search(r"Covers:(.*)", comment, re.DOTALL)
            for name in re.findall(r"[\w/]+\.c\b", named[1] if named else ""):
                covered.add(f"src/{name}" if "/" in name else f"src/{layer}/{name}")
    return covered


def check_tests(root):
    covered, exceptions = modules_covered(root), exceptions_read(root)
    modules = [p for p in walk(root, "src", ".c") if layer_of(p) not in PROGRAMS
               and os.path.basename(p) != "main.c"]
    for path in modules:
        if path not in covered and path not in exceptions:
            test = path.replace("src/", "tests/unit/")
            test = os.path.join(os.path.dirname(test), "test_" + os.path.basename(test))
            yield (f"{path}: no {test}, no test with \"Covers: {os.path.basename(path)}\" in its "
                   f"opening comment, no reason in tests/guard/untested.txt")
    for path, reason in exceptions.items():
        if path not in modules:
            yield f"tests/guard/untested.txt: {path} is no module; remove the line"
        elif path in covered:
            yield f"tests/guard/untested.txt: {path} has a test; remove the line"
        elif not reason:
            yield f"tests/guard/untested.txt: {path} needs a reason"


def is_script(root, path):
    with open(os.path.join(root, path), "rb") as file:
        return file.read(2) == b"#!"


def check_spdx(root):
    for folder in ("src", "tests"):
        for path in walk(root, folder):
            known = path.endswith((".c", ".h", ".py", ".sh", "meson.build"))
            if not known and not is_script(root, path):
                continue
            if path.startswith("tests/fuzz/corpus/"):
                continue  # scripts there are input, not source
            if "SPDX-License-Identifier: Apache-2.0" not in "".join(
                    read(root, path).splitlines(True)[:3]):
                yield f"{path}: no \"SPDX-License-Identifier: Apache-2.0\" in its first three lines"


def check_format(root):
    if not shutil.which("clang-format"):
        print("clang-format is not installed")
        sys.exit(77)  # meson: skipped
    paths = [p for folder in ("src", "tests") for p in walk(root, folder, ".c", ".h")]
    if not paths:
        return
    result = subprocess.run(["clang-format", "--dry-run", *paths], cwd=root, check=True,
                            capture_output=True, text=True)
    found = set(re.findall(r"^(.+?):\d+:\d+: warning: code should be clang-formatted", result.stderr,
                           re.MULTILINE))
    for path in sorted(found):
        yield f"{path}: run clang-format -i on it"


# A row of list_options.h: name, letter, kind of value, variable, setter (NULL: no effect yet), name
# of the value, help (NULL: an alias or a refusal).
LIST_OPTION = re.compile(r'\{"([\w-]+)",\s*(?:\'.\'|0),\s*LIST_ARG_\w+,\s*(NULL|"\w+"),\s*(\w+),'
                         r'\s*(?:NULL|"[^"]*"),\s*(NULL|")')


def check_pages(root):
    for path in walk(root, "src/cmd", ".c"):
        rows = [row for row in LIST_OPTION.findall(read(root, path)) if row[3] != "NULL"]
        page = "doc/man/" + os.path.basename(path)[:-2] + ".1.scd"
        if rows and not os.path.exists(os.path.join(root, page)):
            yield f"{path}: no {page}"
            continue
        text = read(root, page).replace("\\_", "_") if rows else ""
        for name, variable, setter, _ in rows:
            entry = re.search(rf"^(?:\*.*)?\*--{re.escape(name)}\*.*\n((?:\t.*\n)*)", text, re.MULTILINE)
            if not entry:
                yield f"{page}: --{name} is missing"
                continue
            if variable != "NULL" and variable.strip('"') not in text:
                yield f"{page}: --{name} does not name its variable {variable}"
            if (setter == "NULL") != ("No effect yet" in entry[1]):
                yield (f"{page}: --{name} says \"No effect yet\", and has one" if setter != "NULL" else
                       f"{page}: --{name} does not say \"No effect yet\"")


def main(arguments):
    checks = {"layers": check_layers, "symbols": check_symbols, "tests": check_tests,
              "spdx": check_spdx, "format": check_format, "pages": check_pages}
    if len(arguments) < 2 or arguments[0] not in checks:
        sys.exit(__doc__)
    name, root, *rest = arguments
    findings = list(checks[name](root, rest) if name == "symbols" else checks[name](root))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
