//! Data of any length in one round. Short ones are copied to the blackboard, and the rank that publishes them
//! waits for nobody. Long ones stay where they are: the readers copy them from there, so nothing is copied
//! twice, and the rank waits until they have done so.

use crate::conversation::Conversation;
use heddle_comm::blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// What a rank offers in a round: to the rank `reader`, or to all.
#[derive(Debug)]
pub(crate) struct Offer {
    round: u32,
    data: Buffer,
    reader: Option<usize>,
    is_exposed: bool,
}

impl Offer {
    /// An offer of data that the limits [take](Limits::takes). If they are to be exposed but have gaps, they
    /// are copied, now.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        (round, data): (u32, Buffer),
        reader: Option<usize>,
        limits: Limits,
    ) -> Result<Offer> {
        let is_exposed = data.len() > limits.bytes;
        if !is_exposed {
            return Ok(Offer { round, data, reader, is_exposed });
        }
        let (whole, is_copy) = talk.in_one_piece(&data)?;
        let whole = whole.buffer(data.len() as i64);
        if is_copy {
            talk.copy(&data, &whole);
        }
        Ok(Offer { round, data: whole, reader, is_exposed })
    }

    /// Publishes it.
    pub(crate) fn publish(&self, talk: &mut Conversation<'_>) {
        if self.is_exposed {
            talk.expose(self.round, self.data, self.reader);
        } else {
            talk.publish(self.round, self.data, self.reader);
        }
    }

    /// Waits until nobody reads the data any more.
    pub(crate) fn take_back(self, talk: &mut Conversation<'_>) {
        if self.is_exposed {
            talk.await_finished(self.round, self.reader);
        }
    }
}
