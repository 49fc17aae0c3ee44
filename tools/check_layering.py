#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes point down the floors of docs/architecture.md, never sideways or up.

usage: check_layering.py [--root DIR] [--self-test]
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

MODULES = ("anifilter", "ooo", "prune", "exegpt")
BELOW = {
    "kern": {"kern"},
    "runtime": {"runtime", "kern"},
    "nn": {"nn", "runtime", "kern"},
    "anifilter": {"anifilter", "runtime", "kern"},
    **{m: {m, "nn", "runtime", "kern"} for m in ("ooo", "prune", "exegpt")},
}
PROGRAMS = ("bench", "examples", "tools")
# Never in a public header: a user's compile must not need what our build used.
PRIVATE_HEADERS = re.compile(
    r"^(cuda|cublas|cudnn|cufft|curand|cusparse|nvtx|nccl|mpi\.h|libpmem|dnnl|oneapi/dnnl|Eigen/"
    r"|unsupported/Eigen|fmt/|nlohmann/|CLI/|gtest/|gmock/|benchmark/|rapidcheck)")
# In sources only where a backend lives.
BACKENDS = (
    (re.compile(r"^(libpmem)"), ("src/runtime/nvm/",)),
    (re.compile(r"^(mpi\.h|nccl)"), ("src/runtime/comm/",)),
    (re.compile(r"^(cuda|cublas|cudnn|curand|cusparse)"), ("/cuda/",)),
    (re.compile(r"^(gtest/|gmock/|rapidcheck|benchmark/|CLI/)"), ()),
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FEATURE_TEST = re.compile(r"^\s*#\s*(if|elif|ifdef|ifndef)\b.*\bWEIR_(HAS_)?(CUDA|PMEM|NCCL|MPI|ONEDNN)\b")
CXX = (".hpp", ".cpp", ".cu", ".cuh")


def listed_files(root):
    try:
        out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                             check=True, capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # not a clone: an unpacked archive
        out = [os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs]
    return sorted(f for f in out if f.endswith(CXX) and os.path.isfile(os.path.join(root, f)))


def module_of(path):
    """The floor that a file of the library belongs to, or None."""
    parts = path.split("/")
    if path.startswith("include/weir/") and len(parts) > 3:
        return parts[2]
    if path.startswith("src/") and len(parts) > 2:
        return parts[1]
    return None


def resolve(root, path, quoted, name):
    """The file of this tree that an include names; None for one from elsewhere."""
    folders = [os.path.dirname(path)] if quoted else []
    top = path.split("/")[0]
    # Tests also cover what programs share: bench/support, bench/baselines, the code of a tool.
    folders += ["include", "src"] + ([top] if top in PROGRAMS else [])
    folders += ["tests", "bench", "tools"] if top == "tests" else []
    for folder in folders:
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check_include(root, path, quoted, name):
    public = path.startswith("include/")
    if public and PRIVATE_HEADERS.match(name):
        return f"a public header includes {name}"
    if path.startswith("src/"):
        for pattern, homes in BACKENDS:
            if pattern.match(name) and not any(home in path for home in homes):
                return f"{name} belongs in {' or '.join(homes) or 'tests, bench and tools'} only"
    if name == "weir/config.hpp":
        return None
    target = resolve(root, path, quoted, name)
    if target is None:
        if quoted or name.startswith("weir/"):
            return f"{name} is not in this tree; system headers take <>"
        return None
    if name == "weir/weir.hpp" and module_of(path):
        return "the umbrella header is for users"
    if public and not target.startswith("include/"):
        return f"a public header includes {target}, which is not installed"
    top = path.split("/")[0]
    if top in PROGRAMS and not target.startswith(("include/", top + "/")):
        return f"programs see public headers and their own files, not {target}"
    own, other = module_of(path), module_of(target)
    if top == "tests":
        own = path.split("/")[1] if target.startswith("src/") and path.split("/")[1] in BELOW else None
    if (public or top == "src") and not target.startswith(("include/", "src/")):
        return f"the library includes {target}"
    if own in BELOW and other is not None and other not in BELOW[own]:
        return f"{own} may include {', '.join(sorted(BELOW[own]))}, not {other}"
    return None


def check(root):
    problems = []
    for path in listed_files(root):
        own = module_of(path)
        if own is not None and own not in BELOW:
            problems.append(f"{path}: '{own}' is no module; add it to tools/check_layering.py")
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                found = INCLUDE.match(line)
                problem = found and check_include(root, path, found[1] == '"', found[2])
                if not problem and FEATURE_TEST.match(line) and (
                        path.startswith("include/") or own in MODULES + ("nn",)):
                    problem = "no feature tests here: declare an interface, add a no_<dependency>.cpp"
                if problem:
                    problems.append(f"{path}:{number}: {problem}")
    return problems


def self_test():
    """Every rule must refuse what breaks it and accept what does not."""
    good = {
        "include/weir/runtime/a.hpp": "#include <vector>\n",
        "include/weir/anifilter/b.hpp": '#include "weir/runtime/a.hpp"\n',
        "include/weir/ooo/o.hpp": "#include <weir/nn/n.hpp>\n",
        "include/weir/nn/n.hpp": "#include <weir/config.hpp>\n",
        "src/runtime/nvm/p.cpp": "#include <libpmem.h>\n#include \"../local.hpp\"\n",
        "src/runtime/local.hpp": "\n",
        "src/anifilter/b.cpp": '#include "weir/anifilter/b.hpp"\n#include "runtime/local.hpp"\n',
        "bench/support/s.hpp": "#include <nlohmann/json.hpp>\n",
        "bench/x.cpp": '#include "support/s.hpp"\n#include "weir/anifilter/b.hpp"\n',
        "tests/anifilter/t.cpp": '#include "runtime/local.hpp"\n#include <gtest/gtest.h>\n',
    }
    bad = {
        "include/weir/runtime/up.hpp": '#include "weir/anifilter/b.hpp"\n',
        "include/weir/prune/sideways.hpp": '#include "weir/ooo/o.hpp"\n',
        "include/weir/anifilter/nn.hpp": '#include "weir/nn/n.hpp"\n',
        "include/weir/runtime/cuda.hpp": "#include <cuda_runtime.h>\n",
        "include/weir/runtime/eigen.hpp": "#include <Eigen/Core>\n",
        "include/weir/runtime/private.hpp": '#include "runtime/local.hpp"\n',
        "include/weir/runtime/feature.hpp": "#if WEIR_HAS_PMEM\n#endif\n",
        "src/anifilter/pmem.cpp": "#include <libpmem.h>\n",
        "src/anifilter/feature.cpp": "#ifdef WEIR_CUDA\n#endif\n",
        "src/anifilter/mpi.cpp": "#include <mpi.h>\n",
        "src/runtime/test.cpp": "#include <gtest/gtest.h>\n",
        "src/runtime/gone.cpp": '#include "weir/runtime/gone.hpp"\n',
        "src/unknown/u.cpp": "\n",
        "bench/private.cpp": '#include "runtime/local.hpp"\n',
        "tools/weir/bench.cpp": '#include "../../bench/support/s.hpp"\n',
        "tests/runtime/up.cpp": '#include "anifilter/private.hpp"\n',
        "examples/src.cpp": '#include "../src/runtime/local.hpp"\n',
    }
    extra = {"src/anifilter/private.hpp": "\n"}
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**good, **bad, **extra}.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        refused = {problem.split(":")[0] for problem in check(root)}
    wrong = [f"not refused: {path}" for path in sorted(set(bad) - refused)]
    wrong += [f"refused without cause: {path}" for path in sorted(refused - set(bad))]
    print("\n".join(wrong) or f"self-test: {len(bad)} violations refused, {len(good)} files accepted")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    problems = check(args.root)
    print("\n".join(problems) or f"layering: {len(listed_files(args.root))} files are clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
