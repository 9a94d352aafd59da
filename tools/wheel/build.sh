#!/bin/sh
# Builds the released wheel with profile-guided optimisation, in target/wheel/dist: builds it with counters, trains it
# on short runs, builds it again with what the counters show, and compares its results with those of the plain build.
# On Linux zig links it for glibc 2.17, and auditwheel checks that. The source distribution and the static lab lie beside it.
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

# zig cannot link the counters. The second build has the same names of functions with it, which was checked.
tools=$PWD/target/wheel-venv/bin
case $host in
*-linux-gnu) old_glibc="--zig --compatibility manylinux_2_17" ;;
*) old_glibc= ;;
esac

# The wheel contains the notices of all crates that it links.
mkdir -p "$place"
tools/wheel/notices.sh target/wheel/notices.txt
if ! cmp -s "$place/notices.txt" NOTICES.txt; then
    echo "NOTICES.txt is not of the crates in Cargo.lock; run: make notices" >&2
    exit 1
fi

# build FLAGS FOLDER [OPTION ...]: the same command and paths both times, because a profile names functions by them. With --target,
# the flags do not apply to build scripts.
build() {
    flags=$1 folder=$2
    shift 2
    RUSTFLAGS=$flags VIRTUAL_ENV=$PWD/.venv PATH=$tools:$PATH .venv/bin/maturin build --quiet --locked --release \
        --target "$host" --target-dir "$place/cargo" --out "$folder" "$@"
    rm -rf "$folder/site"
    $python -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder/site" "$folder"/*.whl
}

rm -rf "$place/counting" "$place/dist" "$place/profiles"
echo "building with counters"
build "-Cprofile-generate=$place/profiles" "$place/counting"
echo "training"
PYTHONPATH=$place/counting/site $python tools/wheel/runs.py train
"$profdata" merge --output "$place/profile" "$place/profiles"
rm -rf "$place/profiles"
echo "building with the profile"
# shellcheck disable=SC2086 # several options
GOODQUEUE_PROFILE_GUIDED=1 build "-Cprofile-use=$place/profile" "$place/dist" $old_glibc

echo "comparing results with the plain build"
PYTHONPATH=$place/dist/site $python tools/wheel/runs.py results >"$place/results"
$python tools/wheel/runs.py results >"$place/plain-results"
cmp "$place/results" "$place/plain-results"
PYTHONPATH=$place/dist/site $python -c 'from goodqueue.cli import main; main()' --version
# The lab that the wheel contains, as an archive for static hosts.
rm -rf "$place/lab"
PYTHONPATH=$place/dist/site $python -c 'from goodqueue.cli import main; main()' lab --save "$place/lab" >/dev/null
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --exclude=.goodqueue \
    --file "$place/dist/goodqueue-lab-$version.tar.gz" --transform "s,^\.,goodqueue-lab-$version," --directory "$place/lab" .
rm -rf "$place/dist/site"
if [ -n "$old_glibc" ]; then
    # Its exit code does not depend on the tag.
    "$tools/auditwheel" show "$place"/dist/*.whl | tr '\n' ' ' | grep -q 'platform tag: "manylinux_2_17_' || {
        "$tools/auditwheel" show "$place"/dist/*.whl >&2
        exit 1
    }
fi
# Without this, cargo warns that our crates, which are not published, have no homepage.
CARGO_TERM_QUIET=true .venv/bin/maturin sdist --out "$place/dist"
ls "$place"/dist/*
