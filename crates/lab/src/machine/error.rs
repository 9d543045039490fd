//! Why there is no machine, or why its description cannot be written.

use std::path::PathBuf;

/// Why there is no machine, or why its description cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is neither a size nor a name nor a file.
    #[error(
        "no machine is called {text:?}: write SOCKETSxCORES (2x44: two sockets of 44 cores), a name ({names}), or \
         the path of a file that describes one"
    )]
    Unknown {
        /// The text.
        text: String,
        /// The names.
        names: String,
    },
    /// A file cannot be read.
    #[error("the machine's file {} cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text of a file has another form.
    #[error("the machine {at} is not in TOML's form:\n{source}")]
    Form {
        /// The file, or the name.
        at: String,
        /// Why.
        source: Box<toml::de::Error>,
    },
    /// A description has a key that has no meaning.
    #[error("the machine {at} has the key {key:?}, which means nothing; it may have {allowed}")]
    Key {
        /// The file, or the text.
        at: String,
        /// The key.
        key: String,
        /// The keys that mean something.
        allowed: String,
    },
    /// A key has a value that it may not have.
    #[error("the machine {at} has {key} = {value}; {key} must be {allowed}")]
    Value {
        /// The file, or the text.
        at: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The values that it may have.
        allowed: String,
    },
    /// The machine's tree of files cannot be written.
    #[error("what Linux says of the machine cannot be written to {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
