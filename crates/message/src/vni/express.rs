//! The express path within a VNI: what a small message needs most often, with the fewest instructions.
//!
//! Each operation enters the critical section only if that needs no waiting
//! ([`Guarded::with_shortcut`](heddle_model::Guarded::with_shortcut)). If it cannot act, it changes nothing
//! and returns a [`Refusal`]; the caller then attempts to enter by the lock, or takes the general path. It
//! exists only under models that guard a VNI as a whole.

use super::channel::Peer;
use super::core::{Core, MatchingShard};
use super::interface::VniState;
use super::message::{Content, Message};
use super::{Direct, Vni, trace};
use crate::buffer::{Buffer, copy_small};
use crate::matching::Key;
use crate::request::{self, Fresh, RequestId, Stage};
use crate::spread::{SpreadBy, are_turns};
use heddle_model::counters::cores_for_threads;
use heddle_model::{Attempt, Path, Refusal, SectionOf, Whole};
use heddle_objects::resharding::{Route, next_stamp};
use heddle_transport::{Envelope, Header};

impl Vni {
    /// Runs `operation` on the core by the shortcut.
    #[inline(always)]
    pub(crate) fn by_shortcut<R>(
        &self,
        attempt: Attempt,
        path: Path,
        operation: impl FnOnce(&mut Core<Whole>) -> Option<R>,
    ) -> Result<R, Refusal> {
        let VniState::Whole(state) = &self.state else { return Err(Refusal::Unfit) };
        state.with_shortcut(attempt, path, operation)
    }

    /// Sends `len` bytes from `from`, at most [`INLINE_BYTES`](super::INLINE_BYTES), to another
    /// process, if the ring has room.
    ///
    /// # Errors
    /// A refusal; then they are not sent.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads, and `peer` is not this process.
    #[inline(always)]
    pub unsafe fn send_express(
        &self,
        attempt: Attempt,
        peer: usize,
        header: &Header,
        from: *const u8,
        len: usize,
    ) -> Result<(), Refusal> {
        if let Some(to) = self.peer_apart(peer) {
            if attempt == Attempt::Lock {
                // SAFETY: the caller's promise.
                return unsafe { self.send_express_by_lock(to, peer, header, from, len) };
            }
            return to.channel.section().with_shortcut(
                attempt,
                Path::Main,
                #[inline(always)]
                // SAFETY: the caller's promise.
                |channel| unsafe { channel.send_express(header, from, len) }.then_some(()),
            );
        }
        match attempt {
            // The code of the usual case stays small.
            Attempt::Bias => Err(Refusal::Busy),
            Attempt::Lock => match &self.state {
                // SAFETY: the caller's promise.
                VniState::Whole(_) => unsafe { self.send_express_enclosed(peer, header, from, len) },
                // SAFETY: the caller's promise.
                _ => unsafe { self.send_express_among_objects(peer, header, from, len) },
            },
            Attempt::Lane => Err(Refusal::Unfit),
        }
    }

    /// Does the same as [`send_express`](Self::send_express), with the second attempt, where the channel has
    /// a critical section of its own. If threads take turns there, their messages are spread from now on.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn send_express_by_lock(
        &self,
        to: &Peer<Whole>,
        peer: usize,
        header: &Header,
        from: *const u8,
        len: usize,
    ) -> Result<(), Refusal> {
        if to.is_spread() {
            // SAFETY: the caller's promise.
            return unsafe { self.send_express_on_lane((to, peer), header, from, len) };
        }
        let tags_change = to.channel.section().with_shortcut(Attempt::Lock, Path::Main, |channel| {
            // SAFETY: the caller's promise.
            let sent = unsafe { channel.send_express(header, from, len) };
            sent.then(|| to.tag_changes.note(header.envelope.tag()))
        })?;
        if tags_change && are_turns(to.channel.section().hand_overs(), cores_for_threads) {
            self.spread_to(peer, SpreadBy::Tag);
        }
        Ok(())
    }

    /// Does the same as [`send_express`](Self::send_express), with both attempts, where the VNI's critical
    /// section encloses the channel.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(never)]
    unsafe fn send_express_enclosed(
        &self,
        peer: usize,
        header: &Header,
        from: *const u8,
        len: usize,
    ) -> Result<(), Refusal> {
        let send = |core: &mut Core<Whole>| {
            let to = core.peers.of(peer);
            // SAFETY: the caller's promise.
            to.channel
                .with(Path::Main, |channel| unsafe { channel.send_express(header, from, len) })
                .then_some(())
        };
        match self.by_shortcut(Attempt::Bias, Path::Main, send) {
            Err(Refusal::Busy) => self.by_shortcut(Attempt::Lock, Path::Main, send),
            done => done,
        }
    }

    /// Does the same as [`send_express`](Self::send_express), where each object has a critical section, or
    /// threads share the ring without one.
    ///
    /// # Errors
    /// The same.
    ///
    /// # Safety
    /// The same.
    #[inline(never)]
    unsafe fn send_express_among_objects(
        &self,
        peer: usize,
        header: &Header,
        from: *const u8,
        len: usize,
    ) -> Result<(), Refusal> {
        let is_sent = self.may_do_without_requests
            && match &self.state {
                VniState::Whole(_) => false,
                // SAFETY: the caller's promise.
                VniState::Parted(core) => unsafe { core.send_express(peer, header, from, len) },
                // SAFETY: the caller's promise.
                VniState::LockFree(core) => unsafe { core.send_express(peer, header, from, len) },
            };
        if is_sent { Ok(()) } else { Err(Refusal::Unfit) }
    }

    /// Sends `len` bytes from `from`, at most [`INLINE_BYTES`](super::INLINE_BYTES), to this process on this
    /// VNI, to which `route` leads.
    ///
    /// # Errors
    /// A refusal, also if no receive is posted for them and the VNI throttles its
    /// senders; then they are not sent.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads.
    #[inline(always)]
    pub unsafe fn send_to_self_express(
        &self,
        attempt: Attempt,
        key: &Key,
        from: *const u8,
        len: usize,
        route: Route<'_>,
    ) -> Result<(), Refusal> {
        self.by_shortcut(
            attempt,
            Path::Main,
            #[inline(always)]
            |core| {
                if !route.is_current() || trace::is_matching_observed() {
                    return None;
                }
                route.note_sender();
                // SAFETY: the caller's promise.
                unsafe { core.send_to_self_express(key, from, len, route.is_sharded()) }.then_some(())
            },
        )
    }

    /// Copies a self message of `len` bytes from `from` to the buffer of the receive that the same call
    /// makes, if no other receive is posted and no other message has arrived. `route` leads to this VNI.
    ///
    /// # Errors
    /// A refusal; then nothing is copied.
    ///
    /// # Safety
    /// `len` bytes at `from` are valid for reads, and do not overlap with the buffer.
    #[inline(always)]
    pub unsafe fn exchange_express(
        &self,
        attempt: Attempt,
        from: *const u8,
        len: usize,
        to: Buffer,
        route: Route<'_>,
    ) -> Result<(), Refusal> {
        let to = to.contiguous().filter(|_| len <= to.len()).ok_or(Refusal::Unfit)?;
        self.by_shortcut(
            attempt,
            Path::Main,
            #[inline(always)]
            |core| {
                let is_free = core.shard().with(
                    Path::Main,
                    #[inline(always)]
                    |shard| shard.matching.is_empty(),
                );
                if !is_free || !route.is_current() || trace::is_matching_observed() {
                    return None;
                }
                route.note_sender();
                // SAFETY: the caller promises the source, and the receive's buffer has room.
                unsafe { copy_small(from, to, len) };
                Some(())
            },
        )
    }

    /// Receives, into a new request that names the communicator with the handle `comm`, and
    /// returns the request's handle; the receive is posted unless its message has arrived. `route`
    /// is given for a self message.
    ///
    /// # Errors
    /// A refusal; then nothing is issued.
    #[inline(always)]
    pub fn receive_express(
        &self,
        attempt: Attempt,
        key: &Key,
        buffer: Buffer,
        comm: usize,
        route: Option<Route<'_>>,
    ) -> Result<usize, Refusal> {
        if self.leaves_to_lanes(attempt) {
            return Err(Refusal::OnLane);
        }
        let (handle, by) = self.by_shortcut(
            attempt,
            Path::Main,
            #[inline(always)]
            |core| {
                if !route.is_none_or(Route::is_current) {
                    return None;
                }
                let handle = core.receive_express(key, buffer, comm)?;
                let by =
                    if attempt == Attempt::Lock { core.receive_changes.note(key.envelope) } else { None };
                Some((handle, by))
            },
        )?;
        if let Some(by) = by {
            self.receives_change(comm, key, by);
        }
        Ok(handle)
    }

    /// Takes the message that a blocking receive wants, if it is small and has arrived, or is the next one in
    /// the ring. Returns its source and tag, and how many bytes it had. `route` is given for a self message.
    ///
    /// # Errors
    /// A refusal; then nothing is received.
    #[inline(always)]
    pub fn take_express(
        &self,
        attempt: Attempt,
        key: &Key,
        buffer: Buffer,
        route: Option<Route<'_>>,
    ) -> Result<(Envelope, usize), Refusal> {
        if self.leaves_to_lanes(attempt) {
            return Err(Refusal::OnLane);
        }
        self.by_shortcut(
            attempt,
            Path::Main,
            #[inline(always)]
            |core| {
                let is_here = route.is_none_or(Route::is_current);
                if is_here { core.take_express(key, buffer) } else { None }
            },
        )
    }

    /// Returns true if an attempt at the lock is in vain, since messages may be on lanes.
    #[inline(always)]
    fn leaves_to_lanes(&self, attempt: Attempt) -> bool {
        attempt == Attempt::Lock && self.spread_marks.is_elsewhere()
    }

    /// Polls for a test: finds out that no message has arrived and no work waits.
    ///
    /// # Errors
    /// A refusal, also if a message has arrived or work waits.
    #[inline(always)]
    pub fn poll_express(&self, attempt: Attempt) -> Result<(), Refusal> {
        if self.has_tasks() {
            return Err(Refusal::Unfit);
        }
        self.by_shortcut(
            attempt,
            Path::Progress,
            #[inline(always)]
            |core| core.is_quiet().then_some(()),
        )
    }

    /// Probes for a message with this key, which has no wildcard.
    ///
    /// # Errors
    /// A refusal, also if there are other messages or if work waits.
    #[inline(always)]
    pub fn probe_express(&self, attempt: Attempt, key: &Key) -> Result<Probed, Refusal> {
        if self.has_tasks() {
            return Err(Refusal::Unfit);
        }
        self.by_shortcut(
            attempt,
            Path::Progress,
            #[inline(always)]
            |core| core.probe_express(key),
        )
    }
}

/// Makes both attempts.
#[inline(always)]
pub(crate) fn either<R>(attempt: impl Fn(Attempt) -> Result<R, Refusal>) -> Result<R, Refusal> {
    match attempt(Attempt::Bias) {
        Err(Refusal::Busy) => attempt(Attempt::Lock),
        done => done,
    }
}

/// The result of a probe.
#[derive(Debug, Clone, Copy)]
pub enum Probed {
    /// No message has arrived, and no work waits.
    Nothing,
    /// The message has arrived; it has this many bytes.
    Found(u64),
}

impl Core<Whole> {
    /// Does the same as [`Vni::send_to_self_express`], within the critical section.
    ///
    /// # Safety
    /// The same as for [`Vni::send_to_self_express`].
    #[inline(always)]
    unsafe fn send_to_self_express(&self, key: &Key, from: *const u8, len: usize, stamped: bool) -> bool {
        let receive = self.shard().with(
            Path::Main,
            #[inline(always)]
            |shard| shard.matching.match_arrival(key),
        );
        // SAFETY: the caller's promise.
        let data = unsafe { std::slice::from_raw_parts(from, len) };
        let Some(id) = receive else {
            return if stamped {
                self.store_stamped_self_message(*key, data)
            } else {
                self.store_self_message(*key, data)
            };
        };
        self.deliver(id, key, data);
        true
    }

    /// Stores a small self message that no receive is posted for. Returns false and does nothing if the VNI
    /// throttles its senders: the message then has to stay in the sender's buffer.
    #[inline(never)]
    fn store_self_message(&self, key: Key, data: &[u8]) -> bool {
        if self.throttle.is_raised() {
            return false;
        }
        self.shard().with(Path::Main, |shard| shard.store(key, Message::copy_of(self.rank, data)));
        // No other thread knows of the message: a thread that sleeps in a probe is told.
        self.wake_sleepers();
        true
    }

    /// Does the same as [`store_self_message`](Self::store_self_message), with a stamp.
    #[inline(never)]
    fn store_stamped_self_message(&self, key: Key, data: &[u8]) -> bool {
        if self.throttle.is_raised() {
            return false;
        }
        let message = Message::copy_of(self.rank, data);
        self.shard().with(Path::Main, |shard| shard.store_stamped(key, message, next_stamp()));
        // As above.
        self.wake_sleepers();
        true
    }

    /// Does the same as [`Vni::receive_express`], within the critical section.
    #[inline(always)]
    pub(crate) fn receive_express(&self, key: &Key, buffer: Buffer, comm: usize) -> Option<usize> {
        self.receive_or(
            key,
            buffer,
            comm,
            #[inline(always)]
            |id| self.receive_out_of_line(id, *key),
        )
    }

    /// Does the same for a self message that is sharded, which no lane has.
    #[inline(always)]
    pub(crate) fn receive_self_express(&self, key: &Key, buffer: Buffer, comm: usize) -> Option<usize> {
        self.receive_or(
            key,
            buffer,
            comm,
            #[inline(always)]
            |id| {
                self.receive_here(id, *key);
                true
            },
        )
    }

    /// Posts the receive, into a new request, or receives by `receive` if there are unexpected messages; that
    /// returns false if it has given the request back.
    #[inline(always)]
    fn receive_or(
        &self,
        key: &Key,
        buffer: Buffer,
        comm: usize,
        receive: impl FnOnce(RequestId) -> bool,
    ) -> Option<usize> {
        let has_unexpected = self.shard().with(
            Path::Main,
            #[inline(always)]
            |shard| shard.matching.has_unexpected(),
        );
        let Fresh { id, handle, in_flight } = request::take_express(self.index as u32, comm)?;
        in_flight.buffer = buffer;
        in_flight.context = key.context;
        if has_unexpected {
            in_flight.stage = Stage::UnderWay;
            if !receive(id) {
                return None;
            }
        } else {
            let place = self.shard().with(
                Path::Main,
                #[inline(always)]
                |shard| shard.matching.post_exact(key, id),
            );
            in_flight.stage = Stage::Posted(place);
        }
        Some(handle)
    }

    /// Does the same as [`receive`](Self::receive), out of line, and gives the request back if it returns
    /// false.
    #[inline(never)]
    fn receive_out_of_line(&self, id: RequestId, key: Key) -> bool {
        let is_here = self.receive(id, key).is_some();
        if !is_here {
            request::release(id);
        }
        is_here
    }

    /// Does the same as [`Vni::take_express`], within the critical section.
    #[inline(always)]
    fn take_express(&self, key: &Key, buffer: Buffer) -> Option<(Envelope, usize)> {
        self.take_or(
            key,
            buffer,
            #[inline(always)]
            || self.receive_directly(*key, buffer),
        )
    }

    /// Does the same for a message with a stamp.
    #[inline]
    pub(crate) fn take_express_stamped(&self, key: &Key, buffer: Buffer) -> Option<(Envelope, usize)> {
        self.take_or(key, buffer, || self.receive_stamped_directly(*key, buffer))
    }

    /// Takes the message from the unexpected ones, or receives it by `directly` if there are none.
    #[inline(always)]
    fn take_or(
        &self,
        key: &Key,
        buffer: Buffer,
        directly: impl FnOnce() -> Direct,
    ) -> Option<(Envelope, usize)> {
        let has_unexpected = self.shard().with(
            Path::Main,
            #[inline(always)]
            |shard| shard.matching.has_unexpected(),
        );
        if has_unexpected {
            return self.take_unexpected(key, buffer);
        }
        match directly() {
            Direct::Received(envelope, bytes) => Some((envelope, bytes)),
            Direct::Nothing | Direct::Ordinary => None,
        }
    }

    /// Takes an unexpected message, if it is small, unless messages may be on lanes.
    #[inline(never)]
    fn take_unexpected(&self, key: &Key, buffer: Buffer) -> Option<(Envelope, usize)> {
        if self.is_watched() { None } else { self.take_small(key, buffer) }
    }

    /// Takes an unexpected message, if it is small.
    #[inline(always)]
    pub(crate) fn take_small(&self, key: &Key, buffer: Buffer) -> Option<(Envelope, usize)> {
        self.shard().with(Path::Main, |shard| {
            let is_small = |content: &Content| match content {
                Content::Inline { len, .. } => usize::from(*len) <= buffer.len(),
                _ => false,
            };
            let (exact, message) = shard.take_if(key, |message| is_small(&message.content))?;
            let Content::Inline { len, data } = message.content else { unreachable!("a small message") };
            let len = usize::from(len);
            buffer.write(0, &data[..len]);
            Some((exact.envelope, len))
        })
    }

    /// Does the same as [`Vni::probe_express`], within the critical section.
    #[inline(always)]
    fn probe_express(&self, key: &Key) -> Option<Probed> {
        let has_unexpected = self.shard().with(
            Path::Progress,
            #[inline(always)]
            |shard| shard.matching.has_unexpected(),
        );
        if has_unexpected {
            return self.find_unexpected(key);
        }
        self.is_quiet().then_some(Probed::Nothing)
    }

    /// Returns true if no message waits in the rings, and no other work for the thread that makes progress.
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        !self.is_backlogged()
            && !self.is_pending()
            && self.arrivals.with(
                Path::Progress,
                #[inline(always)]
                |arrivals| arrivals.inbox.is_empty(),
            )
    }

    /// Looks for an unexpected message.
    #[inline(never)]
    fn find_unexpected(&self, key: &Key) -> Option<Probed> {
        if self.is_watched() {
            return None;
        }
        self.shard().with(Path::Progress, |shard| {
            shard.matching.peek(key).map(|(_, message)| Probed::Found(message.bytes()))
        })
    }

    /// The one matching shard.
    #[inline(always)]
    fn shard(&self) -> &impl SectionOf<MatchingShard> {
        self.matching_shard(0)
    }
}
