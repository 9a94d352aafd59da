#!/bin/sh
# Writes the notices of all crates that the extension links into a file: notices.sh FILE
set -eu
out=$PWD/$1
cd "$(dirname "$0")/../.."
wanted="cargo-about 0.9.3"
if [ "$(cargo about --version 2>/dev/null)" != "$wanted" ]; then
    echo "the notices need $wanted; run: cargo install cargo-about --locked --version ${wanted#* } --features cli" >&2
    exit 1
fi
cargo fetch --locked --quiet
cargo about generate --locked --offline --fail -c tools/wheel/about.toml -m crates/python/Cargo.toml \
    tools/wheel/notices.hbs -o "$out"
