#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums JUnit reports of ctest: failures by name, skips with their reasons, one line of totals.

usage: test_summary.py [--floor N] REPORT...
Fails when a test failed, and when fewer than N ran: a build that loses its tests must not look green.
"""
import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree


def skip_reason(case):
    output = case.findtext("system-out") or ""
    # GoogleTest prints "file:line: Skipped" and the reason below it; our scripts "SKIPPED: reason".
    found = re.search(r": Skipped\n(.+)", output) or re.search(r"SKIPPED: (.+)", output)
    return found.group(1).strip() if found else "no reason given"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--floor", type=int, default=0, help="tests that must have passed or failed")
    parser.add_argument("reports", nargs="+")
    args = parser.parse_args()
    passed, failed, skipped = 0, [], {}
    for path in args.reports:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name = case.get("name")
            if case.find("skipped") is not None and case.get("status") != "fail":
                skipped.setdefault(skip_reason(case), []).append(name)
            elif case.get("status") == "run" and case.find("failure") is None:
                passed += 1
            else:
                failed.append(f"{name} ({path})")
    for reason, names in sorted(skipped.items()):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"skipped: {names[0]}{more}: {reason}")
    for name in failed:
        print(f"failed: {name}")
    ran = passed + len(failed)
    if ran < args.floor:
        print(f"only {ran} tests ran; at least {args.floor} must. If tests were removed on purpose, "
              "lower the floor.")
    print(f"{passed} passed, {len(failed)} failed, {sum(map(len, skipped.values()))} skipped")
    return 1 if failed or ran < args.floor else 0


if __name__ == "__main__":
    sys.exit(main())
