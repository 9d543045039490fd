//! Objects in a table: stored, looked up, and made invalid.

use super::handle::{GENERATION_MASK, HandleParts, decode, encode};
use super::reference::Ref;
use super::storage::{COUNT_MASK, Table, is_live, parts_of, with_generation};
use heddle_platform::atomic::Ordering;
use std::mem::MaybeUninit;

impl<T: Send + Sync> Table<T> {
    /// Stores an object and returns its handle.
    pub fn insert(&'static self, value: T) -> usize {
        self.insert_named(value, 0)
    }

    /// Stores an object that requests name by this word, besides its handle.
    pub fn insert_named(&'static self, value: T, name: usize) -> usize {
        let index = self.free.pop(|index| &self.known(index).next).unwrap_or_else(|| self.new_index());
        let slot = self.known(index);
        // SAFETY: invariant 1: the count is zero and the slot was free, so it is ours alone.
        slot.value.with_mut(|place| unsafe { place.write(MaybeUninit::new(value)) });
        slot.name.store(name, Ordering::Relaxed);
        let generation = ((slot.state.load(Ordering::Relaxed) >> 32) as u32 + 1) & GENERATION_MASK;
        let references = if self.collected { 2 } else { 1 };
        // Release: pairs with the Acquire in `get` and `protect`.
        slot.state.store(u64::from(generation) << 32 | references, Ordering::Release);
        encode(self.kind, HandleParts { index, generation })
    }

    /// A new reference to the object of a handle; `None` if the handle is not valid.
    #[inline]
    pub fn get(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        self.change(&slot.state, move |state| is_live(state, parts).then_some(state + 1))?;
        Some(Ref { table: self, slot, index: parts.index })
    }

    /// Makes the handle invalid and returns the user's reference; `None` if it was not valid.
    pub fn remove(&'static self, handle: usize) -> Option<Ref<T>> {
        let parts = decode(self.kind, handle)?;
        let slot = self.slot(parts.index)?;
        self.change(&slot.state, move |state| {
            is_live(state, parts).then(|| with_generation(state, parts.generation + 1))
        })?;
        Some(Ref { table: self, slot, index: parts.index })
    }

    /// The handle whose slot has this index, if it is live: for the integer form of handles
    /// (`MPI_Comm_fromint`).
    pub fn handle_of_index(&self, index: u32) -> Option<usize> {
        let parts = parts_of(self.slot(index)?.state.load(Ordering::Relaxed), index);
        (parts.generation & 1 == 1).then(|| encode(self.kind, parts))
    }

    /// The handles that are live, as far as no thread changes them meanwhile.
    pub fn handles(&self) -> impl Iterator<Item = usize> {
        (0..self.used.load(Ordering::Acquire)).filter_map(|index| self.handle_of_index(index))
    }

    /// How many objects exist, those included whose handles are invalid. For tests and statistics.
    pub fn existing(&self) -> usize {
        let slots = (0..self.used.load(Ordering::Acquire)).filter_map(|index| self.slot(index));
        slots.filter(|slot| slot.state.load(Ordering::Relaxed) & COUNT_MASK != 0).count()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::lifetime::Collected;
    use crate::table::ObjectKind;
    use heddle_platform::atomic::AtomicU64;
    use std::sync::Arc;

    static TABLE: Table<Arc<u32>> = Table::new(ObjectKind::Info);

    #[test]
    fn handles_die_with_remove_and_objects_with_their_last_reference() {
        let value = Arc::new(7);
        let handle = TABLE.insert(value.clone());
        let used = TABLE.get(handle).expect("live");
        assert_eq!((**used, used.handle()), (7, handle));
        let owned = TABLE.remove(handle).expect("live");
        assert!(TABLE.get(handle).is_none() && TABLE.remove(handle).is_none());
        drop(owned);
        assert_eq!(Arc::strong_count(&value), 2, "still referenced by `used`");
        drop(used);
        assert_eq!(Arc::strong_count(&value), 1);
        let again = TABLE.insert(value.clone());
        assert_ne!(again, handle);
        for garbage in [0, 1, 0x101, usize::MAX, again ^ 1 << 32, again ^ 1 << 57, again + 1000] {
            assert!(TABLE.get(garbage).is_none(), "{garbage:#x}");
        }
    }

    #[test]
    fn handles_die_where_the_generations_wrap() {
        for collected in [false, true] {
            let table = Table::<u32>::starting_at(ObjectKind::Info, collected, GENERATION_MASK - 3);
            let mut handles = Vec::new();
            for round in 0..4 {
                let handle = table.insert(round);
                assert_eq!(decode(ObjectKind::Info, handle).map(|parts| parts.generation & 1), Some(1));
                assert!(!handles.contains(&handle), "an older handle would lead to this object");
                assert_eq!(table.handle_of_index(0), Some(handle));
                assert!(table.handles().eq([handle]));
                assert_eq!(table.get(handle).map(|found| (*found, found.handle())), Some((round, handle)));
                let owned = table.remove(handle).expect("live");
                assert!(table.get(handle).is_none() && table.remove(handle).is_none());
                assert!(
                    decode(ObjectKind::Info, owned.handle()).is_some(),
                    "a generation reaches into the kind"
                );
                assert_eq!(table.handle_of_index(0), None);
                assert_eq!(table.handles().count(), 0);
                if collected {
                    let found = table.get_while_it_exists(handle).expect("the collector still has it");
                    drop((found, owned));
                    let mut candidates = Vec::new();
                    table.candidates(&mut |candidate| candidates.push(candidate));
                    assert_eq!(candidates.iter().map(|found| found.names[0]).collect::<Vec<_>>(), [handle]);
                    assert!(table.is_unchanged(&candidates[0]) && table.claim(&candidates[0]));
                    table.destroy_claimed(0);
                    assert!(table.get_while_it_exists(handle).is_none());
                } else {
                    drop(owned);
                }
                assert_eq!(table.existing(), 0);
                handles.push(handle);
                assert!(handles.iter().all(|&handle| table.get(handle).is_none()));
            }
        }
    }

    #[test]
    fn threads_that_look_up_while_others_free_see_the_object_or_nothing() {
        static SHARED: Table<Vec<u64>> = Table::new(ObjectKind::Group);
        let published = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(found) = SHARED.get(published.load(Ordering::Relaxed) as usize) {
                            assert!(found.iter().all(|&x| x == found[0]));
                        }
                    }
                });
            }
            scope.spawn(|| {
                for round in 0..20_000 {
                    let handle = SHARED.insert(vec![round; 8]);
                    published.store(handle as u64, Ordering::Relaxed);
                    drop(SHARED.remove(handle));
                }
            });
        });
    }
}
