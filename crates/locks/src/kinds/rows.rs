//! The rows of the catalogue.

/// Calls `$callback` with every kind of lock: its name and meaning, its type, how it is made (`alone`, or
/// `in_tree` for this machine's cohorts), whether its waiters can give up (`timed`, `untimed`), its order,
/// and the kind that replaces it in a class of a two-level lock. There the word before both classes already
/// lets a running thread come again, so the strict form is used.
macro_rules! with_rows {
    ($callback:ident) => {
        $callback! {
            Mutex = "mutex", "test-and-set: the first thread after a release takes it":
                heddle_sync::mutex::Mutex<Native>, alone, timed, Overtaking, Mutex;
            Ticket = "ticket", "two counters, in order; a running thread may come again for 50 µs":
                crate::ticket::Ticket<Native>, alone, untimed, Queue, StrictTicket;
            Mcs = "mcs", "a queue of nodes, in order; a running thread may come again for 50 µs":
                crate::mcs::Mcs<Native>, alone, untimed, Queue, StrictMcs;
            Clh = "clh", "a queue in which each thread polls its predecessor; a running thread may come again for 50 µs":
                crate::clh::Clh<Native>, alone, timed, Queue, StrictClh;
            AbortableMcs = "abortable-mcs", "MCS that passes over waiters that do not run; a running thread may come again for 50 µs":
                crate::abortable_mcs::AbortableMcs<Native>, alone, timed, Queue, StrictAbortableMcs;
            Hmcs = "hmcs", "queues of cohorts within cohorts: near threads first; a running thread may come again for 50 µs":
                crate::hmcs::Hmcs<Native>, in_tree, timed, Queue, StrictHmcs;
            StrictTicket = "strict-ticket", "two counters, in strict order":
                crate::ticket::StrictTicket<Native>, alone, untimed, Strict, StrictTicket;
            StrictMcs = "strict-mcs", "a queue of nodes, in strict order":
                crate::mcs::StrictMcs<Native>, alone, untimed, Strict, StrictMcs;
            StrictClh = "strict-clh", "a queue in which each thread polls its predecessor, in strict order":
                crate::clh::StrictClh<Native>, alone, timed, Strict, StrictClh;
            StrictAbortableMcs = "strict-abortable-mcs", "MCS that passes over waiters that do not run, else in strict order":
                crate::abortable_mcs::StrictAbortableMcs<Native>, alone, timed, Strict, StrictAbortableMcs;
            StrictHmcs = "strict-hmcs", "queues of cohorts within cohorts, in strict order within each":
                crate::hmcs::StrictHmcs<Native>, in_tree, timed, Strict, StrictHmcs;
        }
    };
}

pub(super) use with_rows;
