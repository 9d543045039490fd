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
//! | no | 4 to 12 | | 2 to 4 | 2.3 |
//!
//! A sender that computes does not stream at all. So each receiver measures the methods for each sender,
//! takes the best one, and tries the others now and then. Only messages of at least [`CACHE_BYTES`]
//! pass the caches by: a smaller one fits beside the program's other data, and the program is likely to read
//! it soon.

/// The smallest message that is larger than a core's cache.
pub(super) const CACHE_BYTES: usize = 1 << 20;

/// A method to transfer the data of a large message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransferMethod {
    /// The sender sends it in pieces.
    Stream,
    /// The receiver copies it from the sender's memory.
    Pull,
    /// The receiver copies one half from the sender's memory, the sender the other to the receiver's.
    SplitCopy,
    /// It is sent in pieces and stored past the caches.
    StreamPastCaches,
}

const METHODS: [TransferMethod; 4] = [
    TransferMethod::Stream,
    TransferMethod::Pull,
    TransferMethod::SplitCopy,
    TransferMethod::StreamPastCaches,
];

/// The number of messages from one exploration of another method to the next.
const CYCLE: u32 = 256;
/// The number of messages in an exploration. Several in a row are needed, since a message that is streamed
/// while the receiver is busy with pulling others seems slower than it is.
const EXPLORED: u32 = 8;
/// The first messages explore all methods in this number of rounds. Only the last round counts, since pages
/// that are touched for the first time slow down any method.
const ROUNDS: usize = 2;
/// A method with more than this ratio to the cost of the best one is explored seldom …
const NEAR: f32 = 1.4;
/// … once in this number of turns.
const SELDOM: usize = 4;
/// The weight of the newest measurement.
const NEWEST: f32 = 0.4;

/// The measured costs for one sender, and the choice by them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodChoice {
    /// The choice is among the first of [`METHODS`], up to this number.
    methods: usize,
    /// Nanoseconds per byte of each method; 0 if not known. Times are averaged, not rates: of messages that
    /// complete in bunches one takes long and the next ones almost no time.
    costs: [f32; METHODS.len()],
    messages: u32,
    last_stream_end_ns: u64,
}

impl MethodChoice {
    /// The choice for messages below [`CACHE_BYTES`].
    pub(crate) fn within_cache() -> MethodChoice {
        MethodChoice {
            methods: METHODS.len() - 1,
            costs: [0.0; METHODS.len()],
            messages: 0,
            last_stream_end_ns: 0,
        }
    }

    /// The choice for messages of [`CACHE_BYTES`] bytes and more.
    pub(crate) fn beyond_cache() -> MethodChoice {
        MethodChoice { methods: METHODS.len(), ..MethodChoice::within_cache() }
    }

    /// The method for the next message.
    pub(crate) fn choose(&mut self) -> TransferMethod {
        let number = self.messages;
        self.messages = self.messages.wrapping_add(1);
        let trial = (number / EXPLORED) as usize;
        if trial < ROUNDS * self.methods {
            if number == (ROUNDS - 1) as u32 * EXPLORED * self.methods as u32 {
                self.costs = [0.0; METHODS.len()];
            }
            return METHODS[trial % self.methods];
        }
        let best = self.best();
        if number % CYCLE < EXPLORED {
            // The other methods are explored in turn, the slow ones less often.
            let (turn, others) = ((number / CYCLE) as usize, self.methods - 1);
            let other = (best + 1 + turn % others) % self.methods;
            let near = self.costs[other] != 0.0 && self.costs[other] < NEAR * self.costs[best];
            if near || (turn / others).is_multiple_of(SELDOM) {
                return METHODS[other];
            }
        }
        METHODS[best]
    }

    fn best(&self) -> usize {
        let cost = |method: usize| if self.costs[method] == 0.0 { f32::INFINITY } else { self.costs[method] };
        (1..self.methods).fold(0, |best, method| if cost(method) < cost(best) { method } else { best })
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
        times: [u64; METHODS.len()],
        now: &mut u64,
    ) -> [u32; METHODS.len()] {
        let mut counts = [0; METHODS.len()];
        for _ in 0..messages {
            let method = choice.choose();
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

    #[test]
    fn takes_the_quickest_method_and_notices_a_change() {
        for mut choice in [MethodChoice::within_cache(), MethodChoice::beyond_cache()] {
            let mut now = 1;
            let [_, pulled, ..] = send(&mut choice, 10 * CYCLE, [300, 100, 200, 250], &mut now);
            assert!(
                pulled >= 10 * (CYCLE - 2 * EXPLORED),
                "only {pulled} were pulled though that is quickest"
            );
            let [streamed, ..] = send(&mut choice, 10 * CYCLE, [300, 900, 400, 500], &mut now);
            assert!(streamed > 7 * CYCLE, "only {streamed} were streamed though that has become quickest");
        }
    }

    #[test]
    fn messages_without_data_and_methods_that_never_succeed_do_no_harm() {
        let (mut choice, mut now) = (MethodChoice::beyond_cache(), 1);
        choice.sent_jointly(TransferMethod::Stream, 0, 1, 1000);
        let mut failures = 0;
        for _ in 0..40 * CYCLE {
            match choice.choose() {
                TransferMethod::Pull => choice.pulled(1000, 100),
                // The kernel refuses, and the message is sent again in pieces.
                TransferMethod::SplitCopy => failures += 1,
                method => choice.sent_jointly(method, 1000, now, now + 300),
            }
            now += 300;
        }
        assert_eq!(METHODS[choice.best()], TransferMethod::Pull);
        assert!(failures < 10 * EXPLORED, "{failures} attempts at a method that is refused");
    }

    #[test]
    fn what_fits_the_caches_stays_in_them() {
        let [.., past] = send(&mut MethodChoice::within_cache(), 10 * CYCLE, [300, 300, 300, 1], &mut 1);
        assert_eq!(past, 0);
    }
}
