//! Computing with an operator: `inout = in OP inout`, and results that grow from both sides.

use super::conversation::Conversation;
use super::elements::Elements;
use super::temporary::{Room, Temporary};
use heddle_comm::datatype::TypeRef;
use heddle_comm::error::{Error, Result};
use heddle_comm::op::OpRef;
use heddle_datatype::{Kernel, kernel};
use heddle_spec::constants as mpi;

/// An operator on a datatype.
#[derive(Debug)]
pub struct Reduction<'a> {
    op: &'a OpRef,
    datatype: &'a TypeRef,
    /// The handle that the program's function receives.
    handle: usize,
    kernel: Option<Kernel>,
}

impl<'a> Reduction<'a> {
    /// The operator `op` on elements of `datatype`, whose handle is `handle`.
    ///
    /// # Errors
    /// `MPI_ERR_OP` if the standard does not define the operator on the datatype.
    pub fn new(op: &'a OpRef, datatype: &'a TypeRef, handle: usize) -> Result<Reduction<'a>> {
        let kernel = match op {
            OpRef::User(_) => None,
            OpRef::Predefined(op) if op.is_reduction() => {
                Some(kernel(*op, datatype).map_err(|error| Error::new(mpi::MPI_ERR_OP, error.to_string()))?)
            }
            OpRef::Predefined(op) => {
                let message = format!("{} is for one-sided communication, not for reductions", op.name());
                return Err(Error::new(mpi::MPI_ERR_OP, message));
            }
        };
        Ok(Reduction { op, datatype, handle, kernel })
    }

    pub(super) fn commutes(&self) -> bool {
        self.op.commutes()
    }

    /// Room for a vector.
    pub(super) fn temporary(&self, count: i64) -> Result<Temporary<'a>> {
        Temporary::new(self.datatype, count)
    }

    /// `destination`, or room for a vector.
    pub(super) fn room(&'a self, destination: Option<Elements<'a>>, count: i64) -> Result<Room<'a>> {
        Room::given_or_allocated(destination, self.datatype, count)
    }

    /// `inout = input OP inout` on `count` elements.
    pub(super) fn apply(&self, input: Elements<'_>, inout: Elements<'_>, count: i64) {
        if count == 0 {
            return;
        }
        let (input, inout) = (input.address(), inout.address());
        match (self.op, self.kernel) {
            (OpRef::User(op), _) => {
                let extent = self.datatype.extent();
                // SAFETY: the caller of `Elements::new` promised the memory of both
                // vectors, which never overlap.
                unsafe { op.call(input, inout, count, extent, self.handle) };
            }
            (_, Some(kernel)) => {
                // SAFETY: the caller of `Elements::new` promised the memory of both vectors, which never
                // overlap; the kernel was chosen for this datatype.
                unsafe { kernel(input, inout, count as usize) };
            }
            (OpRef::Predefined(_), None) => unreachable!("predefined operators come with their kernel"),
        }
    }
}

/// On which side of the result so far new operands stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// They come from lower ranks: new OP result.
    Lower,
    /// They come from higher ranks: result OP new.
    Higher,
}

/// A result that grows. It is in one of two buffers; new operands are received into the other, spare one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accumulator<'a> {
    pub(super) reduction: &'a Reduction<'a>,
    pub(super) result: Elements<'a>,
    pub(super) spare: Elements<'a>,
    pub(super) count: i64,
}

impl Accumulator<'_> {
    /// Combines the spare buffer with the result. The two are swapped if the order of operands requires it.
    pub(super) fn take(&mut self, side: Side) {
        if side == Side::Lower || self.reduction.commutes() {
            self.reduction.apply(self.spare, self.result, self.count);
        } else {
            self.reduction.apply(self.result, self.spare, self.count);
            (self.result, self.spare) = (self.spare, self.result);
        }
    }

    /// Receives operands and combines them with the result.
    pub(super) fn receive(&mut self, talk: &mut Conversation<'_>, from: usize, side: Side) {
        talk.receive(from, self.spare.buffer(self.count));
        self.take(side);
    }

    /// Combines a range of the spare buffer with the result, for operators that commute.
    pub(super) fn take_range(&self, first: i64, end: i64) {
        debug_assert!(self.reduction.commutes());
        self.reduction.apply(self.spare.at(first), self.result.at(first), end - first);
    }

    /// Sends the result.
    pub(super) fn send(&self, talk: &mut Conversation<'_>, to: usize) {
        talk.send(to, self.result.buffer(self.count));
    }

    /// Copies the result to its destination, unless it is there already.
    pub(super) fn deliver(&self, talk: &mut Conversation<'_>, destination: Elements<'_>) {
        if self.result.address() != destination.address() {
            talk.copy(&self.result.buffer(self.count), &destination.buffer(self.count));
        }
    }
}
