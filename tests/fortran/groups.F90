! Groups: parts of a group, unions and differences, comparison, and ranks of one group in another one.
program groups
#include "form.h"
  integer :: rank, size, ierror, i, found, number, two_ranks(2)
  integer, allocatable :: members(:), translated(:)
  GROUP :: world, first, last, group, other, reversed
  COMM :: comm

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate (members(size), translated(size))
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
  call MPI_Group_rank(world, found, ierror)
  call check(found == rank, 'MPI_Group_rank')
  members = [(size - i, i = 1, size)]

  call MPI_Group_incl(world, size, members, reversed, ierror)
  call MPI_Group_rank(reversed, found, ierror)
  call check(found == size - 1 - rank, 'MPI_Group_incl')
  call MPI_Group_compare(world, reversed, found, ierror)
  call check(found == merge(MPI_IDENT, MPI_SIMILAR, size == 1), 'MPI_Group_compare of another order')
  call MPI_Group_translate_ranks(reversed, size, [(i, i = 0, size - 1)], world, translated, ierror)
  call check(all(translated == members), 'MPI_Group_translate_ranks')

  ! The first rank alone, and all but the first rank.
  call MPI_Group_incl(world, 1, [0], first, ierror)
  call MPI_Group_excl(world, 1, [0], last, ierror)
  call MPI_Group_size(last, found, ierror)
  call check(found == size - 1, 'MPI_Group_excl')
  call MPI_Group_rank(last, found, ierror)
  call check(found == merge(MPI_UNDEFINED, rank - 1, rank == 0), 'the rank in MPI_Group_excl')
  call MPI_Group_translate_ranks(first, 2, [0, MPI_PROC_NULL], last, two_ranks, ierror)
  call check(all(two_ranks == [MPI_UNDEFINED, MPI_PROC_NULL]), 'MPI_Group_translate_ranks without a counterpart')
  call MPI_Group_union(last, first, group, ierror)
  call MPI_Group_rank(group, found, ierror)
  call check(found == mod(rank + size - 1, size), 'MPI_Group_union')
  call MPI_Group_free(group, ierror)
  call MPI_Group_union(first, last, group, ierror)
  call MPI_Group_compare(world, group, found, ierror)
  call check(found == MPI_IDENT, 'MPI_Group_compare of equal groups')
  call MPI_Group_free(group, ierror)
  call MPI_Group_intersection(first, last, group, ierror)
  call MPI_Group_compare(group, MPI_GROUP_EMPTY, found, ierror)
  call check(found == MPI_IDENT, 'MPI_Group_intersection without members')
  if (group /= MPI_GROUP_EMPTY) call MPI_Group_free(group, ierror)
  call MPI_Group_intersection(reversed, last, group, ierror)
  call MPI_Group_size(group, number, ierror)
  call MPI_Group_rank(group, found, ierror)
  call check(number == size - 1 .and. (rank == 0 .or. found == size - 1 - rank), 'MPI_Group_intersection')
  if (group /= MPI_GROUP_EMPTY) call MPI_Group_free(group, ierror)
  call MPI_Group_difference(world, first, other, ierror)
  call MPI_Group_compare(other, last, found, ierror)
  call check(found == MPI_IDENT, 'MPI_Group_difference')
  call MPI_Group_compare(world, first, found, ierror)
  call check(found == merge(MPI_IDENT, MPI_UNEQUAL, size == 1), 'MPI_Group_compare of other members')

  ! Ranges: first, last, stride.
  call MPI_Group_range_incl(world, 1, reshape([size - 1, 0, -1], [3, 1]), group, ierror)
  call MPI_Group_compare(group, reversed, found, ierror)
  call check(found == MPI_IDENT, 'MPI_Group_range_incl')
  call MPI_Group_free(group, ierror)
  call MPI_Group_range_excl(world, 1, reshape([0, size - 1, 2], [3, 1]), group, ierror)
  call MPI_Group_size(group, number, ierror)
  call MPI_Group_rank(group, found, ierror)
  call check(number == size / 2 .and. found == merge(rank / 2, MPI_UNDEFINED, mod(rank, 2) == 1), 'MPI_Group_range_excl')
  if (group /= MPI_GROUP_EMPTY) call MPI_Group_free(group, ierror)
  if (size > 2) then
    call MPI_Group_range_incl(world, 2, reshape([2, size - 1, 1, 0, 1, 1], [3, 2]), group, ierror)
    call MPI_Group_rank(group, found, ierror)
    call check(found == mod(rank + size - 2, size), 'MPI_Group_range_incl of two ranges')
    call MPI_Group_free(group, ierror)
  end if

  ! Communicators of groups.
  call MPI_Comm_create(MPI_COMM_WORLD, reversed, comm, ierror)
  call MPI_Comm_rank(comm, found, ierror)
  call check(found == size - 1 - rank, 'MPI_Comm_create')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_create(MPI_COMM_WORLD, first, comm, ierror)
  call check((comm == MPI_COMM_NULL) .neqv. rank == 0, 'MPI_Comm_create for some ranks')
  if (rank == 0) call MPI_Comm_free(comm, ierror)
  ! Only the members of the group call this one.
  if (rank > 0) then
    call MPI_Comm_create_group(MPI_COMM_WORLD, last, 4, comm, ierror)
    call MPI_Comm_rank(comm, found, ierror)
    call MPI_Comm_size(comm, number, ierror)
    call check(found == rank - 1 .and. number == size - 1, 'MPI_Comm_create_group')
    call MPI_Comm_free(comm, ierror)
  end if
  call MPI_Group_free(first, ierror)
  if (last /= MPI_GROUP_EMPTY) call MPI_Group_free(last, ierror)
  if (other /= MPI_GROUP_EMPTY) call MPI_Group_free(other, ierror)
  call MPI_Group_free(reversed, ierror)
  call MPI_Group_free(world, ierror)
  call check(world == MPI_GROUP_NULL, 'MPI_Group_free')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program groups
