//! The job's memory file, as a rank holds it.
//!
//! If the program has closed its descriptor, the file is opened again, for one use, by the path that leads to
//! it from another process. If there is none, the use is an error.

use crate::descriptor::HeldFile;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

/// The job's memory file.
#[derive(Debug)]
pub struct MemoryFile {
    file: HeldFile,
    /// A path that leads to the file, perhaps as long as another process has it open.
    path: Option<PathBuf>,
}

impl MemoryFile {
    pub(crate) fn new(file: File, path: Option<PathBuf>) -> io::Result<MemoryFile> {
        Ok(MemoryFile { file: HeldFile::new(file)?, path })
    }

    /// Passes the file to `use_it`.
    ///
    /// # Errors
    /// That of `use_it`; an error that says so if the program has closed the descriptor, and no path leads to
    /// the file.
    pub fn with<R>(&self, use_it: impl FnOnce(BorrowedFd<'_>) -> io::Result<R>) -> io::Result<R> {
        match self.file.get() {
            Some(file) => use_it(file.as_fd()),
            None => use_it(self.open_again()?.as_fd()),
        }
    }

    #[cold]
    fn open_again(&self) -> io::Result<File> {
        let why = match &self.path {
            None => "cannot be opened again".to_owned(),
            Some(path) => match OpenOptions::new().read(true).write(true).open(path) {
                Ok(file) if self.file.is(&file) => return Ok(file),
                Ok(_) => format!("cannot be opened again, as {} is another file", path.display()),
                Err(error) => format!("cannot be opened again by {}: {error}", path.display()),
            },
        };
        Err(io::Error::other(format!(
            "the program has closed descriptor {}, which it did not open; it led to the job's memory, which {why}. \
             Close only descriptors that the program has opened",
            self.file.number()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobControl;
    use std::io::{Read, Seek, Write};
    use std::os::fd::{AsRawFd, FromRawFd};

    fn length(fd: BorrowedFd<'_>) -> io::Result<u64> {
        File::from(fd.try_clone_to_owned()?).metadata().map(|status| status.len())
    }

    /// Puts a file of the program under the number of the job's.
    fn replace(memory: &MemoryFile, by: &File) {
        // SAFETY: the numbers are those of open files of the test.
        assert_eq!(unsafe { libc::dup2(by.as_raw_fd(), memory.file.number()) }, memory.file.number());
    }

    fn a_file() -> File {
        // SAFETY: the name is a C string.
        let fd = unsafe { libc::memfd_create(c"a program's".as_ptr(), libc::MFD_CLOEXEC) };
        assert!(fd >= 0);
        // SAFETY: the kernel has just given this descriptor to the test.
        let mut file = unsafe { File::from_raw_fd(fd) };
        file.write_all(b"mine").expect("written");
        file
    }

    #[test]
    fn another_file_under_the_number_is_not_touched() {
        let memory =
            MemoryFile::new(JobControl::create(1).expect("a job").into_file(), None).expect("a file");
        memory.with(|fd| crate::mapping::lengthen(fd, 1 << 20)).expect("it is the job's");
        let mut programs = a_file();
        replace(&memory, &programs);
        let error = memory.with(|fd| crate::mapping::lengthen(fd, 1 << 21)).expect_err("another file");
        assert!(error.to_string().contains(&format!("descriptor {}", memory.file.number())), "{error}");
        let number = memory.file.number();
        drop(memory);
        // SAFETY: asks for a flag of a descriptor only.
        assert!(unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0, "the program's descriptor stays open");
        let mut text = String::new();
        programs.rewind().expect("a file");
        programs.read_to_string(&mut text).expect("text");
        assert_eq!(text, "mine");
        // SAFETY: the test's own descriptor, which nothing else closes.
        assert_eq!(unsafe { libc::close(number) }, 0);
    }

    #[test]
    fn a_path_leads_to_the_file_that_the_program_has_closed() {
        let file = JobControl::create(1).expect("a job").into_file();
        let other = file.try_clone().expect("a descriptor");
        let path = PathBuf::from(format!("/proc/self/fd/{}", other.as_raw_fd()));
        let memory = MemoryFile::new(file, Some(path)).expect("a file");
        let programs = a_file();
        replace(&memory, &programs);
        memory.with(|fd| crate::mapping::lengthen(fd, 1 << 20)).expect("it is found again");
        assert_eq!(memory.with(length).expect("a length"), 1 << 20);
        replace(&memory, &other);
        drop(other);
        assert_eq!(programs.metadata().expect("a status").len(), 4);
    }
}
