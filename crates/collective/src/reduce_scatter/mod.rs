//! `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block`.

mod blackboard;
mod halving;
mod pairwise;
mod vector;

use super::allreduce;
use super::basic::Accumulator;
use super::between_groups::reduce_scatter_between;
use super::choices::choices;
use super::conversation::Conversation;
use super::data::{Part, Reduction};
use super::messages::tag;
use heddle_comm::error::{Error, Result};
use heddle_settings::{Algorithm, CollectiveOperation};
use heddle_spec::constants as mpi;
use vector::Vector;

/// Combines the data of all ranks and gives each rank its block of the result, of `counts` elements. `send`
/// is `None` for `MPI_IN_PLACE`; then `receive` holds all operands.
///
/// # Errors
/// `MPI_ERR_BUFFER`, `MPI_ERR_COUNT`; `MPI_ERR_TRUNCATE` or `MPI_ERR_COUNT` if the ranks' counts disagree.
pub fn reduce_scatter(
    talk: &mut Conversation<'_>,
    reduction: &Reduction<'_>,
    send: Option<Part<'_>>,
    receive: Part<'_>,
    counts: &[i64],
) -> Result<()> {
    let send = send.map(|send| talk.apart(send, &receive, 1)).transpose()?;
    let starts = starts_of(counts)?;
    if talk.is_between_groups() {
        return reduce_scatter_between(talk, reduction, send, receive, &starts);
    }
    let operands = send.unwrap_or(receive);
    let vector = Vector { operands: operands.elements, destination: receive.elements, starts: &starts };
    talk.name(tag::REDUCE_SCATTER);
    talk.note(operands.len());
    if talk.size() == 1 {
        if send.is_some() {
            talk.copy(&vector.block(operands.elements, 0), &vector.block(vector.destination, 0));
        }
        return Ok(());
    }
    let choices = choices();
    let mean = || operands.len() / talk.size();
    let choice = choices.algorithm(CollectiveOperation::ReduceScatter, talk.size(), mean);
    if let Some(limits) = talk.limits(choice)
        && blackboard::reduce_scatter(talk, reduction, vector, limits)?
    {
        return Ok(());
    }
    match choice {
        Algorithm::Pairwise => pairwise::reduce_scatter(talk, reduction, vector),
        Algorithm::RecursiveHalving if reduction.commutes() => {
            halving::reduce_scatter(talk, reduction, vector)
        }
        Algorithm::RecursiveDoubling => all_of_it(talk, reduction, vector),
        _ if operands.len() >= choices.reduce_scatter_pairwise_bytes => {
            pairwise::reduce_scatter(talk, reduction, vector)
        }
        _ if reduction.commutes() => halving::reduce_scatter(talk, reduction, vector),
        _ => all_of_it(talk, reduction, vector),
    }
}

/// For short vectors and operators that do not commute: every rank combines everything, in ⌈log₂ n⌉ rounds.
///
/// # Errors
/// `MPI_ERR_NO_MEM`.
fn all_of_it(talk: &mut Conversation<'_>, reduction: &Reduction<'_>, vector: Vector<'_>) -> Result<()> {
    let (rank, count) = (talk.rank(), vector.count());
    let (own, spare) = (talk.vector(reduction, count)?, talk.vector(reduction, count)?);
    let mut all = Accumulator { reduction, result: own, spare, count };
    talk.copy(&vector.operands.buffer(count), &all.result.buffer(count));
    allreduce::by_doubling(talk, &mut all);
    talk.copy(
        &vector.block(all.result.at(vector.starts[rank]), rank),
        &vector.block(vector.destination, rank),
    );
    Ok(())
}

fn starts_of(counts: &[i64]) -> Result<Vec<i64>> {
    let mut starts = Vec::with_capacity(counts.len() + 1);
    let mut total = 0i64;
    for &count in counts {
        starts.push(total);
        let sum = total.checked_add(count).filter(|_| count >= 0);
        total = sum.ok_or_else(|| {
            let message = format!("{count} is not a number of elements that a rank can get");
            Error::new(mpi::MPI_ERR_COUNT, message)
        })?;
    }
    starts.push(total);
    Ok(starts)
}
