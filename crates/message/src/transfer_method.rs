//! The methods by which the data of a large message moves between the processes of a machine.

/// A method to transfer the data of a large message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransferMethod {
    /// The sender sends it in pieces.
    Stream,
    /// The receiver copies it from the sender's memory.
    Pull,
    /// The receiver copies one half from the sender's memory, the sender the other to the receiver's.
    SplitCopy,
    /// It is sent in pieces and stored past the caches.
    StreamPastCaches,
}

/// All methods.
pub(crate) const METHODS: [TransferMethod; 4] = [
    TransferMethod::Stream,
    TransferMethod::Pull,
    TransferMethod::SplitCopy,
    TransferMethod::StreamPastCaches,
];

impl TransferMethod {
    /// Returns true if the data is sent in pieces.
    pub(crate) fn streams(self) -> bool {
        matches!(self, TransferMethod::Stream | TransferMethod::StreamPastCaches)
    }

    /// The number by which it travels to the sender, in the receiver's answer.
    pub(crate) fn to_wire(self) -> u16 {
        self as u16 + 1
    }

    /// The method that an answer names; `None` if there was no choice.
    pub(crate) fn from_wire(number: u16) -> Option<TransferMethod> {
        METHODS.into_iter().find(|method| method.to_wire() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_travels_as_a_number_that_is_not_zero() {
        for method in METHODS {
            assert_eq!(TransferMethod::from_wire(method.to_wire()), Some(method));
        }
        assert_eq!([0, 5, u16::MAX].map(TransferMethod::from_wire), [None; 3]);
    }
}
