#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renews the tables of measured figures in README.md and docs/*.md from docs/results/*.json.

usage: results_tables.py [--check] [--root DIR]

A table stands between two marker lines and is replaced as a whole:
    <!-- results:anifilter -->          figures that something was asked of, and those missing
    <!-- results:anifilter all -->      every figure
    <!-- results:anifilter REGEX -->    figures whose whole name matches
    <!-- /results -->
--check changes nothing and fails when a table is not what the recorded results give.
"""
import argparse
import json
import pathlib
import re
import sys

BEGIN = re.compile(r"^<!-- results:(?P<module>\w+)(?: (?P<select>.+?))? -->$")
END = re.compile(r"^<!-- /results(:\w+)? -->$")
SCHEMA = "weir-results-1"


class Problem(Exception):
    """Something that the user must mend."""


def number(value):
    """Four significant digits, thousands with commas, no trailing zeros."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 1e-3:
        return f"{value:.2e}"
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def asked(entry):
    """What a figure was to be: "≥ 6, aim 10"."""
    must, reach = entry.get("must"), entry.get("reach")
    if isinstance(must, list):
        return f"{number(must[0])} to {number(must[1])}"
    sign = "≤" if entry["better"] == "lower" else "≥"
    words = []
    if must is not None:
        words.append(f"{sign} {number(must)}")
    if reach is not None:
        words.append(f"aim {number(reach)}" if words else f"aim {sign} {number(reach)}")
    return ", ".join(words)


def measured(figure):
    """The value with its unit, and the spread of more than one sample."""
    text = number(figure["value"])
    if figure["unit"] == "x":
        text += " x"
    elif figure["unit"]:
        text += " " + figure["unit"]
    if figure["samples"] > 1 and figure["min"] != figure["max"]:
        text += f" ({number(figure['min'])} to {number(figure['max'])})"
    return text


MET = {"reach": "yes, aim reached", "must": "yes", "no": "**no**", None: ""}


def is_selected(entry, select):
    if select is None:
        return entry.get("must") is not None or entry.get("reach") is not None
    return select == "all" or re.fullmatch(select, entry["name"]) is not None


def table(results, select):
    """Lines of markdown for the selected figures of a results file."""
    rows = []
    for figure in results["figures"]:
        if is_selected(figure, select):
            rows.append((f"`{figure['name']}`", asked(figure), measured(figure),
                         MET[figure.get("met")], figure["kind"]))
    for missing in results.get("missing", []):
        if is_selected(missing, select):
            rows.append((f"`{missing['name']}`", asked(missing), "missing: " + missing["reason"],
                         "**no**", ""))
    if not rows:
        return ["The recorded run has none of these figures."]
    lines = ["| figure | asked | measured | met | kind |", "|---|---|---|---|---|"]
    for row in rows:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    machine = results["machine"]
    lines += ["", f"{results['mode'].capitalize()} run at commit {results['commit']} on {machine['cpu']}, "
              f"{machine['cores']} cores, {machine['simd']}, {number(machine['memory_gib'])} GiB."]
    return lines


def load_results(root, module):
    """The recorded results of a module; None when there are none yet."""
    path = root / "docs" / "results" / f"{module}.json"
    if not path.exists():
        return None
    results = json.loads(path.read_text(encoding="utf-8"))
    if results.get("schema") != SCHEMA:
        raise Problem(f"{path}: schema is {results.get('schema')!r}, this tool knows {SCHEMA!r}")
    if results.get("only") is not None:
        raise Problem(f"{path} is from a run with --only; record a whole run")
    return results


def renewed(text, root, name):
    """The text of a document with its tables renewed."""
    lines = text.split("\n")
    result = []
    i = 0
    while i < len(lines):
        result.append(lines[i])
        begin = BEGIN.match(lines[i])
        if begin:
            end = next((j for j in range(i + 1, len(lines)) if END.match(lines[j])), None)
            if end is None:
                raise Problem(f"{name}:{i + 1}: no '<!-- /results -->' after this marker")
            results = load_results(root, begin["module"])
            if results is None:
                result += ["", f"Nothing is recorded yet: `./run bench {begin['module']} --record`.", ""]
            else:
                result += ["", *table(results, begin["select"]), ""]
            result.append(lines[end])
            i = end
        i += 1
    return "\n".join(result)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when a table is out of date")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    root = options.root
    stale = []
    try:
        for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
            if not path.exists():
                continue
            old = path.read_text(encoding="utf-8")
            new = renewed(old, root, path.relative_to(root))
            if new == old:
                continue
            stale.append(str(path.relative_to(root)))
            if not options.check:
                path.write_text(new, encoding="utf-8")
                print(f"{stale[-1]}: tables renewed")
    except (Problem, json.JSONDecodeError, KeyError, re.error) as error:
        print(f"results_tables.py: {error}", file=sys.stderr)
        return 2
    if options.check and stale:
        print(f"out of date: {', '.join(stale)}; run tools/results_tables.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
