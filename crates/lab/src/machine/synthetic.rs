//! The machine in the words of hwloc's variable `HWLOC_SYNTHETIC`.

use super::Machine;

/// Bytes in a line of a cache.
pub(super) const LINE: u64 = 64;

impl Machine {
    /// The machine for hwloc's variable `HWLOC_SYNTHETIC`, with a NUMA node for each socket:
    /// `pack:2 [numa] l3:16(size=16777216) l2:4(size=524288) core:1 pu:1`.
    #[must_use]
    pub fn hwloc_synthetic(&self) -> String {
        let Self { sockets, clusters, cores, costs, .. } = self;
        let (own, last) = (costs.core_lines * LINE, costs.cluster_lines * LINE);
        let caches = match self.last_level {
            2 => format!("l2:{clusters}(size={last}) core:{cores}"),
            _ => format!("l3:{clusters}(size={last}) l2:{cores}(size={own}) core:1"),
        };
        format!("pack:{sockets} [numa] {caches} pu:1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_every_level() {
        for (text, words) in [
            ("epyc-7742", "pack:2 [numa] l3:16(size=16777216) l2:4(size=524288) core:1 pu:1"),
            ("knl-68", "pack:1 [numa] l2:34(size=1048576) core:2 pu:1"),
            ("1x3", "pack:1 [numa] l3:1(size=56623104) l2:3(size=1310720) core:1 pu:1"),
        ] {
            assert_eq!(Machine::parse(text).expect(text).hwloc_synthetic(), words);
        }
    }
}
