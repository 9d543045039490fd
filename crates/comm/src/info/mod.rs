//! Info objects: texts under keys, in the order in which they were set (MPI 5.0, chapter 10).
//!
//! They need no running library. `environment.rs` has the contents of `MPI_INFO_ENV`.

mod environment;

pub use environment::{environment, environment_with};

use crate::error::{Error, Result};
use heddle_objects::table::{ObjectKind, Ref, Table};
use heddle_spec::constants as mpi;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keys and values.
pub type Entries = Vec<(String, String)>;

/// The keys and values of an info object. Any thread may read and change it.
#[derive(Debug, Default)]
pub struct Info(Mutex<Entries>);

/// All info objects but the predefined one.
pub static INFOS: Table<Info> = Table::new(ObjectKind::Info);

/// The longest key, without C's end mark.
const LONGEST_KEY: usize = mpi::MPI_MAX_INFO_KEY as usize - 1;
/// The longest value, without C's end mark.
const LONGEST_VALUE: usize = mpi::MPI_MAX_INFO_VAL as usize - 1;

/// An info object in use.
#[derive(Debug)]
pub enum InfoRef {
    /// `MPI_INFO_ENV`, with its values at this time.
    Environment(Entries),
    /// Any other.
    Counted(Ref<Info>),
}

/// The info object of a handle.
///
/// # Errors
/// `MPI_ERR_INFO` for anything that is not a live info object's handle.
pub fn from_handle(handle: usize) -> Result<InfoRef> {
    if handle == mpi::MPI_INFO_ENV {
        return Ok(InfoRef::Environment(environment()));
    }
    INFOS.get(handle).map(InfoRef::Counted).ok_or_else(|| bad_handle(handle))
}

/// The keys and values of a handle's info object; none for `MPI_INFO_NULL`. For arguments that are hints.
///
/// # Errors
/// `MPI_ERR_INFO`.
pub fn hints(handle: usize) -> Result<Entries> {
    if handle == mpi::MPI_INFO_NULL { Ok(Vec::new()) } else { Ok(from_handle(handle)?.entries()) }
}

/// A new info object with these entries; returns its handle.
pub fn new_handle(entries: Entries) -> usize {
    INFOS.insert(Info(Mutex::new(entries)))
}

/// Frees a handle.
///
/// # Errors
/// `MPI_ERR_INFO` for anything that is not a live info object's handle, and for `MPI_INFO_ENV`.
pub fn free(handle: usize) -> Result<()> {
    match INFOS.remove(handle) {
        Some(_) => Ok(()),
        None if handle == mpi::MPI_INFO_ENV => Err(read_only()),
        None => Err(bad_handle(handle)),
    }
}

#[cold]
fn bad_handle(handle: usize) -> Error {
    let what = if handle == mpi::MPI_INFO_NULL {
        "MPI_INFO_NULL is not an info object to work with".to_owned()
    } else {
        format!("{handle:#x} is not an info object: never made, or freed already")
    };
    Error::new(mpi::MPI_ERR_INFO, what)
}

#[cold]
fn read_only() -> Error {
    Error::new(mpi::MPI_ERR_INFO, "MPI_INFO_ENV is predefined: it can be neither changed nor freed")
}

/// Checks a key.
///
/// # Errors
/// `MPI_ERR_INFO_KEY` if it is empty or too long.
fn check_key(key: &str) -> Result<()> {
    let message = match key.len() {
        0 => "an info key is empty".to_owned(),
        len if len > LONGEST_KEY => {
            format!(
                "an info key of {len} bytes is too long: MPI_MAX_INFO_KEY allows {LONGEST_KEY} and the end mark"
            )
        }
        _ => return Ok(()),
    };
    Err(Error::new(mpi::MPI_ERR_INFO_KEY, message))
}

impl InfoRef {
    fn read<R>(&self, read: impl FnOnce(&Entries) -> R) -> R {
        match self {
            InfoRef::Environment(entries) => read(entries),
            InfoRef::Counted(info) => read(&info.lock()),
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Entries) -> Result<R>) -> Result<R> {
        match self {
            InfoRef::Environment(_) => Err(read_only()),
            InfoRef::Counted(info) => change(&mut info.lock()),
        }
    }

    /// All keys and values.
    pub fn entries(&self) -> Entries {
        self.read(Clone::clone)
    }

    /// Sets a value; an existing key keeps its position.
    ///
    /// # Errors
    /// `MPI_ERR_INFO_KEY`, `MPI_ERR_INFO_VALUE` for texts that are too long or an empty key;
    /// `MPI_ERR_INFO` for `MPI_INFO_ENV`.
    pub fn set(&self, key: &str, value: &str) -> Result<()> {
        check_key(key)?;
        if value.len() > LONGEST_VALUE {
            let message = format!(
                "the value of info key \"{key}\" is too long with {} bytes: MPI_MAX_INFO_VAL allows {LONGEST_VALUE} \
                 and the end mark",
                value.len()
            );
            return Err(Error::new(mpi::MPI_ERR_INFO_VALUE, message));
        }
        self.change(|entries| {
            match entries.iter_mut().find(|(known, _)| known == key) {
                Some((_, old)) => value.clone_into(old),
                None => entries.push((key.to_owned(), value.to_owned())),
            }
            Ok(())
        })
    }

    /// The value under a key.
    ///
    /// # Errors
    /// `MPI_ERR_INFO_KEY` for an empty key or one that is too long.
    pub fn get(&self, key: &str) -> Result<Option<String>> {
        check_key(key)?;
        Ok(self
            .read(|entries| entries.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())))
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.read(Vec::len)
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key with a number, from 0.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` if the index is out of range.
    pub fn key(&self, number: i32) -> Result<String> {
        self.read(|entries| {
            let key = entries.get(number as usize).map(|(key, _)| key.clone());
            key.ok_or_else(|| {
                let message =
                    format!("there is no info key number {number}: the object has {}", entries.len());
                Error::new(mpi::MPI_ERR_ARG, message)
            })
        })
    }

    /// Removes a key.
    ///
    /// # Errors
    /// `MPI_ERR_INFO_NOKEY` if it is not there; `MPI_ERR_INFO_KEY` as for [`InfoRef::get`];
    /// `MPI_ERR_INFO` for `MPI_INFO_ENV`.
    pub fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        self.change(|entries| match entries.iter().position(|(known, _)| known == key) {
            Some(index) => {
                entries.remove(index);
                Ok(())
            }
            None => Err(Error::new(mpi::MPI_ERR_INFO_NOKEY, format!("the info object has no key \"{key}\""))),
        })
    }
}

impl Info {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_values_change() {
        let handle = new_handle(Vec::new());
        let info = from_handle(handle).expect("live");
        for (key, value) in [("warp", "linen"), ("weft", "wool"), ("width", "120"), ("weft", "silk")] {
            info.set(key, value).expect("valid");
        }
        let keys: Vec<String> = (0..3).map(|n| info.key(n).expect("three keys")).collect();
        assert_eq!((info.len(), keys), (3, vec!["warp".to_owned(), "weft".to_owned(), "width".to_owned()]));
        assert_eq!(info.get("weft").expect("valid").as_deref(), Some("silk"));
        info.delete("warp").expect("there");
        assert_eq!(info.key(0).expect("two keys"), "weft");
        assert_eq!(info.delete("warp").expect_err("gone").code(), mpi::MPI_ERR_INFO_NOKEY);
        for wrong in [-1, 2] {
            assert_eq!(info.key(wrong).expect_err("no such key").code(), mpi::MPI_ERR_ARG);
        }
        free(handle).expect("live");
        assert_eq!(from_handle(handle).expect_err("freed").code(), mpi::MPI_ERR_INFO);
        assert_eq!(free(handle).expect_err("freed").code(), mpi::MPI_ERR_INFO);
    }

    #[test]
    fn limits_of_keys_and_values() {
        let info = from_handle(new_handle(Vec::new())).expect("live");
        let text = |len| "x".repeat(len);
        info.set(&text(255), &text(1023)).expect("as long as can be");
        assert_eq!(info.set(&text(256), "").expect_err("too long").code(), mpi::MPI_ERR_INFO_KEY);
        assert_eq!(info.set("", "value").expect_err("empty").code(), mpi::MPI_ERR_INFO_KEY);
        assert_eq!(info.set("key", &text(1024)).expect_err("too long").code(), mpi::MPI_ERR_INFO_VALUE);
        assert_eq!(info.get("").expect_err("empty").code(), mpi::MPI_ERR_INFO_KEY);
    }

    #[test]
    fn the_environment_is_read_only() {
        let info = from_handle(mpi::MPI_INFO_ENV).expect("predefined");
        assert_eq!(info.set("key", "value").expect_err("read only").code(), mpi::MPI_ERR_INFO);
        assert_eq!(free(mpi::MPI_INFO_ENV).expect_err("predefined").code(), mpi::MPI_ERR_INFO);
        assert!(info.get("command").expect("valid").is_some());
        assert_eq!(info.get("maxprocs").expect("valid").as_deref(), Some("1"));
        assert_eq!(hints(mpi::MPI_INFO_NULL).expect("no hints"), []);
    }
}
