//! Which way a large message takes, by experience.
//!
//! A single copy costs the kernel's work for each page and is made by one core; streaming copies twice, but both cores
//! work at once. Which is quicker depends on where the two processes run: between cores that share a cache streaming
//! was measured at 19 to 22 GB/s and a single copy at 6 to 12, between cores that do not, 2 and 4 to 12. And a sender
//! that computes does not stream at all. So each receiver measures both ways for each sender, takes the better one,
//! and tries the other now and then.

/// How a large message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The receiver copies it from the sender's memory.
    Pull = 0,
    /// The sender sends it in pieces.
    Stream = 1,
}

/// Of so many messages …
const CYCLE: u32 = 512;
/// … the first few go the other way, to see whether that has become quicker. Several in a row, since a message that is
/// streamed while the receiver is busy with pulling others looks slower than it is.
const EXPLORED: u32 = 8;
/// The weight of the newest measurement.
const NEWEST: f32 = 0.4;

/// What was measured of the messages of one sender.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// Bytes in a nanosecond, for each way; 0 if not known.
    rates: [f32; 2],
    messages: u32,
    last_stream_end_ns: u64,
}

impl Pace {
    /// The way for the next message.
    pub(super) fn choose(&mut self) -> Way {
        let [pull, stream] = self.rates;
        let (better, other) = if stream > pull { (Way::Stream, Way::Pull) } else { (Way::Pull, Way::Stream) };
        let number = self.messages;
        self.messages = self.messages.wrapping_add(1);
        match number {
            ..EXPLORED => Way::Stream,
            _ if number < 2 * EXPLORED => Way::Pull,
            _ if number % CYCLE < EXPLORED => other,
            _ => better,
        }
    }

    /// A message was pulled.
    pub(super) fn pulled(&mut self, bytes: usize, ns: u64) {
        self.learn(Way::Pull, bytes, ns);
    }

    /// A message was streamed, asked for at one time and complete at another. Messages are streamed one after the
    /// other, so its time began when the one before was complete.
    pub(super) fn streamed(&mut self, bytes: usize, asked_ns: u64, complete_ns: u64) {
        let began = asked_ns.max(self.last_stream_end_ns);
        self.last_stream_end_ns = complete_ns;
        self.learn(Way::Stream, bytes, complete_ns.saturating_sub(began));
    }

    fn learn(&mut self, way: Way, bytes: usize, ns: u64) {
        let measured = bytes as f32 / ns.max(1) as f32;
        let rate = &mut self.rates[way as usize];
        *rate = if *rate == 0.0 { measured } else { *rate + NEWEST * (measured - *rate) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends messages of 1,000 bytes that take these times; returns how many were streamed.
    fn streamed(pace: &mut Pace, messages: u32, pull_ns: u64, stream_ns: u64, now: &mut u64) -> u32 {
        let mut count = 0;
        for _ in 0..messages {
            match pace.choose() {
                Way::Pull => {
                    pace.pulled(1000, pull_ns);
                    *now += pull_ns;
                }
                Way::Stream => {
                    pace.streamed(1000, *now, *now + stream_ns);
                    *now += stream_ns;
                    count += 1;
                }
            }
        }
        count
    }

    #[test]
    fn takes_the_quicker_way_and_notices_a_change() {
        let (mut pace, mut now) = (Pace::default(), 1);
        let count = streamed(&mut pace, 10 * CYCLE, 100, 300, &mut now);
        assert_eq!(count, 10 * EXPLORED, "more were streamed than is needed to know that pulling is quicker");
        let count = streamed(&mut pace, 10 * CYCLE, 900, 300, &mut now);
        assert!(count > 9 * CYCLE, "only {count} were streamed though that has become quicker");
    }
}
