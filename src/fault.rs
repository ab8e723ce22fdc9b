//! Places at which the tests pull the plug. In a release build there are none.

/// Ends the process on the spot if `SEAMRIPPER_FAULT` is `NAME:N` and this is the Nth time that the place `name` is passed.
pub(crate) fn point(name: &str) {
    if is_due(name) {
        std::process::abort();
    }
}

/// Whether something is to fail here: this is the Nth time that the place is passed.
#[cfg(debug_assertions)]
pub(crate) fn is_due(name: &str) -> bool {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static WANTED: OnceLock<Option<(String, u64)>> = OnceLock::new();
    static N_PASSED: AtomicU64 = AtomicU64::new(0);
    let wanted = WANTED.get_or_init(|| {
        let fault = std::env::var("SEAMRIPPER_FAULT").ok()?;
        let (name, n) = fault.split_once(':')?;
        Some((name.to_owned(), n.parse().ok()?))
    });
    wanted.as_ref().is_some_and(|(wanted, n)| wanted == name && N_PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *n)
}

#[cfg(not(debug_assertions))]
pub(crate) fn is_due(_name: &str) -> bool {
    false
}
