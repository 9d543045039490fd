//! The paper's statements beside what the simulation gives.

mod mutual_exclusion;
mod reader_writer;
mod statement;

pub(crate) use statement::SimulatedStatement;

use self::mutual_exclusion as mcs;
use self::reader_writer as rw;
use super::cases::SimulatedRow;
use statement::SimulatedRows;

/// The statements about what was simulated.
pub(crate) fn check(rows: &[SimulatedRow]) -> Vec<SimulatedStatement> {
    let figures = SimulatedRows(rows);
    let parts: [fn(&SimulatedRows<'_>) -> Option<SimulatedStatement>; 15] = [
        |figures| mcs::latency(figures, "foMPI-Spin", 10.0),
        |figures| mcs::latency(figures, "D-MCS", 4.0),
        mcs::lowest_latency,
        mcs::highest_throughput,
        mcs::spike,
        rw::counters,
        rw::product,
        rw::locality,
        rw::readers_rare_writers,
        rw::readers_many_writers,
        rw::six_times,
        |figures| rw::shares(figures, 2.0, 1.8),
        |figures| rw::shares(figures, 5.0, 4.4),
        rw::many_writers,
        rw::adaptive,
    ];
    let mut statements: Vec<SimulatedStatement> = parts.iter().filter_map(|part| part(&figures)).collect();
    statements.extend(rw::hash_table(&figures));
    statements
}
