//! Processes that do not belong to the job, and reach its ports: a line says who was turned away, and all are
//! counted (`HEDDLE_STATS`).

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

/// The most addresses that a process prints.
const MOST: usize = 8;

/// The addresses that were printed.
static PRINTED: Mutex<Vec<IpAddr>> = Mutex::new(Vec::new());

/// Says who was turned away, once for each address.
pub(super) fn report(stranger: SocketAddr) {
    if is_new(&mut PRINTED.lock().unwrap_or_else(PoisonError::into_inner), stranger.ip()) {
        say(&format!(
            "a connection from {stranger} was turned away: its process does not know this job's key. The job \
             goes on; HEDDLE_STATS=on counts such connections"
        ));
    }
}

/// Says that something came which no rank has sent, where the provider lets everybody in.
#[cold]
pub(super) fn report_broken(why: &str, count: u64) {
    if count == 1 {
        say(&format!(
            "a message without a sender's name has failed ({why}), as those of a stranger do. The job goes on; \
             HEDDLE_STATS=on counts them"
        ));
    }
}

fn say(what: &str) {
    eprintln!("heddle: on {}, the network between machines: {what}", heddle_bootstrap::host());
}

fn is_new(printed: &mut Vec<IpAddr>, address: IpAddr) -> bool {
    let is_new = printed.len() < MOST && !printed.contains(&address);
    if is_new {
        printed.push(address);
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_printed_once_and_not_too_many_are() {
        let mut printed = Vec::new();
        let address = |last| IpAddr::from([10, 0, 0, last]);
        assert!(is_new(&mut printed, address(1)));
        assert!(!is_new(&mut printed, address(1)));
        let others = (2..100).filter(|last| is_new(&mut printed, address(*last)));
        assert_eq!(others.count(), MOST - 1);
    }
}
