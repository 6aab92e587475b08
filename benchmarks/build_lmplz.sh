#!/usr/bin/env bash
# Builds KenLM's lmplz, query and build_binary from the source package `kenlm`, as the reference of
# benchmarks/kneser_ney.py and benchmarks/native.py.
# Needs: pip, cmake, a C++ compiler, and boost (Debian: libboost-program-options-dev libboost-system-dev
# libboost-thread-dev libboost-test-dev). Usage: benchmarks/build_lmplz.sh FOLDER; the programs are in FOLDER/build/bin.
set -euo pipefail
folder=${1:?usage: build_lmplz.sh FOLDER}
mkdir -p "$folder/build"
cd "$folder"
python3 -m pip download --quiet --no-deps --no-binary kenlm kenlm==0.3.0
tar xf kenlm-0.3.0.tar.gz
cd build
cmake ../kenlm-0.3.0 -DCMAKE_BUILD_TYPE=Release > cmake.log
make lmplz query build_binary > make.log
echo "$folder/build/bin/lmplz"
