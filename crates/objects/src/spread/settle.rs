//! The messages of all lanes that may be passed on, in an order that none of them contradicts.

/// A message with its stamp.
#[derive(Debug)]
pub struct Stamped<M> {
    /// The time when it was sent, by the clock that all threads share.
    pub stamp: u64,
    /// The message.
    pub message: M,
}

/// Takes messages out of `held` that may be passed on, and returns them in their order. `look` reads all
/// lanes once, each as far as it was filled when the call began, and adds what it finds to `held`.
///
/// **Why no message is missed that comes before one of these.** Let *n* be one of them, and *m* come before
/// it. When *n* was in its lane, *m* was in its own (the sender's promise). The last look began after *n* was
/// found, so by its end *m* was found, too. The stamp of *m* is lower than that of *n*, and so lower than the
/// greatest of these; the last look found no such message. So *m* was found before, and is among them, or was
/// among those of an earlier call. By their stamps *m* stands in front of *n*.
///
/// Each look but the last finds a message that was stamped before the first of these was found, and not in
/// its lane yet: one per sending thread at most. So there are few.
pub fn settle<M>(held: &mut Vec<Stamped<M>>, mut look: impl FnMut(&mut Vec<Stamped<M>>)) -> Vec<Stamped<M>> {
    look(held);
    let mut settled = std::mem::take(held);
    let Some(last) = settled.iter().map(|message| message.stamp).max() else { return settled };
    loop {
        let known = held.len();
        look(held);
        let mut found_earlier = false;
        for message in held.split_off(known) {
            if message.stamp < last {
                found_earlier = true;
                settled.push(message);
            } else {
                held.push(message);
            }
        }
        if !found_earlier {
            settled.sort_by_key(|message| message.stamp);
            return settled;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn stamped(stamps: &[u64]) -> Vec<Stamped<u64>> {
        stamps.iter().map(|stamp| Stamped { stamp: *stamp, message: *stamp }).collect()
    }

    fn settle_looks(looks: &[&[u64]]) -> (Vec<u64>, Vec<u64>) {
        let (mut held, mut looks) = (Vec::new(), looks.iter());
        let look = |held: &mut Vec<_>| held.extend(stamped(looks.next().copied().unwrap_or_default()));
        let settled = settle(&mut held, look).into_iter().map(|message| message.message).collect();
        (settled, held.into_iter().map(|message| message.message).collect())
    }

    #[test]
    fn what_was_sent_earlier_is_waited_for_and_what_was_sent_later_stays() {
        assert_eq!(settle_looks(&[&[]]), (vec![], vec![]));
        assert_eq!(settle_looks(&[&[5, 3]]), (vec![3, 5], vec![]));
        assert_eq!(settle_looks(&[&[5, 3], &[4, 9]]), (vec![3, 4, 5], vec![9]));
        assert_eq!(settle_looks(&[&[5], &[2], &[1, 8], &[7], &[0]]), (vec![1, 2, 5], vec![8, 7]));
    }

    /// A message that was held before is read again in the next call.
    #[test]
    fn what_stays_is_settled_next() {
        let mut held = stamped(&[9]);
        let settled = settle(&mut held, |_| ());
        assert_eq!(settled.len(), 1);
        assert!(held.is_empty());
    }
}
