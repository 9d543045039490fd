//! Intercommunicators: two groups whose processes talk to each other (MPI 5.0, section 7.6).
//!
//! One process of each group, its leader, tells the other group's what its group has to say, and then tells
//! its own group the answer ([`Leaders`]). That is all that the groups need to agree: who is on the other
//! side, and the context, which the group makes whose first process has the lower rank in `MPI_COMM_WORLD`.
//!
//! An intercommunicator has a communicator of its local group besides, on which the library's own messages
//! inside the group travel.

use crate::context::{COLLECTIVE, Channel, received, tag};
use crate::create::made;
use crate::free::free;
use crate::insert::insert;
use crate::split::{Wish, gather, members};
use heddle_collective::{Part, bcast, run};
use heddle_comm::datatype::TypeInUse;
use heddle_comm::error::{Error, Result};
use heddle_comm::group::Group;
use heddle_comm::info::Entries;
use heddle_comm::{COMMS, Comm, CommRef, KeptComm, Plane, lifetime};
use heddle_datatype::types;
use heddle_message::buffer::Buffer;
use heddle_message::context::{Context, UNKNOWN, VniChoice, known};
use heddle_message::domain::{self, Domain};
use heddle_objects::table::Ref;
use heddle_p2p::sendrecv;
use heddle_spec::constants as mpi;
use std::sync::Arc;

/// The channel between the leaders of an intercommunicator.
const BETWEEN: Channel = (Plane::Collective, tag::INTER);

/// A group that agrees with another one, and its leader's way to the other leader.
pub(crate) struct Leaders<'a> {
    /// A communicator of the group.
    pub(crate) local: &'a CommRef,
    pub(crate) leader: usize,
    /// The leader's: a communicator in which the other leader has this rank.
    pub(crate) remote: Option<(&'a CommRef, i32)>,
    pub(crate) channel: Channel,
}

impl Leaders<'_> {
    /// Returns true in the leader.
    fn is_here(&self) -> bool {
        self.local.rank() == self.leader
    }

    /// Returns the other group's words. All processes of both groups call it; the leaders' words count.
    fn exchange(&self, words: &[u64]) -> Result<Vec<u64>> {
        let mut theirs = match self.remote {
            Some((comm, rank)) if self.is_here() => {
                let len = self.send_and_receive(comm, rank, &[words.len() as u64], 1)?;
                let len = len.first().map_or(0, |&len| len as usize);
                self.send_and_receive(comm, rank, words, len)?
            }
            _ => Vec::new(),
        };
        let mut len = [theirs.len() as u64];
        self.tell(&mut len)?;
        theirs.resize(len[0] as usize, 0);
        self.tell(&mut theirs)?;
        Ok(theirs)
    }

    fn send_and_receive(
        &self,
        comm: &CommRef,
        rank: i32,
        words: &[u64],
        expected: usize,
    ) -> Result<Vec<u64>> {
        let (mut ours, mut theirs) = (words.to_vec(), vec![0u64; expected]);
        let (plane, tag) = self.channel;
        // SAFETY: the words outlive the call, which returns when both messages are complete.
        let outgoing = unsafe { Buffer::bytes(ours.as_mut_ptr().cast(), size_of_val(&ours[..])) };
        // SAFETY: the words outlive the call, which returns when both messages are complete.
        let incoming = unsafe { Buffer::bytes(theirs.as_mut_ptr().cast(), size_of_val(&theirs[..])) };
        let outcome = sendrecv(comm, plane, (outgoing, rank, tag), (incoming, rank, tag))?;
        received(outcome.error)?;
        Ok(theirs)
    }

    /// Tells the group that its leader cannot agree with anybody, and returns why. The others wait for the
    /// leader's word in [`connect`].
    fn refuse(&self, error: Error) -> Error {
        // The leader's own error says more than one of the message to the group.
        let _ = self.tell(&mut [UNKNOWN, error.code() as u64]);
        error
    }

    /// Tells the group the leader's words.
    fn tell(&self, words: &mut [u64]) -> Result<()> {
        let word = TypeInUse::predefined(&types::MPI_UINT64_T);
        // SAFETY: the words outlive the call, which returns when they have been sent or received.
        let part = unsafe { Part::new(words.as_mut_ptr().cast(), words.len() as i64, &word) }?;
        run(self.local, |talk| bcast(talk, part, self.leader as i32))
    }
}

/// The communicator of the local group.
fn local_of(inter: &CommRef) -> Result<KeptComm> {
    let message = "the communicator is no intercommunicator: it has no remote group";
    inter.local().ok_or_else(|| Error::new(mpi::MPI_ERR_COMM, message))
}

/// Two leaders that both are rank 0 of an intercommunicator's groups.
fn first_ones<'a>(inter: &'a CommRef, local: &'a CommRef) -> Leaders<'a> {
    Leaders { local, leader: 0, remote: Some((inter, 0)), channel: BETWEEN }
}

/// `MPI_Intercomm_create`.
///
/// # Errors
/// `MPI_ERR_RANK` for a leader that does not exist; `MPI_ERR_TAG`; `MPI_ERR_COMM` if the groups overlap.
pub fn intercomm_create(
    local: &CommRef,
    leader: i32,
    peer: impl FnOnce() -> Result<CommRef>,
    remote_leader: i32,
    tag: i32,
) -> Result<usize> {
    local.check_intra()?;
    if leader as usize >= local.size() {
        let message = format!("there is no rank {leader} among the {} processes of local_comm", local.size());
        return Err(Error::new(mpi::MPI_ERR_RANK, message));
    }
    if !heddle_p2p::is_tag(tag) {
        return Err(Error::new(
            mpi::MPI_ERR_TAG,
            format!("{tag} is not a tag: tags go from 0 to MPI_TAG_UB"),
        ));
    }
    let mut leaders =
        Leaders { local, leader: leader as usize, remote: None, channel: (Plane::CreateInter, tag) };
    let peer = if leaders.is_here() {
        let checked = peer().and_then(|peer| check_remote_leader(&peer, remote_leader).map(|()| peer));
        Some(checked.map_err(|error| leaders.refuse(error))?)
    } else {
        None
    };
    leaders.remote = peer.as_ref().map(|peer| (peer, remote_leader));
    Ok(connect(domain::current()?, local, &leaders)?.handle())
}

/// Checks that the other group's leader is a process: no special value names one.
fn check_remote_leader(peer: &CommRef, rank: i32) -> Result<()> {
    if peer.peers.has(rank) {
        return Ok(());
    }
    let message = format!("there is no rank {rank} among the {} processes of peer_comm", peer.peers.size());
    Err(Error::new(mpi::MPI_ERR_RANK, message))
}

/// A new intercommunicator of the leaders' groups, with the error handler of `parent`.
pub(crate) fn connect(domain: &'static Domain, parent: &CommRef, leaders: &Leaders<'_>) -> Result<Ref<Comm>> {
    let group = &leaders.local.group;
    let ranks = |group: &Group| group.world_ranks().into_iter().map(u64::from).collect::<Vec<_>>();
    // The other group waits for the word, so it says that there is no context, too.
    let proposal = if leaders.is_here() { domain.new_context(VniChoice::default()) } else { Ok(UNKNOWN) };
    let mine = [vec![proposal.unwrap_or(UNKNOWN)], ranks(group)].concat();
    // A group knows its leader's proposal only after it is told, and whether its leader has one.
    let mut context = [mine[0], 0];
    leaders.tell(&mut context)?;
    if context[1] != 0 {
        let message = format!(
            "rank {} of local_comm, its leader, gave a peer_comm or a remote leader that does not exist",
            leaders.leader
        );
        return Err(Error::new(context[1] as i32, message));
    }
    let theirs = leaders.exchange(&[vec![context[0]], mine[1..].to_vec()].concat())?;
    let (their_context, their_ranks) = (theirs[0], &theirs[1..]);
    let remote = Group::from_world_ranks(their_ranks.iter().map(|&rank| rank as u32).collect());
    if their_ranks.iter().any(|&rank| group.rank_of(rank as usize).is_some()) {
        let message = "the two groups of an intercommunicator have a process in common";
        return Err(Error::new(mpi::MPI_ERR_COMM, message));
    }
    let context = known(if is_first(group, &remote) { context[0] } else { their_context })?;
    let rank = leaders.local.rank();
    let new = parent.child(Context::between_groups(context, rank, domain.vnis()), group.clone());
    let new = new.between_groups(Arc::new(remote), of_local_group(leaders.local)?);
    let handle = insert(new);
    COMMS.get(handle).ok_or_else(|| Error::new(mpi::MPI_ERR_INTERN, "a new communicator is gone"))
}

/// A communicator of the same group that no handle of the program leads to.
fn of_local_group(local: &CommRef) -> Result<(usize, Ref<Comm>)> {
    let handle = made(local, &local.group, COLLECTIVE, VniChoice::default(), |_| {})?;
    let kept = COMMS.get(handle).zip(COMMS.remove(handle));
    let (comm, of_table) =
        kept.ok_or_else(|| Error::new(mpi::MPI_ERR_INTERN, "a new communicator is gone"))?;
    lifetime::user_released(handle, of_table);
    Ok((handle, comm))
}

/// Returns true in the group whose first process has the lower rank in `MPI_COMM_WORLD`.
pub(crate) fn is_first(group: &Group, remote: &Group) -> bool {
    group.world_rank(0) < remote.world_rank(0)
}

/// `MPI_Comm_dup` of an intercommunicator.
///
/// # Errors
/// The error of a copy callback; `MPI_ERR_OTHER` if there is no number left for a context.
pub(crate) fn dup(inter: &CommRef, hints: &Entries) -> Result<usize> {
    let local = local_of(inter)?;
    let new = connect(domain::current()?, inter, &first_ones(inter, &local))?;
    new.take_hints(hints);
    if let Err(error) = inter.attributes.copy_all(inter.handle(), &new.attributes) {
        // The call fails as its copy callback said, whatever the delete callbacks say.
        let _ = new.attributes.delete_all(new.handle());
        COMMS.remove(new.handle());
        return Err(error);
    }
    Ok(new.handle())
}

/// `MPI_Comm_create` of an intercommunicator: of the processes in both sides' groups.
///
/// # Errors
/// `MPI_ERR_GROUP` if the group is not within the local group.
pub(crate) fn create(inter: &CommRef, group: &Arc<Group>) -> Result<usize> {
    if !group.is_within(&inter.group) {
        let message = "the group has members that the local group has not";
        return Err(Error::new(mpi::MPI_ERR_GROUP, message));
    }
    let local = local_of(inter)?;
    let ranks: Vec<u64> = group.world_ranks().into_iter().map(u64::from).collect();
    let theirs = first_ones(inter, &local).exchange(&ranks)?;
    part_of(inter, &local, group, theirs.first().and_then(|&world| inter.peers.rank_of(world as usize)))
}

/// The intercommunicator of a part of the local group and a part of the remote one, whose first process is
/// given; `MPI_COMM_NULL` if one of them is empty, or for a process that belongs to neither.
fn part_of(
    inter: &CommRef,
    local: &CommRef,
    group: &Arc<Group>,
    remote_leader: Option<usize>,
) -> Result<usize> {
    let Some(remote_leader) = remote_leader.filter(|_| group.size() > 0) else {
        return Ok(mpi::MPI_COMM_NULL);
    };
    let handle = made(local, group, COLLECTIVE, VniChoice::default(), |_| {})?;
    if handle == mpi::MPI_COMM_NULL {
        return Ok(handle);
    }
    let part = CommRef::from_handle(handle)?;
    let leaders =
        Leaders { local: &part, leader: 0, remote: Some((inter, remote_leader as i32)), channel: BETWEEN };
    let new = connect(domain::current()?, inter, &leaders).map(|new| new.handle());
    drop(part);
    free(handle)?;
    new
}

/// `MPI_Comm_split` of an intercommunicator: both sides' processes of one colour.
///
/// # Errors
/// Those of the messages.
pub(crate) fn split(inter: &CommRef, colour: i32, key: i32) -> Result<usize> {
    let local = local_of(inter)?;
    let wishes = gather(&local, Wish { colour, key, choice: VniChoice::default().to_word() })?;
    let words: Vec<u64> = wishes.iter().flat_map(|wish| [wish.colour as u64, wish.key as u64]).collect();
    let theirs: Vec<Wish> = first_ones(inter, &local)
        .exchange(&words)?
        .chunks_exact(2)
        .map(|pair| Wish { colour: pair[0] as i32, key: pair[1] as i32, choice: 0 })
        .collect();
    if colour == mpi::MPI_UNDEFINED {
        return Ok(mpi::MPI_COMM_NULL);
    }
    let world = |rank: usize| inter.group.world_rank(rank).map(|world| world as u32);
    let group = Group::from_world_ranks(members(&wishes, colour).into_iter().filter_map(world).collect());
    part_of(inter, &local, &Arc::new(group), members(&theirs, colour).first().copied())
}

/// `MPI_Intercomm_merge`: the processes of both groups, those of the group that is not `high` first. If both
/// say the same, the group is first whose first process has the lower rank in `MPI_COMM_WORLD`.
///
/// # Errors
/// `MPI_ERR_COMM` if it is no intercommunicator; `MPI_ERR_OTHER` if there is no number left for a context.
pub fn intercomm_merge(inter: &CommRef, high: bool) -> Result<usize> {
    let (local, domain) = (local_of(inter)?, domain::current()?);
    let leaders = first_ones(inter, &local);
    let proposal = if inter.rank() == 0 { domain.new_context(VniChoice::default()) } else { Ok(UNKNOWN) };
    // What the first process says counts for its group.
    let mut mine = [proposal.unwrap_or(UNKNOWN), u64::from(high)];
    leaders.tell(&mut mine)?;
    let theirs = leaders.exchange(&mine)?;
    let first = if mine[1] == theirs[1] { is_first(&inter.group, &inter.peers) } else { mine[1] == 0 };
    let context = known(if first { mine[0] } else { theirs[0] })?;
    let (lower, upper) = if first { (&inter.group, &inter.peers) } else { (&inter.peers, &inter.group) };
    let group = Group::from_world_ranks([lower.world_ranks(), upper.world_ranks()].concat());
    let rank = if first { inter.rank() } else { lower.size() + inter.rank() };
    Ok(insert(inter.child(Context::new(context, rank, domain.vnis()), Arc::new(group))))
}
