//! Statics that belong to a process of the job.
//!
//! MPI's state is that of a process, so it stands in statics. A test that plays several ranks by threads
//! needs one of each per rank. With the feature `played-processes`, which tests alone ask for, a thread says
//! which process it plays (`play`), and [`per_process!`](crate::per_process!) declares a static that each of
//! these has for itself. In every other build it declares a plain static.

/// Statics, of constant expressions, of which each process has one.
#[cfg(not(feature = "played-processes"))]
#[macro_export]
macro_rules! per_process {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$attribute])* $visibility static $name: $type = $value;)*
    };
}

/// Statics of which each process that is played has one.
#[cfg(feature = "played-processes")]
#[macro_export]
macro_rules! per_process {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$attribute])* $visibility static $name: $crate::per_process::PerProcess<$type> =
            $crate::per_process::PerProcess::new($value, || $value);)*
    };
}

#[cfg(feature = "played-processes")]
pub use played::{PerProcess, in_this_process, play, played};

/// What a new thread of the calling process does.
#[cfg(not(feature = "played-processes"))]
pub fn in_this_process<R>(body: impl FnOnce() -> R) -> impl FnOnce() -> R {
    body
}

#[cfg(feature = "played-processes")]
mod played {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::ops::Deref;
    use std::sync::{PoisonError, RwLock};

    thread_local! {
        static PLAYED: Cell<u32> = const { Cell::new(0) };
    }

    /// Makes the calling thread one of the process with this number, until it says otherwise. A thread that
    /// has not said anything is one of process 0.
    pub fn play(process: u32) {
        PLAYED.set(process);
    }

    /// The process whose thread the caller is.
    #[must_use]
    pub fn played() -> u32 {
        PLAYED.get()
    }

    /// What a new thread of the calling process does.
    pub fn in_this_process<R>(body: impl FnOnce() -> R) -> impl FnOnce() -> R {
        let process = played();
        move || {
            play(process);
            body()
        }
    }

    /// A value of each process. That of process 0 is a plain static, so that tests which play no other one
    /// see what ships: a thread that is stopped there holds up no other. Those of the others are made when
    /// they are needed first, and never freed.
    #[derive(Debug)]
    pub struct PerProcess<T: 'static> {
        first: T,
        make: fn() -> T,
        made: RwLock<BTreeMap<u32, &'static T>>,
    }

    impl<T> PerProcess<T> {
        /// The value of process 0, and how those of others are made.
        pub const fn new(first: T, make: fn() -> T) -> Self {
            Self { first, make, made: RwLock::new(BTreeMap::new()) }
        }

        /// The calling process's value.
        pub fn own(&self) -> &T {
            let process = played();
            if process == 0 {
                return &self.first;
            }
            if let Some(own) = self.made.read().unwrap_or_else(PoisonError::into_inner).get(&process) {
                return own;
            }
            let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
            made.entry(process).or_insert_with(|| Box::leak(Box::new((self.make)())))
        }
    }

    impl<T> Deref for PerProcess<T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.own()
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::sync::Mutex;

        per_process! {
            static NUMBER: Mutex<u32> = Mutex::new(7);
        }

        #[test]
        fn each_process_has_its_own() {
            std::thread::scope(|scope| {
                for process in [1, 2] {
                    scope.spawn(move || {
                        play(process);
                        assert_eq!(*NUMBER.lock().expect("a number"), 7);
                        *NUMBER.lock().expect("a number") = process;
                        std::thread::scope(|scope| {
                            scope.spawn(|| assert_eq!(*NUMBER.lock().expect("a number"), 7));
                        });
                        assert_eq!(*NUMBER.lock().expect("a number"), process);
                    });
                }
            });
        }
    }
}
