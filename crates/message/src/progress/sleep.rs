//! What tools learn of threads that sleep.

use heddle_model::Tracepoint;
use heddle_platform::clock;

/// Runs `sleep`, in which the calling thread, which waits on VNI `vni`, may sleep.
pub(super) fn asleep<R>(vni: u32, sleep: impl FnOnce() -> R) -> R {
    Tracepoint::Park.pass(|| [u64::from(vni)]);
    let since = Tracepoint::Wake.is_observed().then(clock::now_ns);
    let result = sleep();
    if let Some(since) = since {
        Tracepoint::Wake.pass(|| [clock::now_ns().saturating_sub(since), u64::from(vni)]);
    }
    result
}
