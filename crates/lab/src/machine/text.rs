//! The text of a file that describes a machine: reading it, and writing it.
//!
//! It is in TOML. `base` is a size or the name of a known machine, whose sizes and costs count where the text
//! has none:
//!
//! ```toml
//! base = "epyc-7742"
//! sockets = 1
//! [costs]
//! pause = 24.4 # nanoseconds
//! ```

use super::costs::{Costs, Measure, ROWS, Row};
use super::parse::unknown;
use super::{Error, Machine};
use std::fmt;
use toml::{Table, Value};

/// The keys outside of `[costs]`.
const KEYS: [&str; 7] = ["base", "name", "sockets", "clusters", "cores", "last_level", "costs"];

/// The base where a text has none.
const BASE: &str = "xeon-8375c";

/// The longest time that a cost may be: a second.
const LONGEST: u64 = 1_000_000_000_000;

impl Machine {
    /// The machine that `text` describes; `at` says in errors where the text is, and `name` is the machine's
    /// where the text has none.
    ///
    /// # Errors
    ///
    /// [`Error`] says what is wrong in the text.
    pub fn from_text(at: &str, name: &str, text: &str) -> Result<Self, Error> {
        let form = |source| Error::Form { at: at.to_owned(), source: Box::new(source) };
        let table: Table = text.parse().map_err(form)?;
        let allowed = || KEYS.join(", ");
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Error::Key { at: at.to_owned(), key: key.clone(), allowed: allowed() });
        }
        let base = words(at, &table, "base")?.unwrap_or(BASE);
        let mut machine = Self::of_argument(base).unwrap_or_else(|| Err(unknown(base)))?;
        machine.name = words(at, &table, "name")?.unwrap_or(name).to_owned();
        for (key, count) in [
            ("sockets", &mut machine.sockets),
            ("clusters", &mut machine.clusters),
            ("cores", &mut machine.cores),
            ("last_level", &mut machine.last_level),
        ] {
            if let Some(value) = table.get(key) {
                let number = value.as_integer().and_then(|number| usize::try_from(number).ok());
                *count = number.ok_or_else(|| refused(at, key, value, "a whole number"))?;
            }
        }
        if let Some(level) = table.get("last_level").filter(|_| ![2, 3].contains(&machine.last_level)) {
            return Err(refused(at, "last_level", level, "2 or 3"));
        }
        match table.get("costs") {
            Some(Value::Table(costs)) => read_costs(at, costs, &mut machine.costs)?,
            Some(value) => return Err(refused(at, "costs", value, "a table, [costs]")),
            None => {}
        }
        machine.check_size(at)
    }
}

fn refused(at: &str, key: &str, value: &Value, allowed: &str) -> Error {
    let (at, key, allowed) = (at.to_owned(), key.to_owned(), allowed.to_owned());
    Error::Value { at, key, value: value.to_string(), allowed }
}

/// The words that stand at a key, if it is there.
fn words<'a>(at: &str, table: &'a Table, key: &str) -> Result<Option<&'a str>, Error> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let words = value.as_str().filter(|words| !words.is_empty());
    words.map(Some).ok_or_else(|| refused(at, key, value, "words in quotation marks"))
}

fn read_costs(at: &str, table: &Table, costs: &mut Costs) -> Result<(), Error> {
    for (key, value) in table {
        let Some(row) = ROWS.iter().find(|row| row.name == key) else {
            let allowed = ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            return Err(Error::Key { at: at.to_owned(), key: format!("costs.{key}"), allowed });
        };
        *(row.get_mut)(costs) =
            row.read(value).ok_or_else(|| refused(at, &format!("costs.{key}"), value, &row.allowed()))?;
    }
    Ok(())
}

impl Row {
    /// The field of what is written.
    fn read(&self, value: &Value) -> Option<u64> {
        let most = self.most();
        let field = match (self.measure, value) {
            (Measure::Nanoseconds, Value::Float(nanoseconds)) => {
                let picoseconds = (nanoseconds * 1e3).round();
                // The cast is exact: up to a second, and a whole number.
                (0.0..=most as f64).contains(&picoseconds).then_some(picoseconds as u64)
            }
            (Measure::Nanoseconds, value) => u64::try_from(value.as_integer()?).ok()?.checked_mul(1000),
            (Measure::Ticks | Measure::Lines | Measure::Instructions, value) => {
                u64::try_from(value.as_integer()?).ok()
            }
        };
        field.filter(|field| (self.least..=most).contains(field))
    }

    /// A field as it is written.
    pub(super) fn written(&self, costs: &Costs) -> String {
        let field = (self.get)(costs);
        match self.measure {
            // The shortest digits that come back as the same picoseconds.
            Measure::Nanoseconds => (field as f64 / 1e3).to_string(),
            Measure::Ticks | Measure::Lines | Measure::Instructions => field.to_string(),
        }
    }

    fn most(&self) -> u64 {
        match self.measure {
            Measure::Nanoseconds => LONGEST,
            Measure::Ticks => 1_000_000,
            Measure::Lines => 1 << 30,
            Measure::Instructions => 10_000,
        }
    }

    fn allowed(&self) -> String {
        match self.measure {
            Measure::Nanoseconds => {
                format!("nanoseconds, from {} to {}", self.least as f64 / 1e3, LONGEST / 1000)
            }
            Measure::Ticks => format!("ticks in a microsecond, a whole number from 1 to {}", self.most()),
            Measure::Instructions => format!("instructions, a whole number from 1 to {}", self.most()),
            Measure::Lines => format!("lines of 64 bytes, a whole number from 1 to {}", self.most()),
        }
    }
}

/// The text of a file that describes this machine: [`Machine::from_text`] makes the same machine of it.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name = {}", Value::String(self.name.clone()))?;
        writeln!(f, "sockets = {}", self.sockets)?;
        writeln!(f, "clusters = {} # per socket: cores that share a last-level cache", self.clusters)?;
        writeln!(f, "cores = {} # per cluster", self.cores)?;
        writeln!(f, "last_level = {} # of caches, which a cluster shares", self.last_level)?;
        writeln!(f, "\n# In nanoseconds, except for ticks, lines and instructions.\n[costs]")?;
        for row in ROWS {
            writeln!(f, "{} = {} #{}", row.name, row.written(&self.costs), row.meaning)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::known;

    fn machine(text: &str) -> Result<Machine, Error> {
        Machine::from_text("lab.toml", "lab", text)
    }

    #[test]
    fn what_is_written_comes_back() {
        for name in known::names().chain(["2x44", "1x192"]) {
            let known = Machine::parse(name).expect(name);
            let text = known.to_string();
            assert_eq!(machine(&text).expect(&text), known, "{text}");
        }
        let odd = Machine { name: "say \"2 # 3\"\n".to_owned(), ..Machine::parse("here-2").expect("a name") };
        assert_eq!(machine(&odd.to_string()).expect("text"), odd);
    }

    /// All picoseconds that a cost may have are written as such.
    #[test]
    fn every_picosecond_comes_back() {
        let mut odd = Machine::parse("here-2").expect("a name");
        for (number, row) in ROWS.iter().enumerate() {
            *(row.get_mut)(&mut odd.costs) = 999_999_999_999 >> number | 1;
        }
        odd.costs.ticks = 999_999;
        odd.costs.window = 9_999;
        odd.costs.core_lines = 1 << 30;
        odd.costs.cluster_lines = 1;
        assert_eq!(machine(&odd.to_string()).expect("text").costs, odd.costs);
    }

    #[test]
    fn a_text_without_anything_is_a_plain_server() {
        let plain = machine("# nothing\n").expect("a machine");
        assert_eq!(plain, Machine { name: "lab".to_owned(), ..Machine::parse(BASE).expect("a name") });
        assert_eq!(plain.costs, Machine::parse("2x44").expect("a size").costs);
    }

    #[test]
    fn a_text_changes_its_base() {
        let text =
            "base = \"4x8\"\nname = \"mine\"\nclusters = 2\n[costs]\npause = 3\nfar = 0.1234\nticks = 2000";
        let changed = machine(text).expect("a machine");
        assert_eq!((changed.name.as_str(), changed.cores_in_all()), ("mine", 64));
        assert_eq!((changed.costs.pause, changed.costs.far, changed.costs.ticks), (3000, 123, 2000));
        assert_eq!(changed.costs.memory, known::PLAIN.memory);
    }

    #[test]
    fn errors_name_the_text_the_key_and_the_values() {
        for (text, parts) in [
            ("sokets = 2", ["\"sokets\"", "clusters"]),
            ("[costs]\npauze = 2", ["costs.pauze", "timestamp"]),
            ("costs = 2", ["costs = 2", "[costs]"]),
            ("sockets = -1", ["sockets = -1", "whole number"]),
            ("sockets = 0", ["sockets = 0", "from 1 to 192"]),
            ("cores = 97", ["194", "at most 192"]),
            ("cores = 2.5", ["cores = 2.5", "whole number"]),
            ("last_level = 4", ["last_level = 4", "2 or 3"]),
            ("name = 3", ["name = 3", "quotation marks"]),
            ("[costs]\npause = -0.5", ["costs.pause = -0.5", "from 0 to"]),
            ("[costs]\npause = nan", ["costs.pause = nan", "nanoseconds"]),
            ("[costs]\npause = 1e10", ["costs.pause = 1", "1000000000"]),
            ("[costs]\ninstruction = 0", ["costs.instruction = 0", "0.001"]),
            ("[costs]\nticks = 2.5", ["costs.ticks = 2.5", "a microsecond"]),
            ("[costs]\ncore_lines = 0", ["costs.core_lines = 0", "64 bytes"]),
            ("[costs", ["TOML", "line 1"]),
        ] {
            let error = machine(text).expect_err(text).to_string();
            assert!(error.contains("lab.toml"), "{error}");
            assert!(parts.iter().all(|part| error.contains(part)), "{text:?} gives {error}");
        }
        let error = machine("base = \"other.toml\"").expect_err("a file").to_string();
        assert!(error.contains("other.toml") && error.contains("xeon-16"), "{error}");
    }
}
