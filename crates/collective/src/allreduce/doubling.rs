//! Allreduce by recursive doubling: after round k each rank has the result of the 2^k ranks around it. ⌈log₂
//! n⌉ rounds of the whole vector (Thakur, Rabenseifner, Gropp 2005, section 4.5).

use crate::basic::{Accumulator, Side};
use crate::conversation::Conversation;
use crate::ranks::{Fold, Role};

/// The vector's result becomes that of all ranks, with operands in the order of ranks.
pub(crate) fn allreduce(talk: &mut Conversation<'_>, vector: &mut Accumulator<'_>) {
    let fold = Fold::new(talk.size());
    let (new_rank, absorbs) = match fold.role(talk.rank()) {
        Role::Leaves(to) => {
            vector.send(talk, to);
            return talk.receive(to, vector.result.buffer(vector.count));
        }
        Role::Stays { new_rank, absorbs } => (new_rank, absorbs),
    };
    if let Some(other) = absorbs {
        vector.receive(talk, other, Side::Higher);
    }
    let mut distance = 1;
    while distance < fold.kept() {
        let partner = new_rank ^ distance;
        let actual = fold.rank_of(partner);
        let outgoing = (actual, vector.result.buffer(vector.count));
        talk.exchange(outgoing, (actual, vector.spare.buffer(vector.count)));
        vector.take(talk, if partner < new_rank { Side::Lower } else { Side::Higher });
        distance *= 2;
    }
    if let Some(other) = absorbs {
        vector.send(talk, other);
    }
}
