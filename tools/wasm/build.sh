#!/bin/sh
# Builds the engine of the lab's page for browsers: target/wasm and python/goodqueue/lab/page/engine.
#
# The standard library for WebAssembly comes with rustup where that can be asked, else from Debian's packages of
# Rust's web edition, whose compiler builds it from source. Nothing is installed on the machine: packages are
# unpacked below target/wasm-toolchain and kept there.
set -eu
cd "$(dirname "$0")/../.."

root=$(pwd)
kit=$root/target/wasm-toolchain
out=$root/target/wasm
page=$root/python/goodqueue/lab/page/engine
triple=wasm32-unknown-unknown

# Crates whose code runs once a question, or of which a run uses a small part, are built for the smallest size.
small=""
for crate in goodqueue-scenario goodqueue-queue goodqueue-statistics goodqueue-theory goodqueue-tc goodqueue-fluid goodqueue-trace \
    goodqueue-wasm toml toml_parser toml_datetime winnow serde_json serde_core serde_spanned indexmap hashbrown strsim parquet \
    wasm-bindgen rand_pcg rand_core num-bigint num-integer chrono snap half bytes; do
    small="$small --config profile.release.package.$crate.opt-level=\"z\""
done
# This crate also has the loop of the engine, which is generic in the observer: with "z" runs are a quarter slower.
small="$small --config profile.release.package.goodqueue-lab.opt-level=\"s\""
# The third level of optimisation mostly copies code into its callers, and makes these crates a fifth larger.
for crate in goodqueue-sim goodqueue-tcp goodqueue-types; do
    small="$small --config profile.release.package.$crate.opt-level=2"
done
# One pass over all crates keeps a function once that several of them have compiled.
small="$small --config profile.release.lto=\"fat\" --config profile.release.strip=\"debuginfo\" --config profile.release.debug=0"

# Older versions of wasm-opt damage tables of references to JavaScript.
plain=-Ctarget-feature=-reference-types

missing() {
    echo "make wasm: $1" >&2
    echo "make wasm: without it the page of the lab uses its local server, and everything else works" >&2
    exit 1
}

# The version of wasm-bindgen in Cargo.lock; the tool must be the same.
bindgen=$(sed -n '/^name = "wasm-bindgen"$/{n;s/version = "\(.*\)"/\1/p;}' Cargo.lock)
tool=$kit/bindgen-$bindgen/bin/wasm-bindgen
if [ ! -x "$tool" ]; then
    echo "make wasm: building wasm-bindgen $bindgen (some minutes, once)" >&2
    cargo install --quiet wasm-bindgen-cli --version "$bindgen" --root "$kit/bindgen-$bindgen" ||
        missing "wasm-bindgen-cli $bindgen cannot be built"
fi

if [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; then
    # Flags of the machine are for its own linker.
    # shellcheck disable=SC2086 # the settings are several words
    CARGO_ENCODED_RUSTFLAGS="$plain" cargo build --locked --release --package goodqueue-wasm --target $triple --target-dir "$out" $small
else
    command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
        missing "install the target: rustup target add $triple"
    version=$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: //p')
    [ -n "$version" ] && [ "$version" != "(none)" ] ||
        missing "install the target (rustup target add $triple), or apt's package rustc-web"
    debian=$kit/debian-$version
    if [ ! -e "$debian/complete" ]; then
        echo "make wasm: unpacking rustc-web $version (130 MB, once)" >&2
        rm -rf "$debian"
        mkdir -p "$debian/packages"
        # The compiler's libraries and its LLVM are in packages whose names have versions.
        needs() { apt-cache show "$1=$2" | sed -n 's/^Depends: //p' | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep "$3"; }
        library=$(apt-cache show "libstd-rust-web-dev=$version" | sed -n 's/^Depends: \([^ ]*\).*/\1/p' | head -n 1)
        llvm=$(needs "$library" "$version" '^libllvm' | head -n 1)
        (
            cd "$debian/packages"
            apt-get download "rustc-web=$version" "rust-web-src=$version" "$library=$version" \
                "libstd-rust-web-dev=$version" "$llvm" >/dev/null 2>&1
        ) || missing "apt-get cannot download rustc-web $version"
        for package in "$debian"/packages/*.deb; do
            dpkg -x "$package" "$debian/root"
        done
        rm -r "$debian/packages"
        touch "$debian/complete"
    fi
    tree=$debian/root/usr
    sources=$(find "$tree/src" -maxdepth 1 -type d -name 'rustc-*' | head -n 1)
    rustlib=$tree/lib/rustlib
    mkdir -p "$rustlib/src/rust"
    [ -e "$rustlib/src/rust/library" ] || ln -s "$sources/library" "$rustlib/src/rust/library"
    cat >"$debian/rustc" <<EOF
#!/bin/sh
LD_LIBRARY_PATH=$tree/lib:$tree/lib/x86_64-linux-gnu exec $tree/bin/rustc --sysroot $tree "\$@"
EOF
    chmod +x "$debian/rustc"
    linker=$(find "$(rustc --print sysroot)" -name rust-lld -type f | head -n 1)
    [ -n "$linker" ] || missing "the Rust toolchain has no rust-lld"
    # The standard library is built here, so it can be small, too. A broken invariant stops the worker without a text
    # and its place in the source; both would be a twentieth of the engine.
    flags=$(printf '%s\037%s\037%s\037%s' -Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none "$plain")
    CARGO_ENCODED_RUSTFLAGS="$flags" RUSTC=$debian/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker \
        cargo build --release --package goodqueue-wasm --target $triple --target-dir "$out" \
        -Z build-std=std,panic_abort -Z build-std-features=optimize_for_size $small
fi

rm -rf "$page" "$out/page"
"$tool" --target web --no-typescript --remove-name-section --remove-producers-section --out-name goodqueue_wasm --out-dir "$out/page" \
    "$out/$triple/release/goodqueue_wasm.wasm"

# wasm-opt of Binaryen makes the engine a twentieth smaller: that of the machine, or of Debian's package.
optimiser=$(command -v wasm-opt || echo "$kit/binaryen/usr/bin/wasm-opt")
if [ ! -x "$optimiser" ] && command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
    mkdir -p "$kit/binaryen"
    (cd "$kit/binaryen" && apt-get download binaryen >/dev/null 2>&1 && dpkg -x binaryen_*.deb . && rm binaryen_*.deb) || true
fi
engine=$out/page/goodqueue_wasm_bg.wasm
if [ -x "$optimiser" ]; then
    "$optimiser" -Oz --enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int \
        --enable-multivalue "$engine" -o "$engine"
else
    echo "make wasm: without wasm-opt (binaryen) the engine is a twentieth larger" >&2
fi
mkdir -p "$page"
cp "$out/page/"* "$page/"
bytes=$(wc -c <"$page/goodqueue_wasm_bg.wasm")
packed=$(gzip -9 -c "$page/goodqueue_wasm_bg.wasm" | wc -c)
echo "the engine has $bytes bytes, $packed with gzip: $page"
if command -v brotli >/dev/null; then
    echo "with brotli it has $(brotli -q 11 -c "$page/goodqueue_wasm_bg.wasm" | wc -c) bytes"
fi
