//! For tests of the protocols: all ranks of a job, played by one thread.

use super::Vni;
use heddle_bootstrap::JobControl;
use heddle_model::Model;
use heddle_transport::Fabric;

pub(super) fn ranks<const N: usize>() -> [(Fabric, Vni); N] {
    let job = JobControl::create(N as u32).expect("the memory of a job");
    std::array::from_fn(|rank| {
        let world = job.world_of(rank as u32).expect("the job is there");
        let fabric = Fabric::attach(&world, 1).expect("a segment");
        let vni = Vni::new(&fabric, 0, &Model::default(), true);
        (fabric, vni)
    })
}
