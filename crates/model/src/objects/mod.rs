//! The critical sections inside a VNI: one for each object, or none where that of the VNI is enough.
//!
//! `heddle-message` says what is protected: an [`GuardedObject`] is a kind of state with a name, and a thread
//! reaches each object only through its critical section, [`SectionOf::with`]. The [`Sectioning`] decides
//! how:
//!
//! | | the critical section of an object is | used under |
//! |---|---|---|
//! | [`Whole`] | nothing: the thread has the whole VNI already; but a channel may be [`Apart`] | all other granularities, and below `MPI_THREAD_MULTIPLE` |
//! | [`Parted`] | a lock, by the model's arbitration and bias | `per-object` |
//! | [`LockFree`] | the same; or operations are queued for the thread inside | `lock-free` |
//!
//! Code that enters critical sections is generic over the sectioning, so a critical section that
//! is nothing costs nothing.
//!
//! **Order.** A thread that is in a critical section enters only critical sections of a higher
//! [`LEVEL`](GuardedObject::LEVEL), so no circle of threads can wait for each other, and under [`Whole`] no
//! object is reached through two references at once. Debug builds check the order under every sectioning.

mod apart;
mod lock_free;
mod object;
mod order;
mod parted;
mod whole;

pub use apart::Apart;
pub use lock_free::{LeftTo, LeftToAll, LockFree};
pub use object::{GuardedObject, SectionOf, Sectioning};
pub use parted::{Locked, Parted};
pub use whole::{Enclosed, Whole};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Entry, Section, totals};
    use crate::{Model, Path};

    struct Number(u64);

    impl GuardedObject for Number {
        const SECTION: Section = Section::Arrivals;
        const LEVEL: u32 = 0;
    }

    #[test]
    fn each_entry_is_counted_once_however_the_object_is_guarded() {
        fn enter_thrice<S: Sectioning>(model: &str) {
            let sections = Model::named(model).expect("its name").sections(true);
            let all = S::shards(&sections, || Number(0), || ());
            let entries = || {
                let now = totals().section(Section::Arrivals);
                [Entry::Main, Entry::Fruitless, Entry::Progress].map(|entry| now.count(entry))
            };
            let before = entries();
            let object = S::shard(&all, 7);
            object.with(Path::Main, |it| it.0 += 1);
            assert_eq!(object.poll(|it| it.0), 1);
            assert_eq!(object.try_with(Path::Progress, |it| it.0), Some(1));
            let counted: Vec<u64> = entries().iter().zip(before).map(|(now, before)| now - before).collect();
            assert_eq!(counted, [2, 1, 1], "{model}");
        }
        enter_thrice::<Parted>("per-object");
        enter_thrice::<LockFree>("lock-free");
    }

    struct Sum(u64);

    impl GuardedObject for Sum {
        const SECTION: Section = Section::Rendezvous;
        const LEVEL: u32 = 0;
    }

    #[test]
    fn an_operation_that_a_thread_leaves_is_run_and_counted_by_the_thread_inside() {
        let sections = Model::named("lock-free").expect("its name").sections(true);
        let all = LockFree::shards(&sections, || Sum(0), || ());
        let object = LockFree::shard(&all, 7);
        let for_others = || totals().section(Section::Rendezvous).count(Entry::ForOthers);
        let before = for_others();
        let leave = |by: u64| {
            object.with_or_leave(
                Path::Main,
                by,
                |_: &mut Sum, _| false,
                |by| (move |it: &mut Sum| it.0 += by, true),
            )
        };
        object.with(Path::Main, |_| {
            let left = std::thread::scope(|scope| scope.spawn(|| leave(5)).join().expect("it does not wait"));
            assert!(left);
        });
        assert_eq!(object.with(Path::Main, |it| it.0), 5);
        assert_eq!(for_others() - before, 1);
        assert!(!leave(1), "no thread is inside");
        assert_eq!(for_others() - before, 1);
    }
}
