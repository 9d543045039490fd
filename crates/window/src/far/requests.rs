//! Requests of operations whose data is on its way (`MPI_Rput`, `MPI_Rget`, `MPI_Rget_accumulate`).

use super::Far;
use super::counts::Counts;
use super::service::Service;
use heddle_message::request::{self, Outcome, RequestId, RequestKind};
use heddle_message::vni::{SendArgs, Sequel};
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// The VNI whose polls complete the requests.
const VNI: u32 = 0;

/// A request that is complete once the operations on a rank are, up to one of them.
#[derive(Debug)]
struct Copied {
    request: RequestId,
    service: Arc<Service>,
    counts: Arc<Counts>,
    rank: usize,
    last: u64,
}

impl Sequel for Copied {
    fn is_due(&self) -> bool {
        self.counts.done(self.rank) >= self.last
    }

    fn run(self: Box<Self>, _: &mut dyn FnMut(RequestId, SendArgs)) -> Option<(RequestId, Outcome)> {
        self.service.end_request();
        Some((self.request, Outcome::empty()))
    }
}

impl Far {
    /// A request, by its handle, that is complete once data and results of the operations on a rank are here;
    /// `None` if they are here.
    pub(crate) fn request(&self, rank: usize) -> Option<usize> {
        let last = self.copies.asked(rank);
        if self.copies.done(rank) >= last {
            return None;
        }
        self.service.port().send_open();
        let Ok(request) = request::take(VNI, mpi::MPI_COMM_SELF, RequestKind::Generalized) else {
            self.complete_rank(&self.copies, rank);
            return None;
        };
        let handle = request::handle(request);
        self.service.begin_request();
        let (service, counts) = (Arc::clone(&self.service), Arc::clone(&self.copies));
        self.service.domain().vni(VNI).follow(Box::new(Copied { request, service, counts, rank, last }));
        Some(handle)
    }
}
