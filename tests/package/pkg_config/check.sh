#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh <prefix> <C++ compiler> <main.cpp> <pc name> <work dir>: builds and runs with pkg-config only.
set -euo pipefail
prefix=$1 compiler=$2 source=$3 name=$4 work=$5
if ! command -v pkg-config >/dev/null; then
  echo "SKIPPED: pkg-config is not installed (Debian: pkg-config)"
  exit 77
fi
file=$(find "$prefix" -name "$name.pc")
PKG_CONFIG_PATH=$(dirname "$file")
export PKG_CONFIG_PATH
pkg-config --validate "$name"
eval "flags=($(pkg-config --static --cflags --libs "$name"))" # it escapes spaces for a shell
mkdir -p "$work"
# shellcheck disable=SC2154  # eval
echo "$compiler -std=c++20 $source ${flags[*]}"
"$compiler" -std=c++20 "$source" -o "$work/consumer" "${flags[@]}"
"$work/consumer"
