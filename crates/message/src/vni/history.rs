//! Questions which collective operations a peer has begun, and the answers ([`history`]).

use super::core::Core;
use super::interface::{Vni, VniState, apart};
use super::ring_access::Rules;
use super::wire;
use crate::history::{self, Answer, Identity, Question};
use heddle_model::{Path, Whole};
use heddle_transport::Incoming;

fn halves(upper: u32, lower: u32) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

impl Vni {
    /// Asks a peer which operations it has begun.
    pub fn ask_history(&self, peer: usize, Question { identity, number, asker }: Question) {
        let words = [identity.context, identity.members, halves(number, asker)];
        run!(self, Main, core => core.send_control(peer, wire::HISTORY, wire::to_bytes(words)));
    }

    /// Tells a peer that the ranks of a communicator disagree.
    pub fn tell_of_disagreement(&self, peer: usize, identity: Identity) {
        run!(self, Main, core => core.send_disagreement(peer, identity));
    }
}

impl<S: Rules> Core<S> {
    fn send_disagreement(&self, peer: usize, Identity { context, members }: Identity) {
        self.send_control(peer, wire::DISAGREED, wire::to_bytes([context, members, 0]));
    }

    /// Handles a question or an answer.
    #[cold]
    pub(crate) fn history_arrives(&self, peer: usize, message: &Incoming) {
        let [context, second, third] = wire::from_bytes(message.payload());
        let identity = Identity { context, members: second };
        let (upper, asker) = ((third >> 32) as u32, third as u32);
        match message.header.kind {
            wire::HISTORY => match history::answer(&Question { identity, number: upper, asker }) {
                Some(Ok(Answer { context, entry, over, asker })) => {
                    let words = [context, entry, halves(over, asker)];
                    self.send_control(peer, wire::BEGUN, wire::to_bytes(words));
                }
                Some(Err(identity)) => self.send_disagreement(peer, identity),
                None => {}
            },
            wire::BEGUN => history::learn(peer, &Answer { context, entry: second, over: upper, asker }),
            _ => history::learn_of_disagreement(identity),
        }
    }
}
