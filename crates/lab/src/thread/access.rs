//! The price of an instruction's use of memory.
//!
//! - A load is under way until its line comes ([`loads`](super::loads)). Lines in a row come by the
//!   prefetcher.
//! - A store does not wait. It asks for its line at once, and becomes visible when that has come, after what
//!   is before it. A store that threads meet at is foreseen: the thread lets the others go on until that
//!   time, stores, and goes back to its own. If another polls its line, it asks only after what is before
//!   it, for until then the poll would take the line back.
//! - A locked instruction waits for the loads and stores before it and for its line.
//! - A line serves one core after the other, in the order in which they asked.

use super::Thread;
use super::caches::{Entry, LineNames, Site, entry_of};
use crate::shared::{Access, Foreseen, LineIndex, LineOrigin, SharedLab};
use heddle_platform::atomic::Ordering::Relaxed;

/// Stores that wait for their lines hold a thread up once the oldest is so old: some fifty stores.
pub(super) const STORE_BUFFER: u64 = 500_000;

impl Thread {
    /// The instruction at `site` has used `address`.
    #[inline(always)]
    pub fn access(
        &mut self,
        lab: &mut SharedLab,
        names: &mut impl LineNames,
        address: u64,
        access: Access,
        site: &Site,
    ) {
        let number = address >> 6;
        let entry = &self.entries[entry_of(number)];
        if entry.line == number {
            let version = lab.version(entry.at);
            if entry.right == version | 1 {
                if access != Access::Load {
                    return lab.note_write(entry.at, self.clock);
                } else if !entry.is_met {
                    return;
                }
            }
            if access == Access::Load && entry.right | 1 == version | 1 {
                let at = entry.at;
                return lab.slots[self.slot as usize].polls.visit(at, self.clock);
            }
        }
        self.miss(lab, names, address, access, site);
    }

    #[cold]
    #[inline(never)]
    fn miss(
        &mut self,
        lab: &mut SharedLab,
        names: &mut impl LineNames,
        address: u64,
        access: Access,
        site: &Site,
    ) {
        let number = address >> 6;
        let at = lab.find(names.name(address));
        if let Some(foreseen) = self.take_foreseen(at, access) {
            lab.take(at, self.core, access, foreseen.at);
            self.set_limits(lab);
            return self.remember(lab, number, at, LineOrigin::Cores);
        }
        let mut fetch = lab.price(at, self.core, access);
        let is_near =
            access != Access::Locked && fetch.origin != LineOrigin::Own && self.streams.follow(number);
        if is_near {
            fetch.cost = fetch.cost.min(lab.costs.stream);
            fetch.occupied = fetch.occupied.min(fetch.cost);
        } else if fetch.origin == LineOrigin::Cores && access == Access::Store && !site.is_met.load(Relaxed) {
            site.is_met.store(true, Relaxed);
            site.meets.store(true, Relaxed);
        }
        if access != Access::Store {
            self.wait_for(site.address);
        }
        let before = self.clock;
        // Lines in a row come one after the other, as fast as the prefetcher brings them.
        let asks = if is_near && access == Access::Store { self.retires() } else { before };
        let comes = lab.serve(at, self.core, asks, fetch);
        match access {
            Access::Load if is_near => self.clock = comes,
            Access::Load => self.begin_load(&lab.costs, comes, site.load),
            Access::Store => self.drain_until(comes.max(self.retires())),
            Access::Locked => self.clock = comes,
        }
        lab.take(at, self.core, access, comes);
        match fetch.origin {
            LineOrigin::Own => {}
            LineOrigin::Below => lab.slots[self.slot as usize].counts.fetched += 1,
            LineOrigin::Cores => {
                lab.slots[self.slot as usize].counts.moved += 1;
                self.touched = true;
                self.set_limits(lab);
                if lab.counting != 0 {
                    lab.note_move(at, site.at, self.process, address, fetch.cost.max(comes - before));
                }
            }
        }
        self.remember(lab, number, at, fetch.origin);
    }

    /// Before a locked instruction, which will use `address` if that is known: it takes place when its line
    /// has come.
    pub fn before_locked(
        &mut self,
        lab: &mut SharedLab,
        names: &mut impl LineNames,
        address: Option<u64>,
        site: &Site,
    ) {
        self.wait_drained();
        if self.clock > self.strict {
            self.look_around(lab, lab.slack);
        }
        if let Some(address) = address
            && let Some(foreseen) = self.foresee(lab, names, address, Access::Locked, site)
        {
            self.clock = foreseen.at;
            self.look_around(lab, 0);
        }
        lab.slots[self.slot as usize].counts.locked += 1;
        self.clock += lab.costs.locked;
    }

    /// Before a store that threads meet at, to `address`: the others go on until it is visible.
    pub fn before_store(
        &mut self,
        lab: &mut SharedLab,
        names: &mut impl LineNames,
        address: u64,
        site: &Site,
    ) {
        let mut foreseen = self.foresee(lab, names, address, Access::Store, site);
        if foreseen.is_none() && self.retires() > self.clock {
            // Until what comes before it is done the others may take the line away.
            self.let_others_until(lab, self.retires());
            foreseen = self.foresee(lab, names, address, Access::Store, site);
        }
        if let Some(foreseen) = foreseen {
            self.drain_until(foreseen.at);
            self.let_others_until(lab, foreseen.at);
        }
    }

    /// Lets the others go on until `time`, and then goes back to this thread's own.
    fn let_others_until(&mut self, lab: &mut SharedLab, time: u64) {
        let goes_on = self.clock;
        if time <= goes_on {
            return;
        }
        self.clock = time;
        self.look_around(lab, 0);
        // Another thread may have had the core meanwhile; then this one's time went on.
        if self.clock == time {
            self.clock = goes_on;
        }
    }

    fn foresee(
        &mut self,
        lab: &mut SharedLab,
        names: &mut impl LineNames,
        address: u64,
        access: Access,
        site: &Site,
    ) -> Option<Foreseen> {
        let number = address >> 6;
        let entry = self.entries[entry_of(number)];
        if entry.line == number && entry.right == lab.version(entry.at) | 1 {
            return None;
        }
        let at = lab.find(names.name(address));
        // A core asks for a store's line ahead of its time, but a line that is polled would be taken back.
        let is_late = access == Access::Store && lab.is_polled(at, self.core);
        let clock = if is_late { self.retires() } else { self.clock };
        let mut foreseen = lab.foresee(at, self.core, access, clock)?;
        if access == Access::Store {
            foreseen.at = foreseen.at.max(self.retires());
        }
        if self.foreseen.len() == 4 {
            self.foreseen.remove(0);
        }
        self.foreseen.push(foreseen);
        lab.slots[self.slot as usize].counts.moved += 1;
        if lab.counting != 0 {
            lab.note_move(at, site.at, self.process, address, foreseen.at - clock);
        }
        Some(foreseen)
    }

    fn take_foreseen(&mut self, at: LineIndex, access: Access) -> Option<Foreseen> {
        if access == Access::Load {
            return None;
        }
        let place = self.foreseen.iter().position(|foreseen| foreseen.line == at)?;
        Some(self.foreseen.remove(place))
    }

    fn remember(&mut self, lab: &mut SharedLab, number: u64, at: LineIndex, origin: LineOrigin) {
        let right = lab.right(at, self.core);
        let is_met = origin == LineOrigin::Cores;
        self.entries[entry_of(number)] = Entry { line: number, at, right, is_met };
        if is_met || right & 1 == 0 {
            lab.slots[self.slot as usize].polls.begin(at, self.clock);
        }
    }

    /// A store becomes visible at `at`.
    fn drain_until(&mut self, at: u64) {
        self.drained = self.drained.max(at);
        self.clock = self.clock.max(self.drained.saturating_sub(STORE_BUFFER));
    }

    /// When a store of now leaves the store buffer: after the loads and the stores before it.
    fn retires(&self) -> u64 {
        self.clock.max(self.drained).max(self.loaded())
    }

    /// Waits until all loads have come and all stores are visible.
    pub fn wait_drained(&mut self) {
        self.wait_loaded();
        self.clock = self.clock.max(self.drained);
    }

    /// The thread has another core, whose caches it does not know.
    pub(super) fn forget(&mut self) {
        self.entries.fill(Entry::NONE);
        self.foreseen.clear();
        self.forget_loads();
    }
}
