//! How often a thread that polls the rings looks at the network, too.
//!
//! A look at the network costs a system call, fifty times a look at the rings. So the network is looked at
//! rarely while messages come through the rings, and each time while they come through the network:
//!
//! | seen | looks at the rings until the next look at the network |
//! |---|---|
//! | a message from the network | 1 |
//! | a message from a ring | twice as many, up to [`RARELY`] |
//! | no message when the network was looked at | half as many |

/// The most looks at the rings between two looks at the network. At 200 ns a message and 20 ns a look, the
/// network takes about a hundredth of the time.
const RARELY: u32 = 4096;

/// The pace of one reader.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: u32,
    left: u32,
}

impl Pace {
    /// The pace at which the network is looked at each time.
    pub(crate) fn new() -> Pace {
        Pace { interval: 1, left: 1 }
    }

    /// Returns true if the network is to be looked at now, after a look at the rings that found `taken`
    /// messages.
    #[inline]
    pub(crate) fn is_due(&mut self, taken: usize) -> bool {
        if taken != 0 {
            self.met_ring();
        }
        self.left -= 1;
        self.left == 0
    }

    /// Notes that a ring had a message.
    #[inline]
    pub(crate) fn met_ring(&mut self) {
        self.interval = (self.interval * 2).min(RARELY);
        self.left = self.left.max(self.interval / 2);
    }

    /// Notes what a look at the network has found.
    pub(crate) fn looked(&mut self, found: bool) {
        self.interval = if found { 1 } else { (self.interval / 2).max(1) };
        self.left = self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of looks at the rings, with that many messages each, until the network is due.
    fn looks(pace: &mut Pace, taken: usize) -> u32 {
        (1..).find(|_| pace.is_due(taken)).expect("it is due at some time")
    }

    #[test]
    fn messages_of_the_rings_make_looks_at_the_network_rare() {
        let mut pace = Pace::new();
        assert_eq!(looks(&mut pace, 0), 1);
        for _ in 0..100 {
            looks(&mut pace, 1);
            pace.looked(false);
        }
        assert!(looks(&mut pace, 1) >= RARELY / 2);
        let mut all = 0;
        for _ in 0..20 {
            pace.looked(false);
            all += looks(&mut pace, 0);
        }
        assert!(all < 3 * RARELY, "{all}");
        assert_eq!(looks(&mut pace, 0), 1);
    }

    #[test]
    fn a_message_of_the_network_makes_looks_frequent_at_once() {
        let mut pace = Pace::new();
        (0..100).for_each(|_| {
            _ = pace.is_due(1) && {
                pace.looked(false);
                true
            }
        });
        pace.looked(true);
        assert_eq!(looks(&mut pace, 0), 1);
    }
}
