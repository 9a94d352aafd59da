#!/bin/sh
# Says in one line what is missing on this machine, and how to get it. Silent when all is there.
set -u
python=${1:-python3}
missing=

need() { missing="${missing:+$missing; }$1"; }

# at_least HAVE WANT: whether the version HAVE (major.minor...) is WANT or later.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# The workspace says which Rust it needs.
rust_wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$(dirname "$0")/../Cargo.toml")
cargo_version=$(cargo --version 2>/dev/null | cut -d ' ' -f 2)
if [ -z "$cargo_version" ] || ! at_least "$cargo_version" "$rust_wanted"; then
    need "cargo $rust_wanted or later (found ${cargo_version:-none}; Debian's is too old: install Rust with rustup)"
fi

if ! command -v "$python" >/dev/null 2>&1; then
    need "python3 3.11 or later with venv (Debian: apt-get install python3 python3-venv)"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    need "python3 3.11 or later (found $("$python" -c 'import platform; print(platform.python_version())'); name another with make PYTHON=...)"
elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    need "Python's venv (Debian: apt-get install python3-venv)"
fi

command -v cc >/dev/null 2>&1 || need "a C compiler to link with (Debian: apt-get install gcc libc6-dev)"

if [ -n "$missing" ]; then
    echo "goodqueue needs: $missing" >&2
    exit 1
fi
