//! The messages that arrive: requests are carried out, answers given to those that wait for them. One thread
//! at a time does so.

use super::part::Part;
use super::service::Service;
use super::wire::{LONGEST, PacketKind, WordOperation, message};
use crate::attach::Question;
use crate::geometry::WordAt;
use crate::operator::Accumulate;
use heddle_model::counters::{self, CountedEvent};
use heddle_transport::{Garbage, Handler, Header, Incoming, LOST, Request};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Carries requests out, and gives answers to those that wait.
pub(super) struct CarryOut {
    service: Arc<Service>,
    pending: Mutex<Pending>,
}

/// Left to be sent.
#[derive(Debug, Default)]
struct Pending {
    /// Answers with their receivers. A thread awaits a bounded number, so they are few.
    answers: VecDeque<(usize, Request, Vec<u8>)>,
    /// The operations that were carried out: the process that asked, the number of its window, how many.
    done: Vec<(usize, u64, u64)>,
    /// True if a word has changed.
    has_changed: bool,
}

/// A request, taken apart.
struct Asked<'a> {
    kind: PacketKind,
    aux: u16,
    name: u64,
    words: [u64; 3],
    payload: &'a [u8],
}

impl CarryOut {
    pub(super) fn new(service: Arc<Service>) -> CarryOut {
        CarryOut { service, pending: Mutex::default() }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn refuse(&self, sender: usize, what: Garbage) -> ! {
        self.service.domain().fabric().refuse(sender, what)
    }

    /// Handles a message of the port itself about a process: long data was copied, or it is lost.
    fn handle_own(&self, header: &Header, process: usize) {
        if header.kind == LOST {
            self.lose(process);
        } else if header.kind == PacketKind::Copied as u8 {
            counters::count(CountedEvent::RemoteCopy, 1);
            self.service.calls().answer(process, header.context, 0, &[]);
        }
    }

    /// A rank is lost. Threads may wait for it, and it may hold locks: a window goes on with all its
    /// processes or not at all.
    #[cold]
    fn lose(&self, rank: usize) {
        if self.service.parts().values().any(|part| part.counts.has(rank)) {
            let why = "it is one of the processes of a window, which cannot go on without it";
            self.service.domain().fabric().give_up(rank, why);
        }
    }

    /// Carries out a request on a part. `None` if no process asks so.
    fn carry_out(&self, part: &Part, sender: usize, asked: &Asked<'_>) -> Option<()> {
        let [first, second, third] = asked.words;
        match asked.kind {
            PacketKind::Write => {
                let to = part.at(first, asked.payload.len() as u64)?;
                // SAFETY: the bytes lie in the window's memory.
                unsafe { to.copy_from(asked.payload.as_ptr(), asked.payload.len()) };
                self.count(sender, asked.name);
            }
            PacketKind::Read => {
                let len = usize::try_from(second).ok().filter(|len| *len <= LONGEST)?;
                let from = part.at(first, second)?;
                let mut data = vec![0; len];
                // SAFETY: the bytes lie in the window's memory.
                unsafe { from.copy_to(data.as_mut_ptr(), len) };
                self.answer(sender, asked.name, data);
            }
            PacketKind::Word => {
                let word = WordAt { offset: (first >> 32) as usize, event: first as u32 as usize };
                let before = part.operate(word, WordOperation::of(asked.aux, [second, third])?)?;
                self.pending().has_changed = true;
                self.answer_value(sender, asked.name, before);
            }
            PacketKind::Attached => {
                let answer = part.answer(Question::of(third)?, first, second);
                self.answer_value(sender, asked.name, answer);
            }
            PacketKind::Accumulate | PacketKind::Fetch => {
                let accumulate = Accumulate::named(asked.aux, second)?;
                let len = usize::try_from(third).ok().filter(|len| *len <= LONGEST)?;
                let to = part.elements_at(first, &accumulate, len)?;
                let operands = if accumulate.has_operands() { len } else { 0 };
                if asked.payload.len() != operands {
                    return None;
                }
                let mut before = vec![0; if asked.kind == PacketKind::Fetch { len } else { 0 }];
                // SAFETY: the elements lie in the window's memory, and the operands and results are as long.
                unsafe { part.accumulate(&accumulate, to, asked.payload, &mut before, len) };
                match asked.kind {
                    PacketKind::Fetch => self.answer(sender, asked.name, before),
                    _ => self.count(sender, asked.name),
                }
            }
            PacketKind::CompareAndSwap => {
                let size = usize::try_from(second).ok().filter(|size| (1..=LONGEST / 2).contains(size))?;
                let element = part.at(first, second)?;
                if asked.payload.len() != 2 * size {
                    return None;
                }
                let mut before = vec![0; size];
                // SAFETY: the element lies in the window's memory, and the others are as long.
                unsafe { part.compare_and_swap(element, asked.payload.split_at(size), &mut before) };
                self.answer(sender, asked.name, before);
            }
            PacketKind::Value | PacketKind::Data | PacketKind::Done | PacketKind::Copied => return None,
        }
        Some(())
    }

    fn answer(&self, receiver: usize, token: u64, data: Vec<u8>) {
        let request = message(PacketKind::Data, 0, (token, 0), [0; 3], data.len());
        self.pending().answers.push_back((receiver, request, data));
        self.send_answers();
    }

    fn answer_value(&self, receiver: usize, token: u64, value: u64) {
        let request = message(PacketKind::Value, 0, (token, 0), [value, 0, 0], 0);
        self.pending().answers.push_back((receiver, request, Vec::new()));
        self.send_answers();
    }

    fn count(&self, sender: usize, window: u64) {
        let mut pending = self.pending();
        match pending.done.iter_mut().find(|(who, number, _)| (*who, *number) == (sender, window)) {
            Some((_, _, count)) => *count += 1,
            None => pending.done.push((sender, window, 1)),
        }
    }

    /// Sends answers while there is room. Those to one receiver stay in order.
    fn send_answers(&self) {
        let (mut pending, mut full) = (self.pending(), Vec::new());
        for _ in 0..pending.answers.len() {
            let Some(answer) = pending.answers.pop_front() else { break };
            let receiver = answer.0;
            if full.contains(&receiver) || !self.send(receiver, &answer.1, &answer.2) {
                // Another receiver may have room.
                full.push(receiver);
                pending.answers.push_back(answer);
            }
        }
    }

    fn send(&self, receiver: usize, request: &Request, data: &[u8]) -> bool {
        self.service.port().send(receiver, request, |payload| {
            // SAFETY: the payload has room for the data.
            unsafe { payload.copy_from_nonoverlapping(data.as_ptr(), data.len()) }
        })
    }
}

impl Handler for CarryOut {
    fn handle(&self, sender: usize, incoming: &Incoming) {
        let header = incoming.header;
        if sender == self.service.domain().fabric().rank() {
            let process = incoming.payload().first_chunk().map(|word| u64::from_ne_bytes(*word) as usize);
            return process.into_iter().for_each(|process| self.handle_own(&header, process));
        }
        let Some(kind) = PacketKind::of(header.kind) else { self.refuse(sender, Garbage::Kind(header.kind)) };
        let form = Garbage::Form { kind: header.kind, len: incoming.len() };
        if !incoming.has_extra() {
            self.refuse(sender, form);
        }
        let mut words = [0; 3];
        for (word, bytes) in words.iter_mut().zip(incoming.extra().as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
        let unknown = Garbage::Operation { kind: header.kind, operation: header.context };
        match kind {
            PacketKind::Value | PacketKind::Data => {
                if !self.service.calls().answer(sender, header.context, words[0], incoming.payload()) {
                    self.refuse(sender, unknown);
                }
            }
            PacketKind::Done => {
                let parts = self.service.parts();
                let part = parts.get(&header.context);
                if !part.is_some_and(|part| part.counts.count(sender, words[0])) {
                    self.refuse(sender, unknown);
                }
            }
            _ => {
                let parts = self.service.parts();
                let Some(part) = parts.get(&header.context) else { self.refuse(sender, unknown) };
                let (aux, name, payload) = (header.aux, header.envelope.bits(), incoming.payload());
                let asked = Asked { kind, aux, name, words, payload };
                if self.carry_out(part, sender, &asked).is_none() {
                    self.refuse(sender, form);
                }
            }
        }
    }

    fn are_handled(&self) {
        let mut pending = self.pending();
        if std::mem::take(&mut pending.has_changed) {
            let fabric = self.service.domain().fabric();
            fabric.wake(fabric.rank());
        }
        pending.done.retain(|(process, window, count)| {
            let request = message(PacketKind::Done, 0, (*window, 0), [*count, 0, 0], 0);
            !self.send(*process, &request, &[])
        });
        drop(pending);
        self.send_answers();
        self.service.wake();
    }
}
