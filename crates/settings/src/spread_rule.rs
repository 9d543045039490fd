//! When the messages of a channel are spread over VNIs.

/// When the messages of a channel are spread over VNIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadRule {
    /// Never.
    Never,
    /// Once threads with different tags take turns in the channel.
    Contended,
    /// From the first message on.
    Always,
}
