//! PMIx's library, opened at run time: a process without such a launcher needs none.

use super::abi;
use crate::BootstrapError;
use libloading::Library as Loaded;
use std::ffi::{CStr, OsString, c_int};
use std::mem::ManuallyDrop;
use std::path::PathBuf;

const LIBRARY: &str = "libpmix.so.2";

/// The folder of the launcher's installation, if it has been moved since it was made.
const PREFIX: &str = "PMIX_PREFIX";

/// The library's functions.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) init: abi::Init,
    pub(super) get: abi::Get,
    pub(super) put: abi::Put,
    pub(super) commit: abi::Commit,
    pub(super) fence: abi::Fence,
    pub(super) finalize: abi::Finalize,
    pub(super) abort: abi::Abort,
    pub(super) register_event_handler: abi::RegisterEventHandler,
    error_string: abi::ErrorString,
    /// Stays loaded, because the library has a thread of its own.
    _library: ManuallyDrop<Loaded>,
}

/// The files to try, in this order. The launcher's own library goes first, since `PMIX_PREFIX` misleads
/// another one in the search for its parts; Open MPI keeps it apart from its other libraries.
fn candidates(lookup: impl Fn(&'static str) -> Option<OsString>) -> Vec<PathBuf> {
    let folders = ["lib", "lib64", "lib/openmpi"];
    let prefix = lookup(PREFIX).map(PathBuf::from);
    let own = prefix.iter().flat_map(|prefix| folders.map(|folder| prefix.join(folder).join(LIBRARY)));
    own.filter(|file| file.exists()).chain([PathBuf::from(LIBRARY)]).collect()
}

impl Library {
    /// Opens the library.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub(super) fn open() -> Result<Library, BootstrapError> {
        Library::first_of(candidates(std::env::var_os))
    }

    fn first_of(files: Vec<PathBuf>) -> Result<Library, BootstrapError> {
        let mut why = Vec::new();
        for file in files {
            match Library::load(&file) {
                Ok(library) => return Ok(library),
                Err(error) => why.push(error.to_string()),
            }
        }
        Err(BootstrapError::NoPmix { why: why.join("; ") })
    }

    fn load(file: &PathBuf) -> Result<Library, libloading::Error> {
        // SAFETY: loading PMIx only initialises it, which may happen at any time.
        let library = unsafe { Loaded::new(file) }?;
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: the type is the one of the function of that name.
                let function = unsafe { library.get($name.to_bytes_with_nul()) }?;
                *function
            }};
        }
        Ok(Library {
            init: function!(c"PMIx_Init"),
            get: function!(c"PMIx_Get"),
            put: function!(c"PMIx_Put"),
            commit: function!(c"PMIx_Commit"),
            fence: function!(c"PMIx_Fence"),
            finalize: function!(c"PMIx_Finalize"),
            abort: function!(c"PMIx_Abort"),
            register_event_handler: function!(c"PMIx_Register_event_handler"),
            error_string: function!(c"PMIx_Error_string"),
            _library: ManuallyDrop::new(library),
        })
    }

    /// Returns an error if the status of a call says so. `call` is its name with what it was about.
    pub(super) fn check(&self, call: &str, status: c_int) -> Result<(), BootstrapError> {
        if status == abi::SUCCESS {
            return Ok(());
        }
        // SAFETY: the function takes any number.
        let words = unsafe { (self.error_string)(status) };
        // SAFETY: the library answers with a string that it keeps.
        let words = unsafe { CStr::from_ptr(words) }.to_string_lossy();
        Err(BootstrapError::Launcher { what: format!("{call} gives {words} ({status})") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_the_launcher_goes_first() {
        let prefix = std::env::temp_dir().join(format!("heddle-pmix-{}", std::process::id()));
        let own = prefix.join("lib/openmpi").join(LIBRARY);
        std::fs::create_dir_all(own.parent().expect("a folder")).expect("a folder");
        std::fs::write(&own, "").expect("a file");
        let found = candidates(|name| (name == PREFIX).then(|| prefix.clone().into()));
        std::fs::remove_dir_all(&prefix).expect("removed");
        assert_eq!(found, [own, LIBRARY.into()]);
        assert_eq!(candidates(|_| None), [PathBuf::from(LIBRARY)]);
    }

    #[test]
    fn an_absent_library_is_named_with_what_to_install() {
        let absent = Library::first_of(vec!["/nowhere/libpmix.so.2".into()]).expect_err("no library");
        let text = absent.to_string();
        for says in ["/nowhere/libpmix.so.2", "PMIX_NAMESPACE", "Debian's libpmix2", "LD_LIBRARY_PATH"] {
            assert!(text.contains(says), "{text}");
        }
    }
}
