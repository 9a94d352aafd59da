//! The source of randomness of `rand::rng()`, in place of the operating system.
//!
//! quinn seeds everything from `EndpointConfig::rng_seed` except the gain cycle of its BBR, which comes
//! from `rand::rng()`. That generator belongs to a thread and takes its seed from getrandom at its first
//! use. Here a new thread with a stated seed builds each control that needs it. Any other use of
//! getrandom fails, so that no run depends on the machine unnoticed.

use rand_core::Rng;
use rand_pcg::Pcg32;
use std::cell::RefCell;

#[cfg(not(getrandom_backend = "custom"))]
compile_error!(
    "build in the folder of this crate, whose .cargo/config.toml sets getrandom_backend, or set it in RUSTFLAGS"
);

thread_local! {
    static SEEDED: RefCell<Option<Pcg32>> = const { RefCell::new(None) };
}

/// Runs `build` on a thread of its own, in which `rand::rng()` follows from this seed.
pub fn with_seed<T: Send>(seed: u64, build: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let seeded = scope.spawn(|| {
            SEEDED.set(Some(Pcg32::new(seed, 0)));
            build()
        });
        seeded.join().expect("a control can be built")
    })
}

/// Fills a buffer for getrandom with the random bytes of this thread. Fails if the thread has no seed.
#[expect(
    unsafe_code,
    reason = "getrandom names its source by a symbol and passes a pointer"
)]
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    destination: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    SEEDED.with_borrow_mut(|seeded| {
        let random = seeded.as_mut().ok_or(getrandom::Error::UNSUPPORTED)?;
        // SAFETY: getrandom passes a pointer to `length` bytes that nothing else refers to. They may be
        // uninitialised, so they are written before a slice of them exists.
        let bytes = unsafe {
            destination.write_bytes(0, length);
            std::slice::from_raw_parts_mut(destination, length)
        };
        random.fill_bytes(bytes);
        Ok(())
    })
}
