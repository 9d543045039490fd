//! The choice of the transfer method of a large message, by measurement.
//!
//! A single copy costs the kernel's work for each page and is made by one core, or by one core on each
//! side (split copy). Streaming copies twice, but both cores work at once. The receiver may store streamed
//! data to memory directly, past its caches, which saves reading the lines that it overwrites. Which
//! method is quickest depends on where the two processes run and on how much other data the caches have to
//! hold. Measured, in GB/s:
//!
//! | the cores share a cache | single copy | split copy | streamed | streamed past the caches |
//! |---|---|---|---|---|
//! | yes, 64 KiB | 8 to 10 | 9 to 13 | 22 | |
//! | yes, 256 KiB | 10 to 12 | 16 to 21 | 23 to 25 | |
//! | yes, 1 MiB | 6 to 20 | 12 to 22 | 18 to 24 | 22 to 25 |
//! | yes, 4 MiB | 4 to 9 | 7 to 11 | 7 to 17 | 12 to 19 |
//! | no; the sender stores through its caches | 4 to 12 | | 2 to 4 | 2.3 |
//!
//! A sender that computes does not stream at all. So each receiver measures the methods for each sender,
//! takes the best one, and tries the others now and then. Only messages of at least [`CACHE_BYTES`]
//! pass the caches by: a smaller one fits beside the program's other data, and the program is likely to read
//! it soon. From [`SHARED_CACHE_BYTES`] on none is streamed through the caches.
//!
//! If two processes send each other large messages, the one with the lower rank chooses for both, and the
//! other one follows what it is told with the answers to its own messages: while a process copies from the
//! other's memory it sends no pieces, so that each would find the method to be quicker that the other uses.
//! Messages of 512 KiB and more both ways at once: 6.6 to 8.5 → 8.7 to 13 GB/s, of 4 MiB and more 12.

use crate::buffer::SHARED_CACHE_BYTES;
use crate::transfer_method::{self, TransferMethod};

/// The number of methods.
const METHODS: usize = transfer_method::METHODS.len();

/// The smallest message that is larger than a core's cache.
const CACHE_BYTES: usize = 1 << 20;

/// The methods among which the choice is for messages below a number of bytes.
const CANDIDATES: [(usize, &[TransferMethod]); 3] = {
    use TransferMethod::{Pull, SplitCopy, Stream, StreamPastCaches};
    // Messages larger than the caches are not streamed through them. The next messages pay for writing back
    // the lines that they leave there, so streaming seems quicker than it is.
    [
        (CACHE_BYTES, &[Stream, Pull, SplitCopy]),
        (SHARED_CACHE_BYTES, &[Stream, Pull, SplitCopy, StreamPastCaches]),
        (usize::MAX, &[Pull, SplitCopy, StreamPastCaches]),
    ]
};

/// The number of turns from one exploration of another method to the next.
const CYCLE: u32 = 256;
/// The number of turns in an exploration. Several messages in a row are needed, since one that is streamed
/// while the receiver is busy with pulling others seems slower than it is.
const EXPLORED: u32 = 8;
/// A message counts as one turn for each [`CACHE_BYTES`] of it, but no more than this: a long one says as
/// much as several, and costs as much.
const MOST_TURNS: usize = 2;
/// The first messages explore all methods in this number of rounds. Only the last round counts, since pages
/// that are touched for the first time slow down any method.
const ROUNDS: usize = 2;
/// A method with more than this ratio to the cost of the best one is explored seldom …
const NEAR: f32 = 1.4;
/// … once in this number of cycles.
const SELDOM: usize = 4;
/// The number of messages for which a process follows its peer after the peer's last choice.
const FOLLOWED: u32 = 16;
/// The weight of the newest measurement.
const NEWEST: f32 = 0.4;

/// The choices for the messages of one sender, by their size.
#[derive(Debug)]
pub(crate) struct MethodChoices([MethodChoice; CANDIDATES.len()]);

impl Default for MethodChoices {
    fn default() -> MethodChoices {
        MethodChoices(CANDIDATES.map(|(_, candidates)| MethodChoice::among(candidates)))
    }
}

impl MethodChoices {
    /// The choice for messages of that many bytes and similar ones.
    pub(crate) fn for_bytes(&mut self, bytes: usize) -> &mut MethodChoice {
        let class = CANDIDATES.iter().position(|(below, _)| bytes < *below);
        &mut self.0[class.unwrap_or(CANDIDATES.len() - 1)]
    }
}

/// The measured costs of methods, and the choice by them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodChoice {
    /// The methods to choose from.
    candidates: &'static [TransferMethod],
    /// Nanoseconds per byte of each method; 0 if not known. Times are averaged, not rates: of messages that
    /// complete in bunches one takes long and the next ones almost no time.
    costs: [f32; METHODS],
    turns: u32,
    last_stream_end_ns: u64,
    /// The method that the peer chose lately for messages of this process, and the number of the peer's next
    /// messages that go the same way.
    peers: Option<(TransferMethod, u32)>,
}

impl MethodChoice {
    fn among(candidates: &'static [TransferMethod]) -> MethodChoice {
        MethodChoice { candidates, costs: [0.0; METHODS], turns: 0, last_stream_end_ns: 0, peers: None }
    }

    /// The method for the next message.
    pub(crate) fn choose(&mut self, bytes: usize) -> TransferMethod {
        if let Some((method, messages)) = self.peers.take() {
            self.peers = (messages > 1).then_some((method, messages - 1));
            return method;
        }
        let number = self.turns;
        self.turns = number.wrapping_add((bytes / CACHE_BYTES).clamp(1, MOST_TURNS) as u32);
        let trial = (number / EXPLORED) as usize;
        let candidates = self.candidates;
        if trial < ROUNDS * candidates.len() {
            let last_round = EXPLORED * ((ROUNDS - 1) * candidates.len()) as u32;
            if number < last_round && last_round <= self.turns {
                self.costs = [0.0; METHODS];
            }
            return candidates[trial % candidates.len()];
        }
        let best = self.best();
        if number % CYCLE < EXPLORED {
            // The other methods are explored in turn, the slow ones less often.
            let (turn, others) = ((number / CYCLE) as usize, candidates.len() - 1);
            let other = candidates[(best + 1 + turn % others) % candidates.len()];
            let near = self.cost(other) < NEAR * self.cost(candidates[best]);
            if near || (turn / others).is_multiple_of(SELDOM) {
                return other;
            }
        }
        candidates[best]
    }

    /// The place of the best candidate.
    fn best(&self) -> usize {
        let cost = |place: usize| self.cost(self.candidates[place]);
        (1..self.candidates.len()).fold(0, |best, place| if cost(place) < cost(best) { place } else { best })
    }

    /// The measured cost of a method; infinite if it is not known.
    fn cost(&self, method: TransferMethod) -> f32 {
        match self.costs[method as usize] {
            0.0 => f32::INFINITY,
            cost => cost,
        }
    }

    /// Notes the peer's choice for a message of this process, so that the next messages of the peer go the
    /// same way.
    pub(crate) fn follow(&mut self, method: TransferMethod) {
        if self.candidates.contains(&method) {
            self.peers = Some((method, FOLLOWED));
        }
    }

    /// Notes that a message was pulled.
    pub(crate) fn pulled(&mut self, bytes: usize, ns: u64) {
        self.learn(TransferMethod::Pull, bytes, ns);
    }

    /// Notes that a message was streamed or went by split copy. Messages are streamed one after the other, so
    /// the time of this one began when the one before was complete.
    pub(crate) fn sent_jointly(
        &mut self,
        method: TransferMethod,
        bytes: usize,
        asked_ns: u64,
        complete_ns: u64,
    ) {
        let began = asked_ns.max(self.last_stream_end_ns);
        self.last_stream_end_ns = complete_ns;
        self.learn(method, bytes, complete_ns.saturating_sub(began));
    }

    fn learn(&mut self, method: TransferMethod, bytes: usize, ns: u64) {
        if bytes == 0 {
            // A receive that has room for nothing says nothing about the method.
            return;
        }
        let measured = ns.max(1) as f32 / bytes as f32;
        let cost = &mut self.costs[method as usize];
        *cost = if *cost == 0.0 { measured } else { *cost + NEWEST * (measured - *cost) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends messages of 1,000 bytes whose time depends on the method, as given; returns the number of
    /// messages by each method.
    fn send(
        choice: &mut MethodChoice,
        messages: u32,
        times: [u64; METHODS],
        now: &mut u64,
    ) -> [u32; METHODS] {
        let mut counts = [0; METHODS];
        for _ in 0..messages {
            let method = choice.choose(1000);
            let ns = times[method as usize];
            match method {
                TransferMethod::Pull => choice.pulled(1000, ns),
                _ => choice.sent_jointly(method, 1000, *now, *now + ns),
            }
            *now += ns;
            counts[method as usize] += 1;
        }
        counts
    }

    const FITS_A_CACHE: usize = CACHE_BYTES - 1;
    const FITS_NONE: usize = SHARED_CACHE_BYTES;

    #[test]
    fn takes_the_quickest_method_and_notices_a_change() {
        for bytes in [FITS_A_CACHE, CACHE_BYTES, FITS_NONE] {
            let mut choices = MethodChoices::default();
            let choice = choices.for_bytes(bytes);
            let mut now = 1;
            let [_, pulled, ..] = send(choice, 10 * CYCLE, [300, 100, 200, 250], &mut now);
            assert!(
                pulled >= 10 * (CYCLE - 2 * EXPLORED),
                "only {pulled} were pulled though that is quickest"
            );
            let [.., split, _] = send(choice, 10 * CYCLE, [400, 900, 300, 500], &mut now);
            assert!(split > 7 * CYCLE, "only {split} by split copy though that has become quickest");
        }
    }

    #[test]
    fn messages_without_data_and_methods_that_never_succeed_do_no_harm() {
        let (mut choices, mut now) = (MethodChoices::default(), 1);
        let choice = choices.for_bytes(CACHE_BYTES);
        choice.sent_jointly(TransferMethod::Stream, 0, 1, 1000);
        let mut failures = 0;
        for _ in 0..40 * CYCLE {
            match choice.choose(1000) {
                TransferMethod::Pull => choice.pulled(1000, 100),
                // The kernel refuses, and the message is sent again in pieces.
                TransferMethod::SplitCopy => failures += 1,
                method => choice.sent_jointly(method, 1000, now, now + 300),
            }
            now += 300;
        }
        assert_eq!(choice.candidates[choice.best()], TransferMethod::Pull);
        assert!(failures < 10 * EXPLORED, "{failures} attempts at a method that is refused");
    }

    #[test]
    fn what_fits_the_caches_stays_in_them_and_what_fits_none_is_not_left_there() {
        let mut choices = MethodChoices::default();
        let [.., past] = send(choices.for_bytes(FITS_A_CACHE), 10 * CYCLE, [300, 300, 300, 1], &mut 1);
        assert_eq!(past, 0);
        let [streamed, ..] = send(choices.for_bytes(FITS_NONE), 10 * CYCLE, [1, 300, 300, 300], &mut 1);
        assert_eq!(streamed, 0);
    }

    #[test]
    fn a_long_message_ends_an_exploration_sooner() {
        let first = |bytes: usize| {
            let mut choices = MethodChoices::default();
            let choice = choices.for_bytes(bytes);
            (0..100).position(|_| choice.choose(bytes) == TransferMethod::SplitCopy)
        };
        assert_eq!(first(CACHE_BYTES), Some(2 * EXPLORED as usize));
        assert_eq!(first(64 * CACHE_BYTES), Some(EXPLORED as usize / MOST_TURNS));
    }

    #[test]
    fn what_the_peer_chose_holds_for_a_while_and_is_no_trial() {
        let mut choices = MethodChoices::default();
        let choice = choices.for_bytes(FITS_NONE);
        for chosen in [TransferMethod::SplitCopy, TransferMethod::StreamPastCaches] {
            choice.follow(chosen);
            // No candidate for these messages.
            choice.follow(TransferMethod::Stream);
            assert!((0..FOLLOWED).all(|_| choice.choose(1000) == chosen));
            choice.follow(chosen);
        }
        assert_eq!(choice.turns, 0);
        (0..FOLLOWED).for_each(|_| assert_eq!(choice.choose(1000), TransferMethod::StreamPastCaches));
        assert_eq!(choice.choose(1000), TransferMethod::Pull);
    }
}
