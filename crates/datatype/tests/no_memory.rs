//! Every constructor with memory that ends somewhere: it returns an error, and keeps nothing.

use heddle_datatype::{
    Constructed, DISTRIBUTE_BLOCK, DISTRIBUTE_DFLT_DARG, Datatype, Distributed, Form, ORDER_C, TypeError,
    TypeRef, types,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

/// The system's allocator, which refuses a thread large pieces once it has had some.
struct Scarce;

/// The bytes from which on a piece is large: less than a list of [`BLOCKS`] counts.
const LARGE: usize = 4096;
/// The blocks of the datatypes below.
const BLOCKS: i64 = 1000;

thread_local! {
    /// The large pieces that the thread may still have.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn is_refused(bytes: usize) -> bool {
    bytes >= LARGE && LEFT.replace(LEFT.get().saturating_sub(1)) == 0
}

// SAFETY: all memory is the system's.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if is_refused(bytes) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are the system's.
        unsafe { System.realloc(old, layout, bytes) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are the system's.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

/// Calls a function that gets so many large pieces of memory.
fn with_large<R>(pieces: usize, call: impl FnOnce() -> R) -> R {
    LEFT.set(pieces);
    let result = call();
    LEFT.set(usize::MAX);
    result
}

fn held(datatype: &TypeRef) -> usize {
    match datatype {
        TypeRef::Predefined(_) => 0,
        TypeRef::Derived(datatype) => Arc::strong_count(datatype),
    }
}

/// Constructs with ever more memory, until it suffices; then frees the datatype without memory. Returns how
/// many large pieces the constructor needs.
fn pieces(old: &TypeRef, construct: impl Fn() -> Constructed) -> usize {
    let before = held(old);
    for pieces in 0.. {
        match with_large(pieces, &construct) {
            Ok(made) => {
                with_large(0, || drop(made));
                assert_eq!(held(old), before, "the datatype was freed");
                return pieces;
            }
            Err(error) => assert!(matches!(error, TypeError::NoMemory(_)), "{error}"),
        }
        assert_eq!(held(old), before, "nothing was made of {pieces} pieces");
    }
    unreachable!("memory suffices at last")
}

#[test]
fn no_constructor_needs_memory_that_is_not_there() {
    let all = |value: fn(i64) -> i64| (0..BLOCKS).map(value).collect::<Vec<_>>();
    // Neither do the lengths agree, nor are the gaps equal, so that every block stands in the plan.
    let (lengths, places) = (all(|block| 1 + block % 2), all(|block| block * (block + 3)));
    let (ones, apart) = (all(|_| 1), all(|block| block * 1000));
    let int = TypeRef::from(&types::MPI_INT);
    let pair = TypeRef::from(&types::MPI_DOUBLE_INT);
    let column: TypeRef = Datatype::vector(Form::Small, 3, 1, 5, &int).expect("a type").into();
    let spread: TypeRef = Datatype::vector(Form::Small, 2, 2, 9, &column).expect("a type").into();
    let some: Vec<TypeRef> = (0..BLOCKS).map(|block| [&spread, &pair][block as usize % 2].clone()).collect();
    let array = Distributed {
        size: 1,
        rank: 0,
        global_sizes: &ones,
        distributions: &all(|_| DISTRIBUTE_BLOCK),
        arguments: &all(|_| DISTRIBUTE_DFLT_DARG),
        process_sizes: &ones,
        order: ORDER_C,
    };
    let zeros = all(|_| 0);
    for form in [Form::Small, Form::Large] {
        for old in [&int, &spread] {
            for needed in [
                pieces(old, || Datatype::indexed(form, &lengths, &places, old)),
                pieces(old, || Datatype::hindexed(form, &lengths, &places, old)),
                pieces(old, || Datatype::indexed_block(form, 2, &places, old)),
                pieces(old, || Datatype::hindexed_block(form, 2, &places, old)),
                pieces(old, || Datatype::subarray(form, &ones, &ones, &zeros, ORDER_C, old)),
                pieces(old, || Datatype::darray(form, &array, old)),
            ] {
                assert!(needed > 0, "at least a list of the arguments");
            }
        }
        let needed = pieces(&spread, || Datatype::structure(form, &lengths, &apart, &some));
        assert!(needed > 5, "the arguments, the plan, and the elements, which differ");
        assert_eq!(pieces(&spread, || Datatype::contiguous(form, 1 << 40, &spread)), 0);
        assert_eq!(pieces(&spread, || Datatype::vector(form, 1 << 20, 7, 9, &spread)), 0);
    }
}

#[test]
fn types_are_freed_without_memory_whatever_they_are_made_of() {
    let int = TypeRef::from(&types::MPI_INT);
    let level = |below: &TypeRef| -> TypeRef {
        // Types that nothing else keeps: to free one frees all its parts.
        let parts: Vec<TypeRef> = (0..BLOCKS)
            .map(|_| Datatype::contiguous(Form::Small, 2, below).expect("a type").into())
            .collect();
        let places: Vec<i64> = (0..BLOCKS).map(|block| block * (block + 3) * 1000).collect();
        let made = Datatype::structure(Form::Small, &vec![1; parts.len()], &places, &parts);
        made.expect("memory").into()
    };
    // The parts of the one do not fit where the other one stood.
    let sides = [level(&level(&int)), level(&int)];
    let made = Datatype::structure(Form::Small, &[1, 1], &[0, 1 << 40], &sides).expect("memory");
    drop(sides);
    with_large(0, || drop(made));
}
