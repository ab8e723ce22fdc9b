//! On the embedded bus.

use super::{hasty, promises};
use crate::bus::{Ground, embedded};

fn ground() -> Ground {
    hasty(embedded::ground())
}

promises!(ground);
