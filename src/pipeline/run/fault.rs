//! Places at which the tests pull the plug. In a release build there are none.

/// Ends the process on the spot if `SEAMRIPPER_FAULT` is `NAME:N` and this is the Nth time that the place `name` is passed.
#[cfg(debug_assertions)]
pub(super) fn point(name: &str) {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static N_PASSED: AtomicU64 = AtomicU64::new(0);
    let wanted = WANTED.get_or_init(|| {
        let fault = std::env::var("SEAMRIPPER_FAULT").ok()?;
        let (name, n) = fault.split_once(':')?;
        Some((name.to_owned(), n.parse().ok()?))
    });
    if let Some((wanted, n)) = wanted
        && wanted == name
        && N_PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *n
    {
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(super) fn point(_name: &str) {}
