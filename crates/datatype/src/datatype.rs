//! A datatype: its bounds, its compiled layout, and how it was made.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::basic::{Basic, BasicKind};
use crate::bounds::Bounds;
use crate::contents::{Combiner, Form};
use crate::plan::{ListedRun, Plan, RunList};
use heddle_platform::allocate::{OutOfMemory, reserve};

/// A datatype. It never changes once it was constructed, apart from being committed.
#[derive(Debug)]
pub struct Datatype {
    pub(crate) bounds: Bounds,
    pub(crate) plan: Plan,
    pub(crate) size: i64,
    pub(crate) contiguous: bool,
    pub(crate) predefined: bool,
    pub(crate) basic: Option<&'static Basic>,
    pub(crate) basic_elements: i64,
    pub(crate) elements: Elements,
    pub(crate) contents: Contents,
    pub(crate) committed: OnceLock<()>,
}

/// A reference to a datatype. Only references to derived datatypes are counted.
#[derive(Debug, Clone)]
pub enum TypeRef {
    /// A predefined datatype.
    Predefined(&'static Datatype),
    /// A datatype that the program made.
    Derived(Arc<Datatype>),
}

/// The division of a datatype's bytes into basic elements.
#[derive(Debug)]
pub(crate) enum Elements {
    /// No data.
    None,
    /// Elements of `size` bytes each.
    Uniform { size: i64 },
    /// An element of `first` bytes, then one of `second`, and so on.
    Pair { first: i64, second: i64 },
    /// Whole copies of one type whose elements differ in size.
    Copies(TypeRef),
    /// Copies of different types, with the number of each.
    Sequence(Vec<(i64, TypeRef)>),
}

/// A datatype's constructor and its arguments, in the order the standard gives them back.
#[derive(Debug)]
pub struct Contents {
    /// The constructor.
    pub combiner: Combiner,
    /// Arguments of type `int`.
    pub integers: Vec<i64>,
    /// Arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// Arguments of type `MPI_Count`.
    pub counts: Vec<i64>,
    /// The datatypes it was made from.
    pub types: Vec<TypeRef>,
}

impl Deref for TypeRef {
    type Target = Datatype;

    fn deref(&self) -> &Datatype {
        match self {
            Self::Predefined(datatype) => datatype,
            Self::Derived(datatype) => datatype,
        }
    }
}

impl From<&'static Datatype> for TypeRef {
    fn from(datatype: &'static Datatype) -> Self {
        Self::Predefined(datatype)
    }
}

impl From<Arc<Datatype>> for TypeRef {
    fn from(datatype: Arc<Datatype>) -> Self {
        Self::Derived(datatype)
    }
}

impl Datatype {
    /// The datatype of one basic type.
    pub(crate) const fn named(basic: &'static Basic) -> Self {
        let (value, index) = basic.kind.parts();
        let (size, bounds, plan, elements, basic_elements) = match index {
            None => (
                value.size,
                Bounds::basic(value.size, value.align),
                Plan::Run { at: 0, len: value.size },
                Elements::Uniform { size: value.size },
                1,
            ),
            Some(index) => {
                let align = if value.align > index.align { value.align } else { index.align };
                // The index follows the value where a C compiler puts it.
                let offset = (value.size + index.align - 1) / index.align * index.align;
                let size = value.size + index.size;
                let plan = if offset == value.size {
                    Plan::Run { at: 0, len: size }
                } else {
                    Plan::Runs { at: 0, list: RunList::Static(&SHORT_INT_RUNS) }
                };
                let elements = if value.size == index.size {
                    Elements::Uniform { size: value.size }
                } else {
                    Elements::Pair { first: value.size, second: index.size }
                };
                (size, Bounds::basic(offset + index.size, align), plan, elements, 2)
            }
        };
        Self {
            contiguous: bounds.extent() == size,
            bounds,
            plan,
            size,
            predefined: true,
            basic: Some(basic),
            basic_elements,
            elements,
            contents: Contents::NAMED,
            committed: OnceLock::new(),
        }
    }

    /// The size in bytes of an item of a predefined type whose items have no gaps and start at the
    /// buffer's address; else 0.
    pub(crate) const fn plain_bytes(&self) -> u8 {
        if self.contiguous && self.bounds.true_lb == 0 && self.size > 0 && self.size <= u8::MAX as i64 {
            self.size as u8
        } else {
            0
        }
    }

    /// Bytes of data in one item, without gaps (`MPI_Type_size`).
    #[inline]
    #[must_use]
    pub const fn size(&self) -> i64 {
        self.size
    }

    /// The lower bound, in bytes.
    #[inline]
    #[must_use]
    pub const fn lb(&self) -> i64 {
        self.bounds.lb
    }

    /// The upper bound, in bytes.
    #[inline]
    #[must_use]
    pub const fn ub(&self) -> i64 {
        self.bounds.ub
    }

    /// The distance in bytes between two items of an array.
    #[inline]
    #[must_use]
    pub const fn extent(&self) -> i64 {
        self.bounds.extent()
    }

    /// The displacement of the first byte of data.
    #[inline]
    #[must_use]
    pub const fn true_lb(&self) -> i64 {
        self.bounds.true_lb
    }

    /// The distance in bytes between the first byte of data and the end of the last.
    #[inline]
    #[must_use]
    pub const fn true_extent(&self) -> i64 {
        self.bounds.true_ub - self.bounds.true_lb
    }

    /// The strictest alignment of a basic type in this one, in bytes.
    #[inline]
    #[must_use]
    pub const fn alignment(&self) -> i64 {
        self.bounds.align
    }

    /// Returns true if any number of items is one run of bytes that starts at the buffer's address.
    #[inline]
    #[must_use]
    pub const fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Returns true if this is one of the standard's types, which are never freed.
    #[inline]
    #[must_use]
    pub const fn is_predefined(&self) -> bool {
        self.predefined
    }

    /// The predefined type, or `None` for a derived datatype. Predefined operators need it.
    #[inline]
    #[must_use]
    pub const fn predefined_basic(&self) -> Option<&'static Basic> {
        if self.predefined || self.is_unnamed() { self.basic } else { None }
    }

    /// Returns true for the unnamed predefined datatypes of Fortran's kinds of numbers.
    #[inline]
    #[must_use]
    pub const fn is_unnamed(&self) -> bool {
        matches!(self.contents.combiner, Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer)
    }

    /// The predefined type of all data of this datatype, if there is only one; accumulates need it. A
    /// pair type counts as one.
    #[inline]
    #[must_use]
    pub const fn uniform_basic(&self) -> Option<&'static Basic> {
        self.basic
    }

    /// Basic elements in one item, as `MPI_Get_elements` counts them: a pair type has two.
    #[inline]
    #[must_use]
    pub const fn basic_elements(&self) -> i64 {
        self.basic_elements
    }

    /// How this datatype was made.
    #[must_use]
    pub const fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Allows the datatype to be used in communication.
    pub fn commit(&self) {
        self.committed.get_or_init(|| ());
    }

    /// Returns true if the datatype may be used in communication.
    #[inline]
    #[must_use]
    pub fn is_committed(&self) -> bool {
        self.predefined || self.committed.get().is_some()
    }

    /// Bytes of data in `count` items; nothing if that exceeds 63 bits or `count` is negative.
    #[inline]
    #[must_use]
    pub const fn packed_len(&self, count: i64) -> Option<i64> {
        if count < 0 { None } else { self.size.checked_mul(count) }
    }

    /// The offset from the buffer's address and the length of the data of `count` items, if
    /// they are one run of bytes.
    #[inline]
    #[must_use]
    pub fn single_run(&self, count: i64) -> Option<(i64, i64)> {
        if self.contiguous || self.size == 0 || count == 0 {
            return Some((0, self.packed_len(count)?));
        }
        match self.plan {
            Plan::Run { at, len } if count == 1 => Some((at, len)),
            Plan::Run { at, len } if self.extent() == len => Some((at, self.packed_len(count)?)),
            _ => None,
        }
    }

    /// Whole items in `bytes` received bytes (`MPI_Get_count`); nothing stands for `MPI_UNDEFINED`.
    #[must_use]
    pub const fn get_count(&self, bytes: i64) -> Option<i64> {
        match self.size {
            0 if bytes == 0 => Some(0),
            0 => None,
            size if bytes % size == 0 => Some(bytes / size),
            _ => None,
        }
    }
}

impl Contents {
    pub(crate) const NAMED: Self = Self {
        combiner: Combiner::Named,
        integers: Vec::new(),
        addresses: Vec::new(),
        counts: Vec::new(),
        types: Vec::new(),
    };

    /// In the small form `sizes` are `int` and `displacements` are `MPI_Aint`; the large form returns
    /// both as counts, sizes first.
    pub(crate) fn new(
        combiner: Combiner,
        form: Form,
        sizes: Vec<i64>,
        displacements: Vec<i64>,
        types: Vec<TypeRef>,
    ) -> Result<Self, OutOfMemory> {
        let (integers, addresses, counts) = match form {
            Form::Small => (sizes, displacements, Vec::new()),
            Form::Large => {
                let mut counts = sizes;
                reserve(&mut counts, displacements.len())?;
                counts.extend(displacements);
                (Vec::new(), Vec::new(), counts)
            }
        };
        Ok(Self { combiner, integers, addresses, counts, types })
    }
}

impl Drop for Datatype {
    /// Drops the types that this one is made of in a loop, so that a long chain of types needs no deep stack.
    fn drop(&mut self) {
        if self.predefined {
            return;
        }
        let mut released = self.take_parts();
        while let Some(part) = released.pop() {
            if let TypeRef::Derived(part) = part
                && let Some(mut last) = Arc::into_inner(part)
            {
                let mut parts = last.take_parts();
                if released.is_empty() {
                    // A chain needs no memory.
                    released = parts;
                } else if reserve(&mut released, parts.len()).is_ok() {
                    released.append(&mut parts);
                }
                // Without memory the parts are dropped one inside the other.
            }
        }
    }
}

impl Datatype {
    /// The types that it was made from. Its elements name those, and types that those keep, so letting the
    /// elements go drops no type.
    fn take_parts(&mut self) -> Vec<TypeRef> {
        self.elements = Elements::None;
        std::mem::take(&mut self.contents.types)
    }
}

/// `MPI_SHORT_INT` is the one pair type with a gap between its value and its index.
static SHORT_INT_RUNS: [ListedRun; 2] = [ListedRun { offset: 0, end: 2 }, ListedRun { offset: 4, end: 6 }];

// The static above is correct for that kind only.
const _: () =
    assert!(matches!(BasicKind::I16I32.parts(), (value, Some(index)) if value.size == 2 && index.size == 4));
