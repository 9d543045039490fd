//! Moving what waits from VNI to VNI, inside of their sections.

use heddle_platform::atomic::{AtomicU64, Ordering};
use heddle_platform::statics;

statics! {
    static STAMPS: AtomicU64 = AtomicU64::new(0);
}

/// A stamp greater than those of all messages that were kept before this one was sent.
pub fn next_stamp() -> u64 {
    // Relaxed: where one thread has sent before another one sends, something else has ordered the two.
    STAMPS.fetch_add(1, Ordering::Relaxed)
}

/// What is moved: of a context, sent by the process to itself.
#[derive(Debug, Clone, Copy)]
pub struct Own {
    /// The context id.
    pub context: u64,
    /// The process's rank in the communicator.
    pub source: i32,
    /// The VNI where the communicator is at home.
    pub home: u32,
}

/// Receives and messages, each in their order. None of the receives has a wildcard.
#[derive(Debug)]
pub struct Moved<K, M> {
    /// With their requests.
    pub posted: Vec<(K, u32)>,
    /// With their stamps, or whatever orders those of one VNI.
    pub unexpected: Vec<(u64, K, M)>,
}

/// A VNI, as far as messages are moved from it and to it.
pub trait Place: Sync {
    /// What the VNI's critical section guards.
    type Inside;
    /// What is compared when a message and a receive are matched.
    type Key: Send + Sync;
    /// What is kept of a message.
    type Message: Send;

    /// Runs something inside of its section.
    fn enter<R: Send>(&self, operation: impl FnOnce(&mut Self::Inside) -> R + Send) -> R;

    /// Takes out what is to be moved.
    fn take_out(inside: &mut Self::Inside, own: Own) -> Moved<Self::Key, Self::Message>;

    /// Posts a receive on this VNI, whose number is `vni`.
    fn post(inside: &mut Self::Inside, key: Self::Key, request: u32, vni: u32);

    /// Keeps a message that none of the posted receives wants.
    fn keep(inside: &mut Self::Inside, key: Self::Key, message: Self::Message, stamp: Option<u64>);
}

/// Spreads what is at home, then calls `done`, all inside of the home's section.
pub(super) fn spread<P: Place>(
    places: &[P],
    own: Own,
    vni_of: impl Fn(&P::Key) -> u32 + Sync,
    done: impl FnOnce() + Send,
) {
    places[own.home as usize].enter(|home| {
        let Moved { posted, unexpected } = P::take_out(home, own);
        for (key, request) in posted {
            let vni = vni_of(&key);
            inside_of(places, vni, own, home, |inside| P::post(inside, key, request, vni));
        }
        for (_, key, message) in unexpected {
            let (vni, stamp) = (vni_of(&key), Some(next_stamp()));
            inside_of(places, vni, own, home, |inside| P::keep(inside, key, message, stamp));
        }
        done();
    });
}

/// Calls `begin`, then brings home what is elsewhere, all inside of the home's section.
pub(super) fn gather<P: Place>(places: &[P], own: Own, begin: impl FnOnce() + Send) {
    places[own.home as usize].enter(|home| {
        begin();
        let (mut posted, mut unexpected) = (Vec::new(), Vec::new());
        for vni in 0..places.len() as u32 {
            let moved = inside_of(places, vni, own, home, |inside| P::take_out(inside, own));
            posted.extend(moved.posted);
            unexpected.extend(moved.unexpected);
        }
        unexpected.sort_unstable_by_key(|(stamp, ..)| *stamp);
        for (key, request) in posted {
            P::post(home, key, request, own.home);
        }
        for (_, key, message) in unexpected {
            P::keep(home, key, message, None);
        }
    });
}

/// Runs something inside of a VNI, which may be the home, where the caller is already.
fn inside_of<P: Place, R: Send>(
    places: &[P],
    vni: u32,
    own: Own,
    home: &mut P::Inside,
    operation: impl FnOnce(&mut P::Inside) -> R + Send,
) -> R {
    if vni == own.home { operation(home) } else { places[vni as usize].enter(operation) }
}
