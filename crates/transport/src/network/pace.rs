//! How often a thread that polls the rings looks at the network, too.
//!
//! A look at the network costs a system call, fifty times a look at the rings. So the network is looked at
//! rarely while messages come through the rings, and each time while they come through the network:
//!
//! | seen | looks at the rings until the next look at the network |
//! |---|---|
//! | a message from the network | 1 |
//! | messages from rings | twice as many, up to [`RARELY`] |
//! | nothing in the network, and nothing in the rings for [`QUIET`] looks | half as many |

/// The most looks at the rings between two looks at the network. At 10 ns a look that is a sixth of a
/// millisecond, of which the network takes about a hundredth.
const RARELY: u32 = 1 << 14;
/// This many looks at the rings without a message are longer than any pause between two messages of a
/// dialogue.
const QUIET: u32 = 1024;

/// The pace of one reader.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The looks at the rings that are left until the next one at the network.
    left: u32,
    /// True if a ring had a message since the last look at the network.
    is_busy: bool,
    interval: u32,
    /// The looks at the rings since they had a message.
    quiet: u32,
}

impl Pace {
    /// The pace at which the network is looked at each time.
    pub(crate) fn new() -> Pace {
        Pace { left: 1, is_busy: false, interval: 1, quiet: 0 }
    }

    /// Returns true if the network is to be looked at now, after a look at the rings that found `taken`
    /// messages.
    #[inline(always)]
    pub(crate) fn is_due(&mut self, taken: usize) -> bool {
        self.is_busy |= taken != 0;
        self.left -= 1;
        self.left == 0
    }

    /// Notes what a look at the network has found.
    pub(crate) fn looked(&mut self, found: bool) {
        self.quiet = if self.is_busy { 0 } else { self.quiet.saturating_add(self.interval) };
        if found {
            self.interval = 1;
        } else if self.is_busy {
            self.interval = (self.interval * 2).min(RARELY);
        } else if self.quiet >= QUIET {
            self.interval = (self.interval / 2).max(1);
        }
        (self.left, self.is_busy) = (self.interval, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of looks at the network in that many looks at the rings, which have a message each
    /// `every` looks.
    fn looks(pace: &mut Pace, looks: usize, every: usize) -> usize {
        let at_network = |look: usize| {
            let due = pace.is_due(usize::from(every != 0 && look.is_multiple_of(every)));
            if due {
                pace.looked(false);
            }
            due
        };
        (0..looks).map(at_network).filter(|due| *due).count()
    }

    #[test]
    fn messages_of_the_rings_make_looks_at_the_network_rare_but_not_none() {
        for every in [1, 10, 500] {
            let mut pace = Pace::new();
            looks(&mut pace, 4 * RARELY as usize, every);
            let rare = looks(&mut pace, 250 * RARELY as usize, every);
            assert!((200..300).contains(&rare), "a message each {every} looks: {rare}");
        }
    }

    #[test]
    fn without_messages_of_the_rings_looks_become_frequent() {
        let mut pace = Pace::new();
        looks(&mut pace, 4 * RARELY as usize, 1);
        looks(&mut pace, 4 * RARELY as usize, 0);
        assert_eq!(looks(&mut pace, 1000, 0), 1000);
    }

    #[test]
    fn a_message_of_the_network_makes_looks_frequent_at_once() {
        let mut pace = Pace::new();
        looks(&mut pace, 4 * RARELY as usize, 1);
        pace.looked(true);
        assert_eq!(looks(&mut pace, 100, 0), 100);
    }
}
