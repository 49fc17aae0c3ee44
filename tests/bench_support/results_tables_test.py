#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/results_tables.py: results_tables_test.py PATH_OF_THE_TOOL"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)

RESULTS = {
    "schema": "weir-results-1", "module": "sample", "commit": "abc", "mode": "quick", "only": None,
    "machine": {"cpu": "CPU", "cores": 2, "simd": "avx2", "memory_gib": 23.4},
    "figures": [
        {"name": "ratio", "value": 7.25, "min": 7, "max": 7.5, "samples": 5, "unit": "x",
         "kind": "measured", "better": "higher", "must": 6, "reach": 10, "met": "must"},
        {"name": "lines", "value": 2.4, "min": 2.4, "max": 2.4, "samples": 1, "unit": "lines",
         "kind": "counted", "better": "lower", "must": 2.3, "reach": None, "met": "no"},
        {"name": "mops", "value": 1234567, "min": 1, "max": 2, "samples": 1, "unit": "Mops",
         "kind": "measured", "better": "higher", "must": None, "reach": None, "met": None},
    ],
    "missing": [{"name": "scaling", "better": "higher", "must": 1.75, "reach": 1.9,
                 "reason": "one core"}],
}


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "docs" / "results").mkdir(parents=True)
        self.readme = self.root / "README.md"

    def record(self, **changes):
        path = self.root / "docs" / "results" / "sample.json"
        path.write_text(json.dumps({**RESULTS, **changes}), encoding="utf-8")

    def run_tool(self, *options):
        return subprocess.run([sys.executable, TOOL, "--root", str(self.root), *options],
                              capture_output=True, text=True, check=False)

    def test_renews_and_then_finds_nothing_to_do(self):
        self.record()
        self.readme.write_text("a\n<!-- results:sample -->\nold\n<!-- /results -->\nb\n")
        self.assertEqual(self.run_tool("--check").returncode, 1)
        self.assertIn("old", self.readme.read_text())
        self.assertEqual(self.run_tool().returncode, 0)
        text = self.readme.read_text()
        self.assertIn("| `ratio` | ≥ 6, aim 10 | 7.25 x (7 to 7.5) | yes | measured |", text)
        self.assertIn("| `lines` | ≤ 2.3 | 2.4 lines | **no** | counted |", text)
        self.assertIn("| `scaling` | ≥ 1.75, aim 1.9 | missing: one core | **no** |  |", text)
        self.assertNotIn("mops", text)
        self.assertNotIn("old", text)
        self.assertTrue(text.startswith("a\n") and text.endswith("\nb\n"))
        self.assertEqual(self.run_tool("--check").returncode, 0)

    def test_selects_by_name_or_all(self):
        self.record()
        self.readme.write_text("<!-- results:sample mo.* -->\n<!-- /results:sample -->")
        (self.root / "docs" / "page.md").write_text("<!-- results:sample all -->\n<!-- /results -->")
        self.assertEqual(self.run_tool().returncode, 0)
        self.assertIn("1,234,567 Mops", self.readme.read_text())
        self.assertNotIn("ratio", self.readme.read_text())
        self.assertIn("ratio", (self.root / "docs" / "page.md").read_text())

    def test_says_when_nothing_is_recorded(self):
        self.readme.write_text("<!-- results:sample -->\n<!-- /results -->")
        self.assertEqual(self.run_tool().returncode, 0)
        self.assertIn("Nothing is recorded yet", self.readme.read_text())

    def test_refuses_what_it_does_not_understand(self):
        self.readme.write_text("<!-- results:sample -->\nno end")
        self.assertEqual(self.run_tool().returncode, 2)
        self.readme.write_text("<!-- results:sample -->\n<!-- /results -->")
        self.record(schema="weir-results-2")
        self.assertEqual(self.run_tool().returncode, 2)
        self.record(only="ratio")
        self.assertEqual(self.run_tool().returncode, 2)


unittest.main()
