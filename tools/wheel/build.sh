#!/bin/sh
# Builds the released wheel with profile-guided optimisation, in target/wheel/dist: builds it with counters, trains it
# on short runs, builds it again with what the counters show, and compares its results with those of the plain build.
set -eu
cd "$(dirname "$0")/../.."
python=.venv/bin/python
place=$PWD/target/wheel

# The format of profiles belongs to a version of LLVM, so rustc's own tool must read them.
host=$(rustc -vV | sed -n 's/^host: //p')
llvm=$(rustc -vV | sed -n 's/^LLVM version: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
if [ ! -x "$profdata" ]; then
    echo "make wheel needs llvm-profdata of rustc's LLVM $llvm; run: rustup component add llvm-tools" >&2
    exit 1
fi
case $("$profdata" --version) in
*"LLVM version $llvm"*) ;;
*)
    echo "$profdata is not of rustc's LLVM $llvm; run: rustup component add llvm-tools" >&2
    exit 1
    ;;
esac

# build FLAGS FOLDER: the same command and paths both times, because a profile names functions by them. With --target,
# the flags do not apply to build scripts.
build() {
    RUSTFLAGS=$1 VIRTUAL_ENV=$PWD/.venv .venv/bin/maturin build --quiet --locked --release --target "$host" \
        --target-dir "$place/cargo" --out "$2"
    rm -rf "$2/site"
    $python -m pip install --quiet --disable-pip-version-check --no-deps --target "$2/site" "$2"/*.whl
}

rm -rf "$place/counting" "$place/dist" "$place/profiles"
echo "building with counters"
build "-Cprofile-generate=$place/profiles" "$place/counting"
echo "training"
PYTHONPATH=$place/counting/site $python tools/wheel/runs.py train
"$profdata" merge --output "$place/profile" "$place/profiles"
rm -rf "$place/profiles"
echo "building with the profile"
GOODQUEUE_PROFILE_GUIDED=1 build "-Cprofile-use=$place/profile" "$place/dist"

echo "comparing results with the plain build"
PYTHONPATH=$place/dist/site $python tools/wheel/runs.py results >"$place/results"
$python tools/wheel/runs.py results >"$place/plain-results"
cmp "$place/results" "$place/plain-results"
PYTHONPATH=$place/dist/site $python -c 'from goodqueue.cli import main; main()' --version
rm -rf "$place/dist/site"
ls "$place"/dist/*.whl
