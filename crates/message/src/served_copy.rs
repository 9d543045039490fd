//! Copies from and to a peer's memory that the peer makes itself, begun and awaited ([`ServedCopy`]).

use crate::buffer::Buffer;
use crate::domain::Domain;
use crate::error::Result;
use crate::request::{self, Outcome, RequestId, RequestKind};
use heddle_spec::constants as mpi;
use heddle_transport::CopyDirection;
use std::ptr::with_exposed_provenance_mut;

pub use crate::vni::ServedCopy;

impl ServedCopy {
    /// Begins the copy on a VNI, on behalf of the communicator with a handle. Returns its request.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests.
    pub fn begin(self, domain: &Domain, vni: u32, comm: usize) -> Result<RequestId> {
        let kind = match self.direction {
            CopyDirection::Read => RequestKind::Receive,
            CopyDirection::Write => RequestKind::Send,
        };
        let id = request::take(vni, comm, kind)?;
        // SAFETY: the request is new, and the caller holds the datatype until the operation is complete.
        unsafe { request::set_buffer(id, self.buffer) };
        if self.buffer.is_empty() || self.peer == domain.rank() {
            self.copy_here();
            let outcome = Outcome { bytes: self.buffer.len() as u64, ..Outcome::empty() };
            // SAFETY: the request is not issued yet, so this thread has its in-flight state.
            unsafe { request::complete(id, outcome) };
        } else {
            domain.vni(vni).begin_served_copy(id, self);
        }
        Ok(id)
    }

    /// Makes the copy, if the memory is this process's own.
    fn copy_here(self) {
        let len = self.buffer.len();
        // SAFETY: the memory takes part in the operation, like the buffer.
        let memory = unsafe { Buffer::bytes(with_exposed_provenance_mut(self.address as usize), len) };
        match self.direction {
            CopyDirection::Read => memory.copy_to(&self.buffer, len),
            CopyDirection::Write => self.buffer.copy_to(&memory, len),
        }
    }

    /// Makes the copy, and waits until it is over.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM` if there are too many requests; otherwise the error of the operation.
    pub fn run(self, domain: &Domain, vni: u32) -> Result<()> {
        let id = self.begin(domain, vni, mpi::MPI_COMM_SELF)?;
        domain.wait_until(vni, || request::is_complete(id));
        let error = request::consume(id).and_then(|(outcome, _)| outcome.error);
        error.map_or(Ok(()), Err)
    }
}
