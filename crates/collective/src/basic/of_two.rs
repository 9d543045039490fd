//! Two ranks give each other data on the blackboard: in one round, in parts, or, if the data are long, in a
//! message, which both copy. The giver chooses the way by the length of its data, and its first round tells
//! the taker both. So ranks whose counts disagree get errors, and none waits for data that never come.
//! Recorded steps cannot follow what a rank learns: there each rank goes by its own counts.

use super::parts::{AHEAD, InParts};
use crate::blackboard::Source;
use crate::conversation::{Conversation, OnBlackboard};
use heddle_blackboard::{Data, Limits, Published};
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;
use heddle_settings::Algorithm;

/// The data that a rank of two gives and takes.
#[derive(Debug)]
pub(crate) struct OfTwo {
    /// Data for the other rank.
    pub(crate) leaves: Option<Buffer>,
    /// Where it wants what the other gives. If that is empty, it does not wait for the other.
    pub(crate) arrives: Option<Buffer>,
    /// Data for the rank itself, and where they go. A rank that gives and takes, and has none, works in
    /// place: the data that arrive replace those that leave.
    pub(crate) own: Option<(Buffer, Buffer)>,
}

/// In which way data of a length go. Both ranks have the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ways {
    limits: Limits,
    /// Longer data that do not fit into one round go in a message.
    in_parts: usize,
    /// Only one rank gives, and the other waits for the data.
    one_way: bool,
}

/// How data travel.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// In one round.
    Once,
    /// In so many rounds.
    InParts(InParts, u32),
    /// In a message, which the giver announces in a round.
    InMessage,
}

impl Ways {
    /// If the algorithm is the blackboard, no data go in a message.
    pub(crate) fn new(limits: Limits, algorithm: Algorithm, in_parts: usize, one_way: bool) -> Ways {
        let in_parts = if algorithm == Algorithm::Blackboard { usize::MAX } else { in_parts };
        Ways { limits, in_parts, one_way }
    }

    #[inline(always)]
    fn of(&self, len: usize) -> Way {
        let limits = if self.one_way { self.limits.pipelined(len) } else { self.limits };
        if len <= limits.bytes {
            return Way::Once;
        }
        let is_short = len <= self.limits.bytes.max(self.in_parts);
        let parts = InParts::new(len, limits).filter(|_| is_short);
        parts.map_or(Way::InMessage, |parts| Way::InParts(parts, parts.number()))
    }
}

impl Way {
    fn rounds(self) -> u32 {
        match self {
            Way::InParts(_, number) => number,
            Way::Once | Way::InMessage => 1,
        }
    }
}

impl OfTwo {
    /// Gives and takes. Returns false if the steps are recorded and data are so long that they should go in a
    /// message; then nothing has happened.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    #[inline(always)]
    pub(crate) fn carry_out(self, talk: &mut Conversation<'_>, ways: Ways) -> Result<bool> {
        debug_assert_eq!(talk.size(), 2);
        let is_short =
            |data: Option<Buffer>| data.is_none_or(|data| matches!(ways.of(data.len()), Way::Once));
        if !is_short(self.leaves) || !is_short(self.arrives) {
            return self.carry_out_long(talk, ways);
        }
        let (other, is_recorded) = (1 - talk.rank(), talk.is_recorded());
        let talk = &mut talk.take_rounds(1);
        if let Some(data) = self.leaves {
            talk.publish(0, data, Some(other));
        }
        if let Some((from, to)) = self.own {
            // While the other publishes.
            talk.copy(&from, &to);
        }
        if let Some(room) = self.arrives.filter(|room| !room.is_empty()) {
            let source = Source { round: 0, rank: other, whole: room.len(), offset: 0 };
            if is_recorded {
                talk.fetch(source, room);
            } else if let Some(published) = talk.learn(source)
                && (published.len != room.len() || !talk.take(source, &published, room))
            {
                let theirs = told(talk, &published, (other, room), ways);
                go_on(talk, (None, theirs), other, 1);
                return Ok(true);
            }
        }
        talk.finish_round(0);
        Ok(true)
    }

    /// Does the same if it gives, or expects, more than goes in one round.
    #[inline(never)]
    fn carry_out_long(mut self, talk: &mut Conversation<'_>, ways: Ways) -> Result<bool> {
        let other = 1 - talk.rank();
        let mut mine = self.leaves.map(|data| (data, ways.of(data.len())));
        let expected = self.arrives.filter(|room| !room.is_empty());
        let mut theirs = None;
        if talk.is_recorded() {
            theirs = expected.map(|room| (room, ways.of(room.len())));
            if in_message(mine).or(in_message(theirs)).is_some() {
                return Ok(false);
            }
        } else if let (Some(data), true) = (in_message(mine), self.is_in_place()) {
            mine = Some((talk.copied_buffer(&data)?, Way::InMessage));
        }
        let rounds = rounds_of(mine).max(rounds_of(theirs));
        let talk = &mut talk.take_rounds(rounds);
        (0..AHEAD).for_each(|round| publish(talk, round, mine, other));
        if let Some(room) = expected {
            self.copy_own(talk);
            if theirs.is_none() {
                let source = Source { round: 0, rank: other, whole: room.len(), offset: 0 };
                let published = talk.learn(source);
                theirs = published.and_then(|published| told(talk, &published, (other, room), ways));
            }
        }
        go_on(talk, (mine, theirs), other, rounds);
        self.copy_own(talk);
        Ok(true)
    }

    fn is_in_place(&self) -> bool {
        self.arrives.is_some() && self.own.is_none()
    }

    /// Gives this rank what it gives itself, once.
    fn copy_own(&mut self, talk: &mut Conversation<'_>) {
        if let Some((from, to)) = self.own.take() {
            talk.copy(&from, &to);
        }
    }
}

/// Data, or room for some, and how they travel.
type Travelling = Option<(Buffer, Way)>;

fn rounds_of(data: Travelling) -> u32 {
    data.map_or(1, |(_, way)| way.rounds())
}

fn in_message(data: Travelling) -> Option<Buffer> {
    data.filter(|(_, way)| matches!(way, Way::InMessage)).map(|(data, _)| data)
}

/// The rest of it, of which the first rounds are published: the other rounds, and the messages.
#[inline(never)]
fn go_on(
    talk: &mut OnBlackboard<'_, '_>,
    (mine, theirs): (Travelling, Travelling),
    other: usize,
    taken: u32,
) {
    let all = taken.max(rounds_of(theirs));
    if all > taken {
        talk.take_more_rounds(all - taken);
    }
    for round in 0..all {
        fetch(talk, round, theirs, other);
        talk.finish_round(round);
        publish(talk, round + AHEAD, mine, other);
    }
    match (in_message(mine), in_message(theirs)) {
        (Some(data), Some(room)) => talk.exchange((other, data), (other, room)),
        (Some(data), None) => talk.send(other, data),
        (None, Some(room)) => talk.receive(other, room),
        (None, None) => {}
    }
}

/// Publishes what a rank gives in a round, if there is something left.
fn publish(talk: &mut OnBlackboard<'_, '_>, round: u32, mine: Travelling, other: usize) {
    match mine {
        Some((data, Way::InParts(parts, number))) if round < number => {
            talk.publish_part(round, (data, parts.span(round)), Some(other));
        }
        Some((data, Way::Once)) if round == 0 => talk.publish(round, data, Some(other)),
        Some((data, Way::InMessage)) if round == 0 => talk.announce(round, data.len(), other),
        _ => {}
    }
}

/// Copies what the other rank gives in a round, if there is something left.
fn fetch(talk: &mut OnBlackboard<'_, '_>, round: u32, theirs: Travelling, other: usize) {
    let Some((room, way)) = theirs.filter(|(room, _)| !room.is_empty()) else { return };
    let source = Source { round, rank: other, whole: room.len(), offset: 0 };
    match way {
        Way::InParts(parts, number) if round < number => talk.fetch_part(source, (room, parts.span(round))),
        Way::Once if round == 0 => talk.fetch(source, room),
        _ => {}
    }
}

/// The other rank's data, as its first round tells: where they go, and how they travel. Data longer than the
/// room go nowhere, but their rounds count.
#[inline(never)]
fn told(
    talk: &mut OnBlackboard<'_, '_>,
    published: &Published,
    (from, room): (usize, Buffer),
    ways: Ways,
) -> Travelling {
    if published.data == Data::InMessage {
        return Some((room, Way::InMessage));
    }
    let (len, expected) = (published.len, room.len());
    if len != expected {
        talk.disagree(from, len, expected);
    }
    Some((if len > expected { Buffer::empty() } else { room.first(len) }, ways.of(len)))
}
