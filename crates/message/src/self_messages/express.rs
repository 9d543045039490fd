//! The express path of sharded self messages: the same steps as on the default VNI, on that of the tag.
//!
//! The first attempt, on the default VNI, has refused by then. The VNI of a tag is mostly one thread's, so
//! its lock is mostly biased to the caller.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::domain;
use crate::matching::Key;
use crate::vni::Vni;
use crate::vni::core::Core;
use crate::vni::express::either;
use heddle_model::{Path, Refusal, Whole};
use heddle_objects::resharding::Route;
use heddle_transport::Envelope;

/// A VNI of sharded self messages, and the route that leads to it.
#[derive(Clone, Copy)]
struct ShardedVni<'a> {
    vni: &'static Vni,
    route: Route<'a>,
}

impl Context {
    /// Does the same as [`exchange_express`](Vni::exchange_express) where self messages are sharded; returns
    /// the number of the VNI.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(never)]
    pub unsafe fn exchange_sharded(
        &self,
        key: &Key,
        from: *const u8,
        len: usize,
        to: Buffer,
    ) -> Result<u32, Refusal> {
        let ShardedVni { vni, route } = self.sharded_vni(key)?;
        either(
            #[inline(always)]
            // SAFETY: the caller's promise.
            |attempt| unsafe { vni.exchange_express(attempt, from, len, to, route) },
        )?;
        Ok(route.vni())
    }

    /// Does the same as [`send_to_self_express`](Vni::send_to_self_express) where self messages are sharded.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(never)]
    pub unsafe fn send_sharded(&self, key: &Key, from: *const u8, len: usize) -> Result<(), Refusal> {
        let ShardedVni { vni, route } = self.sharded_vni(key)?;
        either(
            #[inline(always)]
            // SAFETY: the caller's promise.
            |attempt| unsafe { vni.send_to_self_express(attempt, key, from, len, route) },
        )
    }

    /// Does the same as [`receive_express`](Vni::receive_express) where self messages are sharded.
    ///
    /// # Errors
    /// The same.
    #[inline(never)]
    pub fn receive_sharded(&self, key: &Key, buffer: Buffer, comm: usize) -> Result<usize, Refusal> {
        self.sharded_vni(key)?.run(
            #[inline(always)]
            |core| core.receive_self_express(key, buffer, comm),
        )
    }

    /// Does the same as [`take_express`](Vni::take_express) where self messages are sharded; also returns the
    /// number of the VNI.
    ///
    /// # Errors
    /// The same.
    #[inline(never)]
    pub fn take_sharded(&self, key: &Key, buffer: Buffer) -> Result<(u32, (Envelope, usize)), Refusal> {
        let sharded = self.sharded_vni(key)?;
        let taken = sharded.run(
            #[inline(always)]
            |core| core.take_small(key, buffer),
        )?;
        Ok((sharded.route.vni(), taken))
    }

    /// The VNI of the self messages with a key, if they are sharded.
    #[inline(always)]
    fn sharded_vni(&self, key: &Key) -> Result<ShardedVni<'_>, Refusal> {
        let domain = domain::running().ok_or(Refusal::Unfit)?;
        let route = self.route(domain, key.context, key.tag()).ok_or(Refusal::Unfit)?;
        let is_sharded = route.is_sharded();
        if is_sharded { Ok(ShardedVni { vni: domain.vni(route.vni()), route }) } else { Err(Refusal::Unfit) }
    }
}

impl ShardedVni<'_> {
    /// Runs an operation on the core unless the messages have been pinned.
    #[inline(always)]
    fn run<R>(self, operation: impl Fn(&mut Core<Whole>) -> Option<R>) -> Result<R, Refusal> {
        either(
            #[inline(always)]
            |attempt| {
                self.vni.by_shortcut(
                    attempt,
                    Path::Main,
                    #[inline(always)]
                    |core| if self.route.is_current() { operation(core) } else { None },
                )
            },
        )
    }
}
