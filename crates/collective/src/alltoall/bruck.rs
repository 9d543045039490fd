//! All-to-all of small blocks in ⌈log₂ n⌉ rounds (Bruck et al. 1997, cited in `allgather/bruck.rs`).
//!
//! A block travels its distance, from 0 to n − 1 ranks ahead, in steps of powers of two: in round k all
//! blocks whose distance has bit k set go 2^k ranks on, in one message. Each is sent log₂ n / 2 times on
//! average, in exchange for far fewer messages.

use crate::conversation::Conversation;
use crate::data::Blocks;
use heddle_comm::error::Result;

/// # Errors
/// `MPI_ERR_NO_MEM`.
pub(super) fn alltoall(
    talk: &mut Conversation<'_>,
    send: &dyn Blocks,
    receive: &dyn Blocks,
    len: usize,
) -> Result<()> {
    let (rank, size) = (talk.rank(), talk.size());
    let travelling = talk.temporary_bytes(size * len)?;
    let packet = talk.temporary_bytes(2 * size.div_ceil(2) * len)?;
    let block = |distance: usize| travelling.at((distance * len) as i64).buffer(len as i64);
    let packed = |index: usize, number: usize| packet.at((index * len) as i64).buffer((number * len) as i64);
    for distance in 0..size {
        talk.copy(&send.block((rank + distance) % size), &block(distance));
    }
    let mut step = 1;
    while step < size {
        let moving = || (0..size).filter(|distance| distance & step != 0);
        let number = moving().count();
        for (index, distance) in moving().enumerate() {
            talk.copy(&block(distance), &packed(index, 1));
        }
        let (to, from) = ((rank + step) % size, (rank + size - step) % size);
        talk.exchange((to, packed(0, number)), (from, packed(number, number)));
        for (index, distance) in moving().enumerate() {
            talk.copy(&packed(number + index, 1), &block(distance));
        }
        step *= 2;
    }
    for distance in 0..size {
        talk.copy(&block(distance), &receive.block((rank + size - distance) % size));
    }
    Ok(())
}
