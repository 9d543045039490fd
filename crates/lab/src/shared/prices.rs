//! What it costs a core to get a line: where the line is, and how far away.

use super::{Access, LineIndex, SharedLab};

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOrigin {
    /// The core had it.
    Own,
    /// Another core had it, or has it too.
    Cores,
    /// A last-level cache or memory.
    Below,
}

/// What an access will cost.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// Where the line comes from.
    pub origin: LineOrigin,
    /// How long its way is.
    pub cost: u64,
    /// How long it cannot serve the next.
    pub occupied: u64,
}

impl SharedLab {
    /// How long a line takes from core to core.
    #[must_use]
    pub fn transfer(&self, from: u32, to: u32) -> u64 {
        let layout = &self.layout;
        if layout.cluster_of(from) == layout.cluster_of(to) {
            self.costs.cluster
        } else if layout.socket_of(from) == layout.socket_of(to) {
            self.costs.socket
        } else {
            self.costs.far
        }
    }

    /// What it costs `core` to do `access` to the line, without its waiting for others.
    pub fn price(&mut self, at: LineIndex, core: u32, access: Access) -> Fetch {
        let line = self.line(at.number());
        let has = line.has(core);
        let (core_age, cluster_age, owner) = (line.core_age, line.cluster_age, line.owner);
        if line.is_owned_by(core) || (has && access == Access::Load) {
            return self.price_of_own(core, core_age, cluster_age);
        }
        if let Ok(owner) = u32::try_from(owner) {
            let in_core =
                self.cores[owner as usize].fetched.wrapping_sub(core_age) <= self.costs.core_lines as u32;
            let in_cluster = self.is_in_cluster(owner, cluster_age);
            let cost = match (in_core, in_cluster) {
                (_, false) => self.costs.memory,
                (false, true) if self.layout.cluster_of(owner) == self.layout.cluster_of(core) => {
                    self.costs.clean
                }
                _ => self.transfer(owner, core),
            };
            return Fetch { origin: LineOrigin::Cores, cost, occupied: cost };
        }
        let line = self.line(at.number());
        let others: Vec<u32> = line.others(core).collect();
        if others.is_empty() {
            let cost = if has { self.costs.own } else { self.costs.memory };
            return Fetch { origin: LineOrigin::Below, cost, occupied: 0 };
        }
        let distances = others.iter().map(|other| self.transfer(*other, core));
        if access == Access::Load {
            let nearest = distances.min().unwrap_or(0);
            let cost = if nearest == self.costs.cluster { self.costs.clean } else { nearest };
            let cost = if self.is_in_cluster(others[0], cluster_age) { cost } else { self.costs.memory };
            return Fetch { origin: LineOrigin::Cores, cost, occupied: self.costs.occupied };
        }
        let cost = distances.max().unwrap_or(0);
        Fetch { origin: LineOrigin::Cores, cost, occupied: cost }
    }

    fn price_of_own(&self, core: u32, core_age: u32, cluster_age: u32) -> Fetch {
        if self.cores[core as usize].fetched.wrapping_sub(core_age) <= self.costs.core_lines as u32 {
            return Fetch { origin: LineOrigin::Own, cost: self.costs.own, occupied: 0 };
        }
        let cost = if self.is_in_cluster(core, cluster_age) { self.costs.clean } else { self.costs.memory };
        Fetch { origin: LineOrigin::Below, cost, occupied: 0 }
    }

    fn is_in_cluster(&self, core: u32, cluster_age: u32) -> bool {
        let cluster = self.layout.cluster_of(core) as usize;
        self.clusters[cluster].wrapping_sub(cluster_age) <= self.costs.cluster_lines as u32
    }
}
