//! Removal of receives and messages from one matching, to add them to another one.

use super::key::Key;
use super::sets::Matching;
use heddle_objects::resharding::Moved;

impl<M> Matching<M> {
    /// Removes the receives and messages of a context and source. Takes time proportional to the
    /// size of the node tables.
    #[cold]
    pub fn take_out(&mut self, context: u64, source: i32) -> Moved<Key, M> {
        let is_one = |key: &Key| key.context == context && key.source() == source && key.shape() == 0;
        self.take_out_if(|key, _| is_one(key), |key, _| is_one(key))
    }

    /// Does the same with the receives without wildcards, given by key and request, and with the messages
    /// that are wanted.
    #[cold]
    pub fn take_out_if(
        &mut self,
        is_posted: impl Fn(&Key, u32) -> bool,
        is_unexpected: impl Fn(&Key, &M) -> bool,
    ) -> Moved<Key, M> {
        let mut posted = self.posted.find_all(|key| key.shape() == 0);
        posted.retain(|(_, key, request)| is_posted(key, *request));
        for (at, _, request) in &posted {
            let unposted = self.posted.remove(*at, *request);
            debug_assert!(unposted.is_some(), "it was found there");
        }
        let mut places: Vec<(u64, u32)> = (0u32..)
            .zip(&self.unexpected.nodes)
            .filter(|(_, node)| node.value.as_ref().is_some_and(|message| is_unexpected(&node.key, message)))
            .map(|(at, node)| (node.order, at))
            .collect();
        places.sort_unstable();
        let take = |(order, at)| self.take_at(at).map(|(key, message)| (order, key, message));
        Moved {
            posted: posted.into_iter().map(|(_, key, request)| (key, request)).collect(),
            unexpected: places.into_iter().filter_map(take).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_spec::constants::MPI_ANY_TAG;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_moved_keeps_its_order_and_what_stays_is_untouched(
            posts in prop::collection::vec((0u64..2, 0i32..2, 0i32..3), 0..60),
            messages in prop::collection::vec((0u64..2, 0i32..2, 3i32..6), 0..60),
            wildcards in any::<bool>(),
        ) {
            let (mut from, mut to) = (Matching::new(), Matching::new());
            let key = |(context, source, tag)| Key::new(context, source, tag);
            (0u32..).zip(&posts).for_each(|(id, post)| _ = from.post(key(*post), id));
            (0u32..).zip(&messages).for_each(|(id, message)| from.store(key(*message), id));
            if wildcards {
                from.peek(&Key::new(0, 0, MPI_ANY_TAG));
                from.post(Key::new(1, 1, MPI_ANY_TAG), 1000);
            }
            let Moved { posted, unexpected } = from.take_out(1, 1);
            let (posts_moved, messages_moved) = (posted.len(), unexpected.len());
            posted.into_iter().for_each(|(key, id)| _ = to.post(key, id));
            unexpected.into_iter().for_each(|(stamp, key, message)| to.keep(key, message, Some(stamp)));

            let here = |part: &(u64, i32, i32)| (part.0, part.1) == (1, 1);
            prop_assert_eq!(posts_moved, posts.iter().filter(|post| here(post)).count());
            prop_assert_eq!(messages_moved, messages.iter().filter(|message| here(message)).count());
            for (id, message) in (0u32..).zip(&messages) {
                let holder = if here(message) { &mut to } else { &mut from };
                prop_assert_eq!(holder.take(&key(*message)), Some((key(*message), id)));
            }
            for (id, post) in (0u32..).zip(&posts) {
                let holder = if here(post) { &mut to } else { &mut from };
                prop_assert_eq!(holder.match_arrival(&key(*post)), Some(id));
            }
            prop_assert!(to.is_empty());
            prop_assert_eq!(from.match_arrival(&Key::new(1, 1, 9)), wildcards.then_some(1000));
            prop_assert!(from.is_empty());
        }
    }
}
