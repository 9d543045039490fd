//! Kinds of values: which values a setting takes, and how they are read and written.

use super::options::Choice;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

/// The form of a setting's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// The allowed names, with ", " between them.
    Names,
    /// Numbers.
    Numbers,
    /// Text in a form of its own.
    Text,
}

/// A kind of values.
pub trait ValueKind {
    /// A value, as the code uses it.
    type Value;

    /// The form of the values.
    fn form(&self) -> Values;

    /// The allowed values, for a sentence.
    fn allowed(&self) -> String;

    /// Reads a value.
    ///
    /// # Errors
    /// A sentence that says which values are allowed.
    fn read(&self, text: &str) -> Result<Self::Value, String>;

    /// Writes a value as it is read.
    fn write(&self, value: &Self::Value) -> String;

    /// Some allowed values, to try them in combination with those of other settings.
    fn examples(&self) -> Vec<String>;

    /// The names with their meanings, if the values are names that need an explanation.
    fn meanings(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// The options of a [`Choice`].
#[derive(Debug)]
pub struct Names<C>(PhantomData<C>);

impl<C> Names<C> {
    /// All options.
    pub const ALL: Names<C> = Names(PhantomData);
}

impl<C: Choice> ValueKind for Names<C> {
    type Value = C;

    fn form(&self) -> Values {
        Values::Names
    }

    fn allowed(&self) -> String {
        C::names()
    }

    fn read(&self, text: &str) -> Result<C, String> {
        C::from_name(text).map_err(|_| format!("one of {} is wanted", self.allowed()))
    }

    fn write(&self, value: &C) -> String {
        value.name().to_owned()
    }

    fn examples(&self) -> Vec<String> {
        self.meanings().into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn meanings(&self) -> Vec<(&'static str, &'static str)> {
        C::OPTIONS.iter().map(|&(_, name, meaning)| (name, meaning)).collect()
    }
}

/// Some values that have names.
#[derive(Debug)]
pub struct OneOf<T: 'static> {
    /// The values.
    pub values: &'static [T],
    /// The name of each.
    pub name: fn(T) -> &'static str,
}

impl<T: Copy> OneOf<T> {
    fn names(&self) -> Vec<&'static str> {
        self.values.iter().map(|&value| (self.name)(value)).collect()
    }
}

impl<T: Copy> ValueKind for OneOf<T> {
    type Value = T;

    fn form(&self) -> Values {
        Values::Names
    }

    fn allowed(&self) -> String {
        self.names().join(", ")
    }

    fn read(&self, text: &str) -> Result<T, String> {
        let found = self.values.iter().find(|&&value| (self.name)(value) == text);
        found.copied().ok_or_else(|| format!("one of {} is wanted", self.allowed()))
    }

    fn write(&self, value: &T) -> String {
        (self.name)(*value).to_owned()
    }

    fn examples(&self) -> Vec<String> {
        self.names().into_iter().map(str::to_owned).collect()
    }
}

/// Numbers from one to another one.
#[derive(Debug)]
pub struct Number<T> {
    /// The smallest allowed number.
    pub least: T,
    /// The largest allowed number.
    pub most: T,
}

impl<T: Copy + PartialOrd + Display + FromStr> ValueKind for Number<T> {
    type Value = T;

    fn form(&self) -> Values {
        Values::Numbers
    }

    fn allowed(&self) -> String {
        format!("a number from {} to {}", self.least, self.most)
    }

    fn read(&self, text: &str) -> Result<T, String> {
        let number = text.parse().ok().filter(|number| (self.least..=self.most).contains(number));
        number.ok_or_else(|| format!("{} is wanted", self.allowed()))
    }

    fn write(&self, value: &T) -> String {
        value.to_string()
    }

    fn examples(&self) -> Vec<String> {
        vec![self.least.to_string(), "100".to_owned()]
    }
}

/// Values with functions of their own that read and write them.
pub struct Custom<T> {
    /// The form of the values.
    pub form: Values,
    /// The allowed values, for a sentence.
    pub allowed: fn() -> String,
    /// Reads a value, or says in a sentence which are wanted.
    pub read: fn(&str) -> Result<T, String>,
    /// Writes a value.
    pub write: fn(&T) -> String,
    /// Some allowed values.
    pub examples: fn() -> Vec<&'static str>,
}

impl<T> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.form, (self.allowed)())
    }
}

impl<T> ValueKind for Custom<T> {
    type Value = T;

    fn form(&self) -> Values {
        self.form
    }

    fn allowed(&self) -> String {
        (self.allowed)()
    }

    fn read(&self, text: &str) -> Result<T, String> {
        (self.read)(text)
    }

    fn write(&self, value: &T) -> String {
        (self.write)(value)
    }

    fn examples(&self) -> Vec<String> {
        (self.examples)().into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_within_their_bounds() {
        let kind = Number { least: 1_u32, most: 64 };
        for text in ["1", "64"] {
            assert_eq!(kind.read(text).map(|number| kind.write(&number)), Ok(text.to_owned()));
        }
        for wrong in ["", "0", "65", "-1", "1.5", " 1", "4294967297", "no"] {
            assert_eq!(kind.read(wrong), Err("a number from 1 to 64 is wanted".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn one_of_some_values_is_found_by_its_name() {
        let kind = OneOf { values: &[3_usize, 5], name: |value| if value == 3 { "three" } else { "five" } };
        assert_eq!(kind.read("five"), Ok(5));
        assert_eq!(kind.write(&3), "three");
        assert_eq!(kind.read("four"), Err("one of three, five is wanted".to_owned()));
    }
}
