//! Messages between ranks that are threads ([`heddle_ranks`]): what comes first is decided by the test, which
//! lets a rank go on when another one has come so far.

mod matching;
mod messages;
mod partitioned;
mod peers;
mod requests;
mod waits;
