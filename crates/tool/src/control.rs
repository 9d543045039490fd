//! Control variables: every setting and every part of the model.
//!
//! They can be read at any time. They can be written until MPI is initialised: a value written takes the place of the
//! environment's. It is checked when it is written; whether the values make sense together is found out by `MPI_Init`.

use super::lookup::error;
use super::value::{TEXT, Type};
use heddle_message::domain;
use heddle_message::error::Result;
use heddle_model::{PARTS, Part, Values};
use heddle_settings::{self as settings, SETTINGS, Setting, Settings};
use heddle_spec::constants as mpi;
use std::sync::OnceLock;

#[derive(Debug)]
enum What {
    Setting(&'static Setting),
    Part(&'static Part),
}

/// A control variable.
#[derive(Debug)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// What it means, and what may be given.
    pub meaning: String,
    /// The type of its elements.
    pub kind: Type,
    /// The items of its enumeration, if it has one.
    pub items: Vec<String>,
    what: What,
}

/// All control variables; a variable's index is its place.
pub fn controls() -> &'static [Control] {
    static CONTROLS: OnceLock<Vec<Control>> = OnceLock::new();
    CONTROLS.get_or_init(|| {
        SETTINGS.iter().map(What::Setting).chain(PARTS.iter().map(What::Part)).map(Control::new).collect()
    })
}

impl Control {
    fn new(what: What) -> Control {
        let (variable, meaning, values, allowed) = match what {
            What::Setting(it) => (it.variable, it.meaning, it.values, (it.allowed)()),
            What::Part(it) => (it.variable, it.meaning, it.values, (it.allowed)()),
        };
        let (kind, items) = match values {
            Values::Names => (Type::Item, allowed.split(", ").map(str::to_owned).collect()),
            Values::Numbers => (Type::Number, Vec::new()),
            Values::Text => (Type::Text, Vec::new()),
        };
        Control { name: variable.to_lowercase(), meaning: format!("{meaning}: {allowed}"), kind, items, what }
    }

    fn variable(&self) -> &'static str {
        match self.what {
            What::Setting(setting) => setting.variable,
            What::Part(part) => part.variable,
        }
    }

    /// Whether it is part of the model, or the model itself.
    pub fn is_of_model(&self) -> bool {
        matches!(self.what, What::Part(_)) || self.variable() == "HEDDLE_MODEL"
    }

    /// How many elements it has.
    pub fn count(&self) -> usize {
        if self.kind == Type::Text { TEXT } else { 1 }
    }

    /// `MPI_T_SCOPE_…`
    pub fn scope(&self) -> i32 {
        match self.what {
            What::Setting(setting) if setting.common => mpi::MPI_T_SCOPE_ALL_EQ,
            _ => mpi::MPI_T_SCOPE_LOCAL,
        }
    }

    /// What it looks like in memory.
    ///
    /// # Errors
    /// `MPI_T_ERR_NOT_ACCESSIBLE` if the environment is not text.
    pub fn read(&self) -> Result<Vec<u8>> {
        let text = self.text().map_err(|why| error(mpi::MPI_T_ERR_NOT_ACCESSIBLE, why))?;
        Ok(match self.kind {
            Type::Text => {
                let mut bytes = text.into_bytes();
                // A NUL must have its place.
                bytes.resize(TEXT - 1, 0);
                bytes.push(0);
                bytes
            }
            Type::Item => {
                let place = self.items.iter().position(|item| *item == text);
                place.map_or(-1, |place| place as i32).to_ne_bytes().to_vec()
            }
            _ => text.parse::<u32>().unwrap_or(0).to_ne_bytes().to_vec(),
        })
    }

    /// The value in words.
    fn text(&self) -> std::result::Result<String, String> {
        if let Some(settings) = settings::in_force() {
            return Ok(self.of(settings));
        }
        match Settings::chosen() {
            Ok(settings) => Ok(self.of(&settings)),
            // What was chosen makes no sense as a whole, which MPI_Init will say: this part of it is shown as it is.
            Err(_) => Ok(settings::given(self.variable())?.unwrap_or_default()),
        }
    }

    fn of(&self, settings: &Settings) -> String {
        match self.what {
            What::Setting(setting) => (setting.get)(settings),
            What::Part(part) => (part.get)(&settings.model),
        }
    }

    /// Takes a value that looks so in memory.
    ///
    /// # Errors
    /// `MPI_T_ERR_CVAR_SET_NEVER` once MPI is initialised; `MPI_T_ERR_INVALID` for a value that the variable cannot have.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        if domain::is_initialized() {
            let why = format!("{} is fixed since MPI was initialised; write to it before", self.name);
            return Err(error(mpi::MPI_T_ERR_CVAR_SET_NEVER, why));
        }
        let value = self.text_of(bytes);
        let checked = match (&value, &self.what) {
            (None, _) => Err("there is no such item".to_owned()),
            (Some(value), What::Setting(setting)) => (setting.check)(value),
            (Some(value), What::Part(part)) => settings::check_part(part, value),
        };
        match (checked, value) {
            (Ok(()), Some(value)) => settings::write(self.variable(), value),
            (checked, _) => {
                let why = checked.err().unwrap_or_default();
                return Err(error(
                    mpi::MPI_T_ERR_INVALID,
                    format!("{} cannot have this value: {why}", self.name),
                ));
            }
        }
        Ok(())
    }

    fn text_of(&self, bytes: &[u8]) -> Option<String> {
        if self.kind == Type::Text {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            return Some(String::from_utf8_lossy(&bytes[..end]).into_owned());
        }
        let word = bytes.first_chunk()?;
        if self.kind == Type::Item {
            return self.items.get(usize::try_from(i32::from_ne_bytes(*word)).ok()?).cloned();
        }
        Some(u32::from_ne_bytes(*word).to_string())
    }
}
