//! What a VNI keeps of large messages, and of what else goes on without a thread that calls for it.

use super::message::SendArgs;
use super::pace::{LARGE, Pace};
use super::under_way::{Halves, Pull, Push, Stream};
use crate::request::{self, RequestId};
use heddle_model::Object;
use heddle_model::counters::Section;
use std::collections::VecDeque;
use std::fmt::Debug;

/// How many abandoned requests are looked at in a turn: as many as may be added in it, and more.
const LOOKS: usize = 8;

/// Everything of rendezvous, and what is seldom.
#[derive(Debug)]
pub(crate) struct Large {
    pub streams: Vec<Stream>,
    pub pulls: VecDeque<Pull>,
    pub pushes: VecDeque<Push>,
    /// Receives of which either side copies a half.
    pub halves: Vec<Halves>,
    /// How quickly messages of each peer arrived that went by rendezvous: those below `LARGE`, and the others.
    paces: Vec<[Pace; 2]>,
    /// Requests that the program freed while they were under way: released once they are complete.
    abandoned: VecDeque<RequestId>,
    /// What is to be done when other operations are over.
    sequels: Vec<Box<dyn Sequel>>,
}

/// What follows on other operations of the VNI, whichever thread sees that they are over.
pub trait Sequel: Debug + Send {
    /// Whether they are over.
    fn is_due(&self) -> bool;

    /// Does it, inside of the section of large messages. `send` sends a small message to another process, by a request that
    /// nobody waits for. Returns a request to be completed.
    fn run(self: Box<Self>, send: &mut dyn FnMut(RequestId, SendArgs)) -> Option<RequestId>;
}

impl Object for Large {
    const SECTION: Section = Section::LargeMessages;
    const LEVEL: u32 = 2;
}

impl Large {
    pub(crate) fn new(peers: usize) -> Large {
        Large {
            streams: Vec::new(),
            pulls: VecDeque::new(),
            pushes: VecDeque::new(),
            halves: Vec::new(),
            paces: vec![[Pace::medium(), Pace::large()]; peers],
            abandoned: VecDeque::new(),
            sequels: Vec::new(),
        }
    }

    /// How much there is to look after.
    pub(crate) fn pending(&self) -> usize {
        let messages = self.streams.len() + self.pulls.len() + self.pushes.len();
        messages + self.abandoned.len() + self.sequels.len()
    }

    pub(crate) fn pace(&mut self, peer: usize, bytes: usize) -> &mut Pace {
        let [medium, large] = &mut self.paces[peer];
        if bytes < LARGE { medium } else { large }
    }

    /// Has something done when other operations are over.
    pub(crate) fn follow(&mut self, sequel: Box<dyn Sequel>) {
        self.sequels.push(sequel);
    }

    /// Takes out what can be done now, in the order in which it was put in.
    pub(crate) fn due_sequels(&mut self) -> Vec<Box<dyn Sequel>> {
        // From the last to the first: if what a later one waits for is seen to be over, and ends after what an earlier one
        // waits for, that is seen to be over, too.
        let mut due: Vec<Box<dyn Sequel>> = Vec::new();
        for index in (0..self.sequels.len()).rev() {
            if self.sequels[index].is_due() {
                due.push(self.sequels.remove(index));
            }
        }
        due.reverse();
        due
    }

    /// Leaves a request to itself.
    pub(crate) fn abandon(&mut self, id: RequestId) {
        self.abandoned.push_back(id);
        // Whoever abandons more than others look after does so itself: there are never many that are complete.
        self.release_abandoned();
    }

    /// Releases the requests that nobody waits for, as far as they are complete: of the first few, and those come last
    /// the next time.
    pub(crate) fn release_abandoned(&mut self) {
        for _ in 0..LOOKS.min(self.abandoned.len()) {
            let Some(id) = self.abandoned.pop_front() else { return };
            if request::is_complete(id) {
                request::release(id);
            } else {
                self.abandoned.push_back(id);
            }
        }
    }
}
