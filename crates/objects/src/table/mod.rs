//! Where MPI objects live, and how handles lead to them.
//!
//! A handle is one word: the kind of object, a generation, and the index of a slot.
//!
//! ```text
//!  63        56 55               32 31                         0
//!  ┌───────────┬───────────────────┬────────────────────────────┐
//!  │ 0x80+kind │ generation        │ index                      │
//!  └───────────┴───────────────────┴────────────────────────────┘
//! ```
//!
//! Predefined handles of the ABI are below 4096 and so never look like one. Slots are never given back to the
//! system, so that any word whatever can be looked up: a null, freed, wrong-kind or garbage handle is
//! recognised by its kind, bounds or generation and yields `None`.
//!
//! **Life of an object.** A slot's state is one word: generation and reference count. The generation is odd
//! while the handle is valid. `insert` makes it odd with one reference, the user's; `get` adds one if the
//! generation still fits; `remove` makes the generation even (the handle is invalid from then on) and passes
//! the user's reference to the caller. The thread that drops the last reference destroys the value and frees
//! the slot. So an object that is freed while operations use it lives until they have finished (MPI 5.0,
//! section 2.5.1).
//!
//! In a **collected** table an object has one reference more, the collector's. Once that is the only one and
//! the handle is invalid, the object is *eligible*: a bit says so, and the collector destroys it when no call
//! and no request uses it either ([`lifetime`](crate::lifetime)). Calls look such objects up without counting
//! (`Table::protect`).
//!
//! | file | idea |
//! |---|---|
//! | `storage.rs` | the slots of a table |
//! | `objects.rs` | storing objects, and looking them up |
//! | `handle.rs` | handles as words |
//! | `free_list.rs` | the free slots |
//! | `reference.rs` | counted references |
//! | `counting.rs` | critical sections for counts, under `HEDDLE_REFERENCE_COUNTS=locked` |
//! | `collected.rs` | tables whose objects are collected |
//!
//! No operation waits for another thread, so a thread that stops in the middle of one blocks no other.
//!
//! Invariants: (1) the value is initialised while the count is above zero; (2) the count rises only from
//! above zero, or from zero in `insert` on a slot taken from the free list.

mod collected;
mod counting;
mod free_list;
mod handle;
#[cfg(all(test, loom))]
mod loom_tests;
mod objects;
mod reference;
mod storage;

pub use collected::Protected;
pub use counting::{CountSection, CountingSection, count_in_sections, counting_section};
pub use handle::{HandleParts, ObjectKind, decode, encode, upper_half};
pub use reference::Ref;
pub use storage::Table;
