//! The heap of the C libraries (librdkafka, SQLite, OpenSSL): that of the system, while ours is mimalloc's.
//!
//! glibc gives large pieces back to the system when they are freed, but what it takes for large grows with what it has seen. Buffers into
//! which records are unpacked are of all sizes up to megabytes, and are freed in another order than they came: after a minute
//! of reading from Kafka twice as much was resident as anybody held.
//!
//! # Invariants
//! - What clients of a bus have given back is not resident. (`a_long_run_stays_within_its_memory` in a soak)

#![allow(unsafe_code, reason = "a setting of the C library, which is made by a call of it")]

/// From this size on memory is given back at once: what glibc begins with.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BYTES: i32 = 128 << 10;

/// Has large pieces given back as soon as they are freed, for as long as the process lives.
pub fn give_back_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes two numbers, and says by its answer whether it knew what to do with them. Where it did not, nothing has changed.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
    }
}
