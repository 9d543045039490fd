//! The info hints of windows (MPI 5.0, section 12.2.1, and Heddle's). Unknown hints and values are ignored.

use heddle_comm::info::Entries;
use heddle_comm::memory_kinds;
use heddle_settings as settings;
use heddle_settings::info_keys::{
    ACCUMULATE_GRANULARITY, ACCUMULATE_OPS, ACCUMULATE_ORDERING, ALLOC_SHARED_NONCONTIG, ASSERT_MEMORY_KINDS,
    MEMORY_ALIGNMENT, NO_LOCKS, SAME_DISP_UNIT, SAME_SIZE, WIN_LOCK, WIN_LOCK_BYPASSES,
    WIN_LOCK_COUNTER_DISTANCE, WIN_LOCK_LOCALITY, WIN_LOCK_PATIENCE, WIN_LOCK_READERS, WIN_LOCK_WRITERS,
};
use heddle_window::{LockAlgorithm, LockChoice};

/// The locks of windows whose hints say nothing: by `HEDDLE_WIN_LOCK` and `HEDDLE_WIN_LOCK_BYPASSES`.
pub fn default_lock() -> LockChoice {
    let mut choice = LockChoice::default();
    if let Some(settings) = settings::in_force() {
        choice = LockChoice::of(LockAlgorithm::named(settings.win_lock).unwrap_or(choice.algorithm));
        choice.bypasses = settings.win_lock_bypasses;
    }
    choice
}

/// What a program says about its use of a window.
#[derive(Debug, Clone)]
pub struct Hints {
    /// True if the program locks no target.
    pub no_locks: bool,
    /// True if the parts of shared memory need not follow each other.
    pub apart: bool,
    /// The alignment of allocated memory, in bytes.
    pub alignment: usize,
    /// The algorithm of the locks.
    pub lock: LockChoice,
    /// Hints that are recorded and change nothing, since every window gives what they
    /// ask for or does without.
    recorded: [(&'static str, String); 4],
    /// How many bytes accumulates change at a time.
    pub granularity: usize,
    /// The kinds of memory that the program promises to use, if it does.
    pub asserted_kinds: Option<String>,
}

impl Hints {
    /// The hints of an info object. `lock` is the algorithm if they name none.
    pub fn new(entries: &Entries, lock: LockChoice) -> Hints {
        let recorded = [
            (ACCUMULATE_ORDERING, "rar,raw,war,waw"),
            (ACCUMULATE_OPS, "same_op_no_op"),
            (SAME_SIZE, "false"),
            (SAME_DISP_UNIT, "false"),
        ];
        let recorded = recorded.map(|(key, default)| (key, default.to_owned()));
        let mut hints = Hints {
            no_locks: false,
            apart: false,
            alignment: 64,
            lock,
            recorded,
            granularity: settings::in_force().map_or(0, |settings| settings.accumulate_granularity),
            asserted_kinds: None,
        };
        hints.take(entries);
        hints.take_at_creation(entries);
        hints
    }

    /// Takes the hints that may change while a window lives.
    pub fn take(&mut self, entries: &Entries) {
        for (key, value) in entries {
            match (key.as_str(), value.as_str()) {
                (NO_LOCKS, "true" | "false") => self.no_locks = value == "true",
                (ACCUMULATE_OPS, "same_op" | "same_op_no_op")
                | (SAME_SIZE | SAME_DISP_UNIT, "true" | "false") => self.record(key, value),
                (ASSERT_MEMORY_KINDS, kinds) if memory_kinds::can_be_asserted(kinds) => {
                    self.asserted_kinds = Some(kinds.to_owned());
                }
                (ACCUMULATE_ORDERING, _) if is_ordering(value) => self.record(key, value),
                _ => {}
            }
        }
    }

    fn take_at_creation(&mut self, entries: &Entries) {
        let mut algorithms = entries.iter().filter(|(key, _)| key == WIN_LOCK);
        if let Some(algorithm) = algorithms.find_map(|(_, value)| LockAlgorithm::named(value)) {
            // With its usual parameters, which other keys replace.
            self.lock = LockChoice { bypasses: self.lock.bypasses, ..LockChoice::of(algorithm) };
        }
        for (key, value) in entries {
            let number = || value.trim().parse::<usize>().ok().filter(|number| *number > 0);
            match key.as_str() {
                ALLOC_SHARED_NONCONTIG => self.apart = value == "true",
                ACCUMULATE_GRANULARITY => {
                    let wanted = value.trim().parse::<u32>();
                    self.granularity = wanted.map_or(self.granularity, |bytes| bytes as usize);
                }
                MEMORY_ALIGNMENT => {
                    let wanted = number().filter(|number| number.is_power_of_two());
                    self.alignment = wanted.unwrap_or(0).max(self.alignment);
                }
                WIN_LOCK_COUNTER_DISTANCE => {
                    self.lock.counter_distance = number().unwrap_or(self.lock.counter_distance);
                }
                WIN_LOCK_LOCALITY => {
                    self.lock.locality = number().map_or(self.lock.locality, |number| number as u64);
                }
                WIN_LOCK_WRITERS => {
                    self.lock.writers = number().map_or(self.lock.writers, |number| number as u64)
                }
                WIN_LOCK_READERS => {
                    self.lock.readers = value.trim().parse().unwrap_or(self.lock.readers);
                }
                WIN_LOCK_PATIENCE => {
                    self.lock.patience = value.trim().parse().unwrap_or(self.lock.patience);
                }
                WIN_LOCK_BYPASSES => {
                    self.lock.bypasses = settings::bypasses(value).unwrap_or(self.lock.bypasses);
                }
                _ => {}
            }
        }
    }

    fn record(&mut self, key: &str, value: &str) {
        let known = self.recorded.iter_mut().find(|(known, _)| *known == key);
        known.into_iter().for_each(|(_, old)| value.clone_into(old));
    }

    /// All hints, with the values in use.
    pub fn entries(&self) -> Entries {
        let own = [
            (NO_LOCKS, self.no_locks.to_string()),
            (ALLOC_SHARED_NONCONTIG, self.apart.to_string()),
            (MEMORY_ALIGNMENT, self.alignment.to_string()),
            (ACCUMULATE_GRANULARITY, self.granularity.to_string()),
            (WIN_LOCK, self.lock.algorithm.to_string()),
            (WIN_LOCK_COUNTER_DISTANCE, self.lock.counter_distance.to_string()),
            (WIN_LOCK_LOCALITY, self.lock.locality.to_string()),
            (WIN_LOCK_WRITERS, self.lock.writers.to_string()),
            (WIN_LOCK_READERS, self.lock.readers.to_string()),
            (WIN_LOCK_PATIENCE, self.lock.patience.to_string()),
            (WIN_LOCK_BYPASSES, self.lock.bypasses.to_string()),
        ];
        own.into_iter().chain(self.recorded.clone()).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Returns true for `none`, and for a list of `rar`, `raw`, `war` and `waw`.
fn is_ordering(value: &str) -> bool {
    value == "none" || value.split(',').all(|order| ["rar", "raw", "war", "waw"].contains(&order.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(pairs: &[(&str, &str)]) -> Entries {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn unknown_values_are_ignored_and_known_ones_shown() {
        let given = entries(&[
            ("no_locks", "true"),
            ("accumulate_ordering", "raw,waw"),
            ("accumulate_ops", "anything"),
            ("mpi_accumulate_granularity", "-8"),
            ("same_size", "yes"),
            ("heddle_win_lock", "rw"),
            ("heddle_win_lock_writers", "0"),
            ("heddle_win_lock_readers", "2"),
            ("heddle_win_lock_bypasses", "0"),
            ("mpi_minimum_memory_alignment", "4096"),
        ]);
        let hints = Hints::new(&given, LockChoice::default());
        let shown = hints.entries();
        let value = |key: &str| shown.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
        assert_eq!(value("no_locks"), Some("true"));
        assert_eq!(value("accumulate_ordering"), Some("raw,waw"));
        assert_eq!(value("accumulate_ops"), Some("same_op_no_op"));
        assert_eq!(value("mpi_accumulate_granularity"), Some("0"));
        assert_eq!(value("same_size"), Some("false"));
        assert_eq!(value("heddle_win_lock"), Some("rw"));
        assert_eq!(value("heddle_win_lock_writers"), Some("16"));
        assert_eq!(value("heddle_win_lock_readers"), Some("2"));
        assert_eq!(value("heddle_win_lock_bypasses"), Some("0"));
        assert_eq!(hints.lock.bypasses, 0);
        assert_eq!(hints.alignment, 4096);
    }

    #[test]
    fn the_variable_names_every_algorithm_and_the_default_first() {
        let names = LockAlgorithm::ALL.map(|(name, _)| name);
        let variable = settings::Variable::all().find(|variable| variable.name() == "HEDDLE_WIN_LOCK");
        let variable = variable.expect("a variable");
        assert_eq!(variable.allowed(), names.join(", "));
        assert_eq!(variable.default(), names[0]);
        assert_eq!(LockChoice::default().algorithm, LockAlgorithm::ALL[0].1);
        assert_eq!(LockChoice::default().bypasses, settings::Settings::default().win_lock_bypasses);
    }

    #[test]
    fn an_algorithm_brings_its_usual_parameters() {
        let lock = |pairs: &[(&str, &str)]| {
            let given = LockChoice { bypasses: 7, ..LockChoice::default() };
            Hints::new(&entries(pairs), given).lock
        };
        let adaptive = LockChoice { bypasses: 7, ..LockChoice::of(LockAlgorithm::Adaptive) };
        assert_eq!(lock(&[("heddle_win_lock", "adaptive")]), adaptive);
        // In any order.
        let given = [
            ("heddle_win_lock_writers", "9"),
            ("heddle_win_lock", "adaptive"),
            ("heddle_win_lock_patience", "3"),
        ];
        assert_eq!(lock(&given), LockChoice { writers: 9, patience: 3, ..adaptive });
        assert_eq!(lock(&[("heddle_win_lock", "mutex")]).algorithm, LockAlgorithm::QueueRw);
    }

    #[test]
    fn a_living_window_keeps_its_locks_and_its_granularity() {
        let mut hints = Hints::new(&entries(&[("mpi_accumulate_granularity", "64")]), LockChoice::default());
        let later = [("heddle_win_lock", "spin"), ("no_locks", "true"), ("mpi_accumulate_granularity", "0")];
        hints.take(&entries(&later));
        assert_eq!((hints.lock, hints.no_locks, hints.granularity), (LockChoice::default(), true, 64));
    }
}
