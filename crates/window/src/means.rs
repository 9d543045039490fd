//! By which instructions elements are changed, and what that costs.

/// By which instructions elements may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// By processor atomics, as other threads do at that moment.
    Atomics,
    /// By any, since no other thread changes elements of the target.
    Any,
}

/// Nanoseconds by which an element is changed faster under the lock than by an atomic instruction …
const GAIN_NS: usize = 4;
/// … and how many elements it takes for one nanosecond, where they are only loaded or stored.
const PER_GAIN_OF_STORES: usize = 4;
/// Nanoseconds by which taking the lock and giving it back is slower than to change nothing by atomics.
const LOCK_NS: i32 = 10;
/// The same for a single element, which has the shortest way of all while the lock is open.
const LOCK_NS_OF_ONE: i32 = 20;
/// More elements count as so many.
const MOST_ELEMENTS: usize = 1 << 16;

/// How elements are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// By atomic instructions that read, compute and write, or by vector instructions.
    Computed,
    /// By loads or stores of single elements, or of vectors.
    Moved,
}

impl ChangeKind {
    /// The nanoseconds by which so many elements are changed faster under the lock, which is taken for them.
    #[inline(always)]
    pub(crate) fn gain(self, elements: usize) -> i32 {
        let elements = elements.min(MOST_ELEMENTS);
        let loss = if elements == 1 { LOCK_NS_OF_ONE } else { LOCK_NS };
        let gain = match self {
            ChangeKind::Computed => elements * GAIN_NS,
            ChangeKind::Moved => elements / PER_GAIN_OF_STORES,
        };
        gain as i32 - loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_elements_lose_by_the_lock() {
        assert!(ChangeKind::Computed.gain(1) < 0 && ChangeKind::Moved.gain(8) < 0);
        assert!(ChangeKind::Computed.gain(4) > 0 && ChangeKind::Moved.gain(512) > 0);
    }
}
