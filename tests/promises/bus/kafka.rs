//! The suite on a real Kafka.

use crate::kafka::ground;

super::suite!(ground);
