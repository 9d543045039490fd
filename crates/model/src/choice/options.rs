//! The choices between a few names.

use std::fmt;
use std::str::FromStr;

/// The error for a name that stands for no option of a choice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {choice} \"{name}\": {allowed} is wanted")]
pub struct UnknownOption {
    /// The choice, in words.
    pub choice: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// The allowed names, for a sentence.
    pub allowed: String,
}

/// A choice whose options have names.
pub trait Choice: Copy + PartialEq + Sized + 'static {
    /// The choice, in words.
    const CHOICE: &'static str;
    /// Every option, in the order of the papers, with its name and its meaning.
    const OPTIONS: &'static [(Self, &'static str, &'static str)];
    /// Further names of some options, which are read and never written.
    const ALIASES: &'static [(Self, &'static str)] = &[];

    /// The option's name.
    fn name(self) -> &'static str {
        Self::OPTIONS.iter().find(|(option, ..)| *option == self).map_or("?", |(_, name, _)| name)
    }

    /// The option with the name.
    ///
    /// # Errors
    /// [`UnknownOption`], with the names that exist.
    fn from_name(name: &str) -> Result<Self, UnknownOption> {
        let names = Self::OPTIONS.iter().map(|&(option, name, _)| (option, name));
        let found = names.chain(Self::ALIASES.iter().copied()).find(|(_, known)| *known == name);
        found.map(|(option, _)| option).ok_or_else(|| UnknownOption {
            choice: Self::CHOICE,
            name: name.to_owned(),
            allowed: Self::names(),
        })
    }

    /// All names, for a sentence.
    fn names() -> String {
        Self::OPTIONS.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// Declares a choice: its options with their names and meanings. A further name of an option follows behind
/// `|`.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident, $what:literal {
        $($option:ident = $text:literal $(| $alias:literal)*: $meaning:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = $meaning] $option,)*
        }

        impl Choice for $name {
            const CHOICE: &'static str = $what;
            const OPTIONS: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$option, $text, $meaning),)*];
            const ALIASES: &'static [(Self, &'static str)] = &[$($((Self::$option, $alias),)*)*];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownOption;

            fn from_str(name: &str) -> Result<Self, UnknownOption> {
                Self::from_name(name)
            }
        }
    };
}

choice! {
    /// The classes of settings, by whom they concern. `heddle info` shows those of users unless it is asked
    /// for more, and MPI_T gives each class a verbosity.
    Class, "class of settings" {
        User = "user": "what a user decides: the model, the launcher, the network, limits, and what is printed",
        Tuning = "tuning": "what can make a program faster; the defaults were measured",
        Research = "research": "what compares designs of the library",
    }
}

choice! {
    /// Choices of the critical section that guards an object (Balaji et al., IJHPCA 2010, section 4).
    Granularity, "granularity" {
        Global = "global": "one critical section for the duration of every call, left while the call waits",
        BriefGlobal = "brief-global": "one critical section, entered only where shared state is touched",
        PerVni = "per-vni": "one critical section for each communication path",
        PerChannel = "per-channel": "like per-vni, but each channel to a peer has a critical section of its own, so that sends to two peers share none",
        PerObject = "per-object": "a critical section for each channel to a peer, for each part of the matching, for the rings that are read",
        LockFree = "lock-free": "like per-object, but no small message waits for a critical section: rings are shared by compare-and-swap, and operations are left to the thread at the matching",
    }
}

impl Granularity {
    /// Returns true if what a VNI receives has one critical section of its own.
    pub fn is_by_vni(self) -> bool {
        matches!(self, Granularity::PerVni | Granularity::PerChannel)
    }
}

choice! {
    /// Choices of the threads that enter a critical section with plain instructions while no others use it.
    Bias, "bias" {
        None = "none" | "off": "no thread",
        Thread = "thread" | "on": "the thread that alone uses it",
        Core = "core": "the threads of the core that alone uses it, by a restartable sequence",
    }
}

choice! {
    /// Choices of the thread that runs an operation on a VNI (Amer et al., ICS 2019).
    Execution, "execution" {
        Caller = "caller": "the calling thread, inside the critical section",
        CSync = "csync": "the calling thread if no thread is inside; otherwise it queues, and the thread inside runs the operations of the queue",
        DsmSynch = "dsm-synch": "every operation goes through the queue, whose first thread runs those that wait behind it",
        LockQ = "lockq": "the calling thread if the lock is free; otherwise it posts the operation for the lock's holder",
        Offload = "offload": "a dedicated thread, which also polls for messages while no thread calls MPI",
    }
}

choice! {
    /// Choices of how a waiting thread enters a critical section to make progress (Amer et al., TOPC 2019,
    /// Fig. 1 and 5, and ICS 2019: there it waits).
    ProgressEntry, "progress entry" {
        Try = "try": "only if the critical section is free; otherwise it tries again later",
        Wait = "wait": "it waits its turn like a thread that issues, under p-X-Y in the class that stands back, under csync and dsm-synch in the queue",
    }
}

choice! {
    /// Choices of the number of threads for the VNIs under [`Execution::Offload`].
    OffloadThreads, "number of offload threads" {
        PerVni = "per-vni": "one for each VNI",
        One = "one": "one for all VNIs",
    }
}

choice! {
    /// Choices of how a waiter learns that its operation is complete (Amer et al., TOPC 2019, section 7).
    WakeUp, "wake-up" {
        Blind = "blind": "every waiter polls for messages itself",
        Counter = "counter": "one waiter of a VNI polls, the others sleep until the thread that completes their operation wakes them",
    }
}

choice! {
    /// Choices of what keeps a communicator or datatype alive while a request uses it
    /// (Goodell et al., CLUSTER 2010).
    Lifetime, "lifetime" {
        Naive = "naive": "requests count references to all objects, the predefined ones too",
        Suppress = "suppress": "requests count references to all but predefined objects",
        Collect = "collect": "requests count nothing; freed objects are collected when no request names them",
        Never = "none": "nothing is counted and nothing is ever destroyed: only to measure against",
    }
}

choice! {
    /// Choices of where requests come from (Balaji et al., IJHPCA 2010, section 5.3).
    RequestPool, "request pool" {
        Shared = "shared": "one pool with a critical section",
        ThreadLocal = "thread-local": "a cache for each thread, filled 128 at a time from a common store",
    }
}

choice! {
    /// Choices of the sends that have a request (Balaji et al., IJHPCA 2010, section 5.3: all that do not
    /// block).
    Requests, "requests" {
        Needed = "needed": "those that are not complete when the call returns",
        Always = "always": "every nonblocking send, as in 2010; slower, to count what a request costs",
    }
}

choice! {
    /// Choices of how references to objects are counted (Balaji et al., IJHPCA 2010, section 5.3).
    ReferenceCounts, "reference counting" {
        Locked = "locked": "by additions inside a critical section, one for each kind of object",
        Atomic = "atomic": "by atomic additions",
    }
}

choice! {
    /// Choices of what a test does after it has found a critical section taken (Amer et al., ICS 2019: the
    /// tests of LockQ back off).
    TestBackoff, "backoff of tests" {
        None = "none": "the next test tries again",
        Exponential = "exponential": "the thread's next test there does not try, and after each further refusal twice as many do not, up to 1024; a try that succeeds ends that",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_options_and_back_and_aliases_to_options() {
        for (option, name, meaning) in Bias::OPTIONS {
            assert_eq!(Bias::from_name(name).as_ref(), Ok(option));
            assert_eq!(option.name(), *name);
            assert!(!meaning.is_empty());
        }
        for (option, alias) in Bias::ALIASES {
            assert_eq!(Bias::from_name(alias).as_ref(), Ok(option));
            assert_ne!(option.name(), *alias);
        }
        assert_eq!(Bias::ALIASES.len(), 2, "on and off");
        let error = Bias::from_name("no such thing").expect_err("no such option");
        assert!(error.to_string().contains("none, thread, core"), "{error}");
    }
}
