//! On Kafka.

use super::{hasty, promises};
use crate::bus::Ground;

fn ground() -> Ground {
    hasty(crate::kafka::ground())
}

promises!(ground);
