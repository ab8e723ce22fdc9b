//! How often a client may ask: so many requests a second, and some more at once after a pause.
//!
//! A client is an address, or the network that one customer has of IPv6 addresses. Of each we keep one moment: when all that it has
//! asked for will have been earned (the generic cell rate algorithm, ITU-T I.371). Whoever lies further ahead than the burst is told
//! when to come again. The table is bounded; the client that was noted first gives way, and begins anew.
//!
//! # Invariants
//! - In any time no client gets more than the rate, and a burst. (`nobody_gets_more_than_the_rate_and_a_burst`)
//! - It holds so many clients and no more. (`the_table_is_bounded`)

use super::problem::Problem;
use crate::metrics as names;
use axum::http::StatusCode;
use metrics::counter;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who asks, as the connection has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer(pub(super) IpAddr);

/// Counts the requests of each client.
pub(super) struct Rate {
    /// What a request costs; `None` where nothing is counted.
    cost: Option<Duration>,
    /// What may be spent ahead of time.
    burst: Duration,
    clients_max: usize,
    clients: Mutex<Clients>,
}

#[derive(Default)]
struct Clients {
    /// When all that they have asked for is earned.
    earned_at: HashMap<u64, Instant>,
    order: VecDeque<u64>,
}

impl Rate {
    /// So many requests a second, 0 for any number; so many at once; of so many clients.
    pub(super) fn new(per_s: u32, burst: u32, clients_max: usize) -> Self {
        let cost = (per_s > 0).then(|| Duration::from_secs(1) / per_s);
        let burst = cost.unwrap_or_default() * burst.saturating_sub(1);
        Self { cost, burst, clients_max: clients_max.max(1), clients: Mutex::default() }
    }

    /// Whether a request of this client is served now.
    pub(super) fn admit(&self, peer: Peer) -> Result<(), Problem> {
        self.admit_at(peer, Instant::now()).map_err(|wait| {
            counter!(names::HTTP_RATE_LIMITED).increment(1);
            let detail =
                "this address asks more often than it may (http.rate_per_s, http.rate_burst): come again later";
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", detail);
            problem.retry_after(wait)
        })
    }

    /// How long to wait, where it is not.
    fn admit_at(&self, peer: Peer, now: Instant) -> Result<(), Duration> {
        let Some(cost) = self.cost else { return Ok(()) };
        let client = client(peer);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let Clients { earned_at, order } = &mut *clients;
        if let Some(earned) = earned_at.get_mut(&client) {
            let from = (*earned).max(now);
            let ahead = from - now;
            if ahead > self.burst {
                return Err(ahead - self.burst);
            }
            *earned = from + cost;
            return Ok(());
        }
        if order.len() >= self.clients_max
            && let Some(oldest) = order.pop_front()
        {
            earned_at.remove(&oldest);
            counter!(names::HELD_GIVEN_WAY, "what" => "clients").increment(1);
        }
        earned_at.insert(client, now + cost);
        order.push_back(client);
        Ok(())
    }
}

/// The address as a number; of IPv6 the first half, which is what one customer is given at least.
fn client(Peer(address): Peer) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(u32::from(address)),
        // None of these begins with so many zeros.
        IpAddr::V6(address) => (u128::from(address) >> 64) as u64 | 1 << 63,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        Peer(text.parse().unwrap())
    }

    /// The rule, written the slow way: a bucket that fills with time.
    #[test]
    fn nobody_gets_more_than_the_rate_and_a_burst() {
        let rate = Rate::new(10, 5, 100);
        let begun = Instant::now();
        let (mut bucket, mut last, mut chance) = (5.0_f64, 0_u64, 88172645463325252_u64);
        let mut n_refused = 0;
        for _ in 0..5000 {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let now = last + chance % 170;
            bucket = (bucket + (now - last) as f64 / 100.0).min(5.0);
            last = now;
            let admitted = rate.admit_at(peer("192.0.2.1"), begun + Duration::from_millis(now));
            // The two may differ where the bucket is just about to be full enough.
            if (bucket - 1.0).abs() > 1e-6 {
                assert_eq!(admitted.is_ok(), bucket > 1.0, "{bucket} at {now}");
            }
            match admitted {
                Ok(()) => bucket -= 1.0,
                Err(wait) => {
                    n_refused += 1;
                    assert!((wait.as_secs_f64() - (1.0 - bucket) / 10.0).abs() < 1e-6, "{wait:?}");
                }
            }
        }
        // They ask every 85 ms on average, and 100 ms are paid for.
        assert!((600..900).contains(&n_refused), "{n_refused}");
        assert!(rate.admit_at(peer("192.0.2.2"), begun).is_ok(), "others do not pay for it");
        let unlimited = Rate::new(0, 0, 1);
        assert!((0..1000).all(|_| unlimited.admit_at(peer("192.0.2.1"), begun).is_ok()));
    }

    #[test]
    fn the_table_is_bounded() {
        let rate = Rate::new(1, 1, 3);
        let now = Instant::now();
        for number in 0..100 {
            assert!(rate.admit_at(peer(&format!("198.51.100.{number}")), now).is_ok());
        }
        let clients = rate.clients.lock().unwrap();
        assert_eq!((clients.earned_at.len(), clients.order.len()), (3, 3));
    }

    #[test]
    fn one_customer_is_one_client() {
        assert_eq!(client(peer("2001:db8:1:2::7")), client(peer("2001:db8:1:2:ffff::")));
        assert_ne!(client(peer("2001:db8:1:2::7")), client(peer("2001:db8:1:3::7")));
        assert_eq!(client(peer("::ffff:192.0.2.1")), client(peer("192.0.2.1")));
        assert_ne!(client(peer("::1")), client(peer("0.0.0.0")));
    }
}
