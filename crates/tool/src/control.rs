//! Control variables: every setting and every part of the model.
//!
//! A program can read them at any time, and write them until MPI is initialised. A written value replaces the
//! environment's. Each value is checked when it is written; `MPI_Init` finds out whether the values make
//! sense together.

use super::lookup::error;
use super::value::{TEXT, Type};
use heddle_message::domain;
use heddle_message::error::Result;
use heddle_model::{Class, Values};
use heddle_settings::{self as settings, Settings, Variable};
use heddle_spec::constants as mpi;
use std::sync::OnceLock;

/// A control variable.
#[derive(Debug)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// Its meaning and the allowed values, in words.
    pub meaning: String,
    /// The type of its elements.
    pub kind: Type,
    /// The items of its enumeration, if it has one.
    pub items: Vec<String>,
    variable: Variable,
}

/// All control variables, in the order of their indices.
pub fn controls() -> &'static [Control] {
    static CONTROLS: OnceLock<Vec<Control>> = OnceLock::new();
    CONTROLS.get_or_init(|| Variable::all().map(Control::new).collect())
}

impl Control {
    fn new(variable: Variable) -> Control {
        let allowed = variable.allowed();
        let (kind, items) = match variable.values() {
            Values::Names => (Type::Item, allowed.split(", ").map(str::to_owned).collect()),
            Values::Numbers => (Type::Number, Vec::new()),
            Values::Text => (Type::Text, Vec::new()),
        };
        let meaning = format!("{}: {allowed}", variable.meaning());
        Control { name: variable.name().to_lowercase(), meaning, kind, items, variable }
    }

    /// Returns true if it is the model or a part of it.
    pub fn is_of_model(&self) -> bool {
        self.variable.is_of_model()
    }

    /// Returns true if it is the algorithm of a collective operation, or a switch point.
    pub fn is_of_collectives(&self) -> bool {
        self.variable.is_of_collectives()
    }

    /// The number of its elements.
    pub fn count(&self) -> usize {
        if self.kind == Type::Text { TEXT } else { 1 }
    }

    /// `MPI_T_VERBOSITY_…`, by the class of the setting.
    pub fn verbosity(&self) -> i32 {
        match self.variable.class() {
            Class::User => mpi::MPI_T_VERBOSITY_USER_BASIC,
            Class::Tuning => mpi::MPI_T_VERBOSITY_TUNER_DETAIL,
            Class::Research => mpi::MPI_T_VERBOSITY_MPIDEV_DETAIL,
        }
    }

    /// `MPI_T_SCOPE_…`
    pub fn scope(&self) -> i32 {
        if self.variable.is_common() { mpi::MPI_T_SCOPE_ALL_EQ } else { mpi::MPI_T_SCOPE_LOCAL }
    }

    /// Its value as C sees it: the bytes of its elements, in the machine's order.
    ///
    /// # Errors
    /// `MPI_T_ERR_NOT_ACCESSIBLE` if the environment is not text.
    pub fn read(&self) -> Result<Vec<u8>> {
        let text = self.text().map_err(|why| error(mpi::MPI_T_ERR_NOT_ACCESSIBLE, why))?;
        Ok(match self.kind {
            Type::Text => {
                let mut bytes = text.into_bytes();
                // The text ends with a NUL, if need be by cutting it short.
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
            return Ok(self.variable.get(settings));
        }
        match Settings::chosen() {
            Ok(settings) => Ok(self.variable.get(&settings)),
            // The settings as a whole make no sense, and MPI_Init will refuse them. This one is shown as it
            // was given.
            Err(_) => Ok(settings::given(self.variable.name())?.unwrap_or_default()),
        }
    }

    /// Sets it to a value given as C sees it.
    ///
    /// # Errors
    /// `MPI_T_ERR_CVAR_SET_NEVER` once MPI is initialised; `MPI_T_ERR_INVALID` for a value that the variable
    /// cannot have.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        if domain::ever().is_some() {
            let why = format!("{} is fixed since MPI was initialised; write to it before", self.name);
            return Err(error(mpi::MPI_T_ERR_CVAR_SET_NEVER, why));
        }
        let value = self.text_of(bytes);
        let checked = match &value {
            None => Err("there is no such item".to_owned()),
            Some(value) => self.variable.check(value),
        };
        match (checked, value) {
            (Ok(()), Some(value)) => settings::write(self.variable.name(), value),
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
