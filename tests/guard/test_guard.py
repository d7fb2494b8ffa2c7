#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guard finds what it is there for: each check on a small tree with one violation."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guard  # noqa: E402

SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"


class GuardTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        return full

    def test_an_upward_include_is_found_and_downward_ones_pass(self):
        self.write("src/text/a.c", '#include "base/str.h"\n#include "text/a.h"\n#include <time.h>\n')
        self.assertEqual(list(guard.check_layers(self.root)), [])
        self.write("src/base/b.c", '\n#  include "text/a.h"\n')
        self.write("src/agent/c.c", '#include "core/core.h"\n')
        self.assertEqual(list(guard.check_layers(self.root)), [
            "src/agent/c.c:1: agent may not include core/core.h",
            "src/base/b.c:2: base may not include text/a.h"])

    def test_an_unknown_folder_is_no_layer(self):
        self.write("src/common/x.c", "")
        self.assertIn("common is not a layer", list(guard.check_layers(self.root))[0])

    def library(self, name, text):
        source = self.write(name + ".c", text)
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-c", "-o", source + ".o", source], check=True)
        archive = os.path.join(self.root, name + ".a")
        subprocess.run(["ar", "rc", archive, source + ".o"], check=True)
        return archive

    def test_a_forbidden_call_is_found_and_allowed_ones_pass(self):
        base = self.library("base", "#include <stdlib.h>\nvoid *x(void) { return malloc(1); }\n")
        text = self.library("text", "#include <string.h>\nvoid *x(void); unsigned long y(char *t) "
                                    "{ x(); return strlen(t); }\n")
        self.assertEqual(list(guard.check_symbols(self.root, ["base=" + base, "text=" + text])), [])
        clock = self.library("sched", "#include <time.h>\n#include <stdlib.h>\n"
                                      "long z(void) { return time(NULL) + (getenv(\"A\") != 0); }\n")
        findings = list(guard.check_symbols(self.root, ["base=" + base, "sched=" + clock]))
        self.assertEqual(findings, [
            "src/sched: sched.c.o calls getenv(), which a pure library may not",
            "src/sched: sched.c.o calls time(), which a pure library may not"])

    def test_malloc_outside_base_is_found(self):
        text = self.library("text", "#include <stdlib.h>\nvoid *x(void) { return malloc(1); }\n")
        self.assertEqual(len(list(guard.check_symbols(self.root, ["text=" + text]))), 1)

    def test_a_module_without_test_or_reason_is_found(self):
        self.write("src/base/str.c", "")
        self.write("src/cmd/squeue.c", "")
        self.assertEqual(len(list(guard.check_tests(self.root))), 1)
        self.write("tests/guard/untested.txt", "# why\nsrc/base/str.c  only tables\n")
        self.assertEqual(list(guard.check_tests(self.root)), [])
        self.write("tests/unit/base/test_str.c", SPDX)
        self.assertIn("has a test", list(guard.check_tests(self.root))[0])
        self.write("tests/guard/untested.txt", "src/base/gone.c  only tables\n")
        self.assertIn("is no module", list(guard.check_tests(self.root))[0])

    def test_one_test_may_cover_several_modules(self):
        self.write("src/model/conf_lex.c", "")
        self.write("tests/unit/model/test_conf.c", SPDX + "/* Lines.\n * Covers: conf_lex.c. */\n")
        self.assertEqual(list(guard.check_tests(self.root)), [])

    def test_a_file_without_licence_is_found(self):
        self.write("src/base/a.c", SPDX)
        self.write("tests/golden/out.txt", "no source\n")
        self.assertEqual(list(guard.check_spdx(self.root)), [])
        self.write("src/base/b.h", "\n")
        self.write("tests/e2e/run", "#!/bin/sh\n")
        self.assertEqual(len(list(guard.check_spdx(self.root))), 2)

    @unittest.skipUnless(shutil.which("clang-format"), "needs clang-format")
    def test_a_file_that_clang_format_would_change_is_found(self):
        self.write(".clang-format", "BasedOnStyle: LLVM\n")
        self.write("src/base/a.c", "int a;\n")
        self.assertEqual(list(guard.check_format(self.root)), [])
        self.write("src/base/a.c", "int   a;\n")
        self.assertEqual(list(guard.check_format(self.root)),
                         ["src/base/a.c: run clang-format -i on it"])

    def test_an_option_that_the_page_lacks_is_found(self):
        self.write("src/cmd/squeue.c", """static const struct list_option option_rows[] = {
    {"all", 'a', LIST_ARG_NONE, "SQUEUE_ALL", list_set_true, NULL, "everything",
        AT(all)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, NULL, NULL, "say more"},
    {"cluster", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "name", NULL, AT(clusters)},
};
""")
        self.assertEqual(list(guard.check_pages(self.root)), ["src/cmd/squeue.c: no doc/man/squeue.1.scd"])
        self.write("doc/man/squeue.1.scd", "*-a*, *--all*\n\tEverything. No effect yet.\n")
        self.assertEqual(list(guard.check_pages(self.root)), [
            'doc/man/squeue.1.scd: --all does not name its variable "SQUEUE_ALL"',
            'doc/man/squeue.1.scd: --all says "No effect yet", and has one',
            "doc/man/squeue.1.scd: --verbose is missing"])
        self.write("doc/man/squeue.1.scd", "*-a*, *--all*\n\tEverything. Variable: SQUEUE\\_ALL.\n\n"
                                           "*-v*, *--verbose*\n\tSay more. No effect yet.\n")
        self.assertEqual(list(guard.check_pages(self.root)), [])


if __name__ == "__main__":
    unittest.main()
