//! Which way a large message takes, by experience.
//!
//! A single copy costs the kernel's work for each page and is made by one core, or either side makes a half of it;
//! streaming copies twice, but both cores work at once. And the receiver may store what is streamed to memory directly,
//! past its caches, which saves reading the lines it overwrites. Which is quickest depends on where the two processes run
//! and on how much else the caches have to hold. Measured, in GB/s:
//!
//! | the cores share a cache | single copy | by halves | streamed | streamed past the caches |
//! |---|---|---|---|---|
//! | yes, 64 KiB | 8 to 10 | 9 to 13 | 22 | |
//! | yes, 256 KiB | 10 to 12 | 16 to 21 | 23 to 25 | |
//! | yes, 1 MiB | 6 to 20 | 12 to 22 | 18 to 24 | 22 to 25 |
//! | yes, 4 MiB | 4 to 9 | 7 to 11 | 7 to 17 | 12 to 19 |
//! | no | 4 to 12 | | 2 to 4 | 2.3 |
//!
//! A sender that computes does not stream at all. So each receiver measures the ways for each sender, takes the best
//! one, and tries the others now and then. Only messages of [`LARGE`] bytes pass the caches by: a smaller one fits
//! beside the program's other data, which is likely to read it soon.

/// From this size on a message is more than a core's own cache holds.
pub(super) const LARGE: usize = 1 << 20;

/// How a large message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The sender sends it in pieces.
    Stream,
    /// The receiver copies it from the sender's memory.
    Pull,
    /// The receiver copies one half from the sender's memory, the sender the other to the receiver's.
    Halves,
    /// It is sent in pieces and stored past the caches.
    StreamPastCaches,
}

const WAYS: [Way; 4] = [Way::Stream, Way::Pull, Way::Halves, Way::StreamPastCaches];

/// Of so many messages …
const CYCLE: u32 = 256;
/// … the first few go another way, to see whether that has become quicker. Several in a row, since a message that is
/// streamed while the receiver is busy with pulling others looks slower than it is.
const EXPLORED: u32 = 8;
/// The first messages go all ways so many times; what is learnt before the last time is forgotten, since pages that are
/// touched for the first time make any way look slow.
const ROUNDS: usize = 2;
/// A way that takes more than so many times as long as the best one …
const NEAR: f32 = 1.4;
/// … is tried only every so many times that its turn comes.
const SELDOM: usize = 4;
/// The weight of the newest measurement.
const NEWEST: f32 = 0.4;

/// What was measured of the messages of one sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// How many of [`WAYS`] there are to choose from.
    ways: usize,
    /// Nanoseconds a byte, for each way; 0 if not known. Times are averaged, not rates: messages that are completed in
    /// bunches take much time and next to none in turn.
    costs: [f32; WAYS.len()],
    messages: u32,
    last_stream_end_ns: u64,
}

impl Pace {
    /// For messages below [`LARGE`].
    pub(crate) fn medium() -> Pace {
        Pace { ways: WAYS.len() - 1, costs: [0.0; WAYS.len()], messages: 0, last_stream_end_ns: 0 }
    }

    /// For messages of [`LARGE`] bytes and more.
    pub(crate) fn large() -> Pace {
        Pace { ways: WAYS.len(), ..Pace::medium() }
    }

    /// The way for the next message.
    pub(crate) fn choose(&mut self) -> Way {
        let number = self.messages;
        self.messages = self.messages.wrapping_add(1);
        let trial = (number / EXPLORED) as usize;
        if trial < ROUNDS * self.ways {
            if number == (ROUNDS - 1) as u32 * EXPLORED * self.ways as u32 {
                self.costs = [0.0; WAYS.len()];
            }
            return WAYS[trial % self.ways];
        }
        let best = self.best();
        if number % CYCLE < EXPLORED {
            // In turn each of the others; those that were far behind more seldom.
            let (turn, others) = ((number / CYCLE) as usize, self.ways - 1);
            let other = (best + 1 + turn % others) % self.ways;
            let near = self.costs[other] != 0.0 && self.costs[other] < NEAR * self.costs[best];
            if near || (turn / others).is_multiple_of(SELDOM) {
                return WAYS[other];
            }
        }
        WAYS[best]
    }

    fn best(&self) -> usize {
        let cost = |way: usize| if self.costs[way] == 0.0 { f32::INFINITY } else { self.costs[way] };
        (1..self.ways).fold(0, |best, way| if cost(way) < cost(best) { way } else { best })
    }

    /// A message was pulled.
    pub(crate) fn pulled(&mut self, bytes: usize, ns: u64) {
        self.learn(Way::Pull, bytes, ns);
    }

    /// A message was streamed or copied by halves, asked for at one time and complete at another. Messages are streamed one after the
    /// other, so its time began when the one before was complete.
    pub(crate) fn sent_jointly(&mut self, way: Way, bytes: usize, asked_ns: u64, complete_ns: u64) {
        let began = asked_ns.max(self.last_stream_end_ns);
        self.last_stream_end_ns = complete_ns;
        self.learn(way, bytes, complete_ns.saturating_sub(began));
    }

    fn learn(&mut self, way: Way, bytes: usize, ns: u64) {
        if bytes == 0 {
            // A receive that has room for nothing says nothing about the way.
            return;
        }
        let measured = ns.max(1) as f32 / bytes as f32;
        let cost = &mut self.costs[way as usize];
        *cost = if *cost == 0.0 { measured } else { *cost + NEWEST * (measured - *cost) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends messages of 1,000 bytes that take these times, by way; returns how many went each way.
    fn send(pace: &mut Pace, messages: u32, times: [u64; WAYS.len()], now: &mut u64) -> [u32; WAYS.len()] {
        let mut counts = [0; WAYS.len()];
        for _ in 0..messages {
            let way = pace.choose();
            let ns = times[way as usize];
            match way {
                Way::Pull => pace.pulled(1000, ns),
                _ => pace.sent_jointly(way, 1000, *now, *now + ns),
            }
            *now += ns;
            counts[way as usize] += 1;
        }
        counts
    }

    #[test]
    fn takes_the_quickest_way_and_notices_a_change() {
        for mut pace in [Pace::medium(), Pace::large()] {
            let mut now = 1;
            let [_, pulled, ..] = send(&mut pace, 10 * CYCLE, [300, 100, 200, 250], &mut now);
            assert!(
                pulled >= 10 * (CYCLE - 2 * EXPLORED),
                "only {pulled} were pulled though that is quickest"
            );
            let [streamed, ..] = send(&mut pace, 10 * CYCLE, [300, 900, 400, 500], &mut now);
            assert!(streamed > 7 * CYCLE, "only {streamed} were streamed though that has become quickest");
        }
    }

    #[test]
    fn messages_without_data_and_ways_that_never_succeed_do_no_harm() {
        let (mut pace, mut now) = (Pace::large(), 1);
        pace.sent_jointly(Way::Stream, 0, 1, 1000);
        let mut failures = 0;
        for _ in 0..40 * CYCLE {
            match pace.choose() {
                Way::Pull => pace.pulled(1000, 100),
                // The kernel refuses, and the message is sent again in pieces.
                Way::Halves => failures += 1,
                way => pace.sent_jointly(way, 1000, now, now + 300),
            }
            now += 300;
        }
        assert_eq!(WAYS[pace.best()], Way::Pull);
        assert!(failures < 10 * EXPLORED, "{failures} attempts at a way that is refused");
    }

    #[test]
    fn what_fits_the_caches_stays_in_them() {
        let [.., past] = send(&mut Pace::medium(), 10 * CYCLE, [300, 300, 300, 1], &mut 1);
        assert_eq!(past, 0);
    }
}
