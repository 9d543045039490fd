//! Signs of life: they tell a peer that computes from one that is lost.
//!
//! No error tells that a machine has failed or a link was cut, and a provider may try for ever to reach a
//! process that is gone. So a thread of the library lets each port *beat* at an interval: a rank that the
//! port has sent nothing since the last beat gets an empty packet, and a rank that was silent for
//! [`PATIENCE`] beats is lost. Computing ranks beat, too. A rank that leaves the network says so, and is not
//! expected to be heard any more.

use std::time::Duration;

/// The number of beats without a sign of life after which a peer is lost.
pub(super) const PATIENCE: u32 = 8;

/// The interval between beats, if a peer is lost after `timeout`.
pub(super) fn interval(timeout: Duration) -> Duration {
    // The beat before the first silent one may have come right before the last sign of life.
    timeout / (PATIENCE + 1)
}

/// The signs of life of a peer, and those given to it.
#[derive(Debug, Default)]
pub(super) struct Heartbeat {
    has_heard: bool,
    has_sent: bool,
    /// Beats since the peer was heard.
    silent: u32,
    /// True if the peer has left the network.
    has_left: bool,
}

/// The step that a beat asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beat {
    Nothing,
    /// The peer gets a sign of life.
    Send,
    /// The peer is lost.
    Lost,
}

impl Heartbeat {
    /// Notes that a packet of the peer's has come; `leaves` if it says that the peer leaves the network,
    /// `has_message` if there is a message in it, so that the peer is there again.
    pub(super) fn heard(&mut self, leaves: bool, has_message: bool) {
        self.has_heard = true;
        self.has_left = leaves || (self.has_left && !has_message);
    }

    /// Returns true if the peer has left the network.
    pub(super) fn has_left(&self) -> bool {
        self.has_left
    }

    /// Notes that the peer was sent a packet.
    pub(super) fn sent(&mut self) {
        self.has_sent = true;
    }

    /// Beats. `listens` is false if nothing could be heard since the last beat.
    pub(super) fn beat(&mut self, listens: bool) -> Beat {
        if self.has_left {
            return Beat::Nothing;
        }
        if std::mem::take(&mut self.has_heard) {
            self.silent = 0;
        } else {
            self.silent += u32::from(listens);
        }
        let has_sent = std::mem::take(&mut self.has_sent);
        match self.silent >= PATIENCE {
            true => Beat::Lost,
            false if has_sent => Beat::Nothing,
            false => Beat::Send,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of beats, after something that happens before the first of them.
    fn beats(heartbeat: &mut Heartbeat, count: u32) -> Vec<Beat> {
        (0..count).map(|_| heartbeat.beat(true)).collect()
    }

    #[test]
    fn a_silent_peer_is_lost_and_one_that_is_heard_is_not() {
        let mut heartbeat = Heartbeat::default();
        for _ in 0..3 {
            assert_eq!(beats(&mut heartbeat, PATIENCE - 1), vec![Beat::Send; PATIENCE as usize - 1]);
            heartbeat.heard(false, false);
        }
        assert_eq!(beats(&mut heartbeat, PATIENCE).last(), Some(&Beat::Send));
        assert_eq!(heartbeat.beat(true), Beat::Lost);
    }

    #[test]
    fn a_port_that_cannot_hear_loses_nobody() {
        let mut heartbeat = Heartbeat::default();
        assert!((0..10 * PATIENCE).all(|_| heartbeat.beat(false) == Beat::Send));
        assert_eq!(beats(&mut heartbeat, PATIENCE).last(), Some(&Beat::Lost));
    }

    #[test]
    fn a_peer_that_was_sent_something_needs_no_sign_of_life() {
        let mut heartbeat = Heartbeat::default();
        heartbeat.sent();
        assert_eq!(beats(&mut heartbeat, 2), [Beat::Nothing, Beat::Send]);
    }

    #[test]
    fn a_peer_that_has_left_is_missed_only_after_its_next_message() {
        let mut heartbeat = Heartbeat::default();
        heartbeat.heard(true, false);
        heartbeat.heard(false, false);
        assert!(beats(&mut heartbeat, 2 * PATIENCE).iter().all(|beat| *beat == Beat::Nothing));
        heartbeat.heard(false, true);
        assert_eq!(beats(&mut heartbeat, PATIENCE + 1).last(), Some(&Beat::Lost));
    }
}
