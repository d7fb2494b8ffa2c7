# SPDX-License-Identifier: Apache-2.0
"""junit_totals.py FILE…: prints "PASSED FAILED SKIPPED" over JUnit files, and the names of what failed on stderr."""

import sys
import xml.etree.ElementTree as ElementTree

passed = failed = skipped = 0
for path in sys.argv[1:]:
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}: {case.get('name', '')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            print(f"    failed: {name}", file=sys.stderr)
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
print(passed, failed, skipped)
