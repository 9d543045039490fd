//! Opening this process's port for windows, and starting the thread that reads it.

use super::carry_out::CarryOut;
use super::service::Service;
use heddle_message::domain::Domain;
use heddle_message::error::{Error, Result};
use heddle_spec::constants as mpi;
use std::fmt::Display;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The service of this process, made by the first call.
///
/// # Errors
/// `MPI_ERR_OTHER` if the network refuses, or there is no thread to be had.
pub(super) fn service(domain: &'static Domain) -> Result<&'static Arc<Service>> {
    static SERVICE: OnceLock<Arc<Service>> = OnceLock::new();
    static MAKING: Mutex<()> = Mutex::new(());
    if let Some(service) = SERVICE.get() {
        return Ok(service);
    }
    let _alone = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |why: &dyn Display| {
        let message = format!("a window between machines needs a port of its own in the network: {why}");
        Error::new(mpi::MPI_ERR_OTHER, message)
    };
    let port = domain.fabric().one_sided().map_err(|error| failed(&error))?;
    let service = Arc::new(Service::new(domain, port));
    let carry_out = Arc::clone(&service);
    if service.port().start(domain.has_cores(), || Box::new(CarryOut::new(carry_out))) {
        Ok(SERVICE.get_or_init(|| service))
    } else {
        Err(failed(&"there is no thread to be had"))
    }
}
