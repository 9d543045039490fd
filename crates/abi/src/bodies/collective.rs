//! Collective communication.

use crate::error::Result;
use heddle_engine::collective;
use heddle_engine::comm::CommRef;
use heddle_spec::handle::CommHandle;

pub(crate) fn barrier(comm: CommHandle) -> Result<()> {
    collective::barrier(&CommRef::from_handle(comm.0)?)
}
