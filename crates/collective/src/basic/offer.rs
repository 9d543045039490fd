//! Data of any length in one round. Short ones are copied to the blackboard, and the rank that publishes them
//! waits for nobody. Long ones stay where they are: the readers copy them from there, so nothing is copied
//! twice, and the rank waits until they have done so.

use crate::conversation::{Conversation, OnBlackboard};
use heddle_blackboard::Limits;
use heddle_comm::error::Result;
use heddle_message::buffer::Buffer;

/// The data that a rank offers in a round: to the rank `reader`, or to all.
#[derive(Debug)]
pub(crate) struct Offer {
    round: u32,
    data: Buffer,
    reader: Option<usize>,
    /// If the data are exposed: where, which is another place if they have gaps.
    exposed: Option<Buffer>,
}

impl Offer {
    /// An offer of data that the limits [take](Limits::takes).
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn new(
        talk: &mut Conversation<'_>,
        (round, data): (u32, Buffer),
        reader: Option<usize>,
        limits: Limits,
    ) -> Result<Offer> {
        if data.len() > limits.bytes {
            Offer::exposed(talk, (round, data), reader)
        } else {
            Ok(Offer { round, data, reader, exposed: None })
        }
    }

    /// An offer of data that are exposed however short they are.
    ///
    /// # Errors
    /// `MPI_ERR_NO_MEM`.
    pub(crate) fn exposed(
        talk: &mut Conversation<'_>,
        (round, data): (u32, Buffer),
        reader: Option<usize>,
    ) -> Result<Offer> {
        let (whole, _) = talk.in_one_piece(&data)?;
        Ok(Offer { round, data, reader, exposed: Some(whole.buffer(data.len() as i64)) })
    }

    /// Publishes it.
    pub(crate) fn publish(&self, talk: &mut OnBlackboard<'_, '_>) {
        let Some(exposed) = self.exposed else {
            return talk.publish(self.round, self.data, self.reader);
        };
        if exposed.contiguous() != self.data.contiguous() {
            talk.copy(&self.data, &exposed);
        }
        talk.expose(self.round, exposed, self.reader);
    }

    /// Waits until nobody reads the data any more.
    pub(crate) fn take_back(self, talk: &mut OnBlackboard<'_, '_>) {
        if self.exposed.is_some() {
            talk.await_finished(self.round, self.reader);
        }
    }
}
