//! A process that sends to itself, while its messages may move from one VNI to another ([`own`](crate::own)).
//!
//! Each operation looks inside of the section whether its messages still are there.

use super::core::Core;
use super::receive::Message;
use super::{SendArgs, State, Vni};
use crate::matching::{Key, Matching};
use crate::own::{Moved, Own, Place, Route};
use crate::request::{self, RequestId, Stage};
use heddle_model::{Guarded, Path, SectionOf, Whole};

impl Vni {
    /// Sends to this process as `send` does, if the messages are where the route says; `None` otherwise.
    #[inline(always)]
    pub(crate) fn send_own(
        &self,
        args: &mut SendArgs,
        request: impl Fn(u32) -> RequestId + Send,
        route: Route<'_>,
    ) -> Option<Option<RequestId>> {
        self.whole().with_lock(
            Path::Main,
            #[inline(always)]
            move |core| {
                if !route.holds() {
                    return None;
                }
                route.note_sender();
                Some(core.send_to_self(args, || request(route.vni()), route.is_spread()))
            },
        )
    }

    /// Receives from this process, if the messages are where the route says.
    #[inline(always)]
    pub(crate) fn receive_own(&self, id: RequestId, key: Key, route: Route<'_>) -> bool {
        self.whole().with_lock(
            Path::Main,
            #[inline(always)]
            move |core| {
                let holds = route.holds();
                if holds {
                    request::set_vni(id, route.vni());
                    core.receive(id, key);
                }
                holds
            },
        )
    }

    /// The objects behind the VNI's own lock.
    #[inline(always)]
    fn whole(&self) -> &Guarded<Core<Whole>> {
        match &self.state {
            State::Whole(state) => state,
            State::Parted(_) | State::LockFree(_) => unreachable!("their messages stay at home"),
        }
    }
}

impl Place for Vni {
    type Inside = Matching<Message>;
    type Key = Key;
    type Message = Message;

    fn enter<R: Send>(&self, operation: impl FnOnce(&mut Matching<Message>) -> R + Send) -> R {
        // Whatever the context, there is one matching.
        let inside = |core: &mut Core<Whole>| {
            core.meeting(0).with(Path::Main, |meeting| operation(&mut meeting.matching))
        };
        self.whole().with_lock(Path::Main, inside)
    }

    fn take_out(matching: &mut Matching<Message>, own: Own) -> Moved<Key, Message> {
        matching.take_out(own.context, own.source)
    }

    fn post(matching: &mut Matching<Message>, key: Key, id: RequestId, vni: u32) {
        let place = matching.post(key, id);
        // SAFETY: a receive that was taken out of a matching is the taker's, and a posted one belongs to this section.
        unsafe { request::flight(id) }.stage = Stage::Posted(place);
        request::set_vni(id, vni);
    }

    fn keep(matching: &mut Matching<Message>, key: Key, message: Message, stamp: Option<u64>) {
        matching.put(key, message, stamp);
    }
}
