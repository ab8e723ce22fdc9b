//! Asks the processor for a cache line before it is needed.
//!
//! It is a hint: nothing is read or written, any address will do, and other processors do without.

/// Asks for the line that holds `value`.
#[inline]
#[allow(unsafe_code, reason = "a prefetch is an intrinsic; it has no effect that a program can see")]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults and changes nothing, and SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
