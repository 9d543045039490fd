//! What a run leaves in `results.json`.

use serde::Serialize;

use super::cases::SimulatedRow;
use super::statements::SimulatedStatement;

/// The results of a run.
#[derive(Debug, Serialize)]
pub(crate) struct SimulationResults {
    pub(crate) version: String,
    pub(crate) command: Vec<String>,
    pub(crate) started: String,
    pub(crate) seed: u64,
    pub(crate) acquisitions: usize,
    /// The parameters of the simulated machine.
    pub(crate) machine: String,
    pub(crate) statements: Vec<SimulatedStatement>,
    pub(crate) rows: Vec<SimulatedRow>,
}
