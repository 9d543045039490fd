//! The mutexes and queues of other libraries.

use std::sync::PoisonError;

use crossbeam_queue::{ArrayQueue, SegQueue};
use heddle_sync::CachePadded;

use super::experiments::Fifo;
use super::guarded::{GuardKind, Guarded};

/// `std::sync::Mutex`.
#[derive(Debug)]
pub(crate) struct Std;

impl GuardKind for Std {
    type Guarded<T: Send + 'static> = CachePadded<std::sync::Mutex<T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        CachePadded::new(std::sync::Mutex::new(value))
    }
}

impl<T: Send> Guarded<T> for CachePadded<std::sync::Mutex<T>> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        operation(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// `parking_lot::Mutex`.
#[derive(Debug)]
pub(crate) struct ParkingLot;

impl GuardKind for ParkingLot {
    type Guarded<T: Send + 'static> = CachePadded<parking_lot::Mutex<T>>;

    fn guard<T: Send + 'static>(value: T) -> Self::Guarded<T> {
        CachePadded::new(parking_lot::Mutex::new(value))
    }
}

impl<T: Send> Guarded<T> for CachePadded<parking_lot::Mutex<T>> {
    #[inline(always)]
    fn with<R: Send>(&self, operation: impl FnOnce(&mut T) -> R + Send) -> R {
        operation(&mut self.lock())
    }
}

/// `crossbeam_queue::SegQueue`, unbounded.
#[derive(Debug)]
pub(crate) struct SegFifo(SegQueue<u64>);

impl Fifo for SegFifo {
    fn new() -> Self {
        Self(SegQueue::new())
    }

    fn enqueue(&self, value: u64) {
        self.0.push(value);
    }

    fn dequeue(&self) -> Option<u64> {
        self.0.pop()
    }
}

/// `crossbeam_queue::ArrayQueue`, bounded.
#[derive(Debug)]
pub(crate) struct ArrayFifo(ArrayQueue<u64>);

impl Fifo for ArrayFifo {
    fn new() -> Self {
        Self(ArrayQueue::new(super::experiments::FIFO_CAPACITY))
    }

    fn enqueue(&self, value: u64) {
        // Threads hold at most one value more in the queue than they have taken out, so it is never full.
        let _ = self.0.push(value);
    }

    fn dequeue(&self) -> Option<u64> {
        self.0.pop()
    }
}
