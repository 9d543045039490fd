! The blocking collective operations, with a block of two numbers for each pair of ranks, and MPI_IN_PLACE.
program blocking
#include "form.h"
  COUNT, parameter :: none = 0, one = 1, two = 2
  integer :: rank, size, ierror, root, i
  COUNT, allocatable :: counts(:), unequal(:)
  DISPLACEMENT, allocatable :: displacements(:), starts(:), bytes(:)
  DATATYPE, allocatable :: types(:)
  integer, allocatable :: mine(:), every(:), got(:), uneven(:)
  integer :: total

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  root = size - 1
  ! Rank r contributes r + 1 numbers to the operations with unequal counts.
  total = size * (size + 1) / 2
  allocate (counts(size), unequal(size), displacements(size), starts(size), bytes(size), types(size))
  allocate (mine(2 * size), every(2 * size), got(2 * size), uneven(total))
  counts = 2
  unequal = [(i, i = 1, size)]
  displacements = [(2 * (i - 1), i = 1, size)]
  starts = [(i * (i - 1) / 2, i = 1, size)]
  bytes = 4 * displacements
  types = MPI_INTEGER
  mine = [(100 * rank + i, i = 1, 2 * size)]
  every = [(100 * ((i - 1) / 2) + 1 + mod(i - 1, 2), i = 1, 2 * size)]

  got = -1
  if (rank == root) got(1:2) = [5, 6]
  call MPI_Bcast(got, two, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
  call check(all(got(1:2) == [5, 6]) .and. all(got(3:) == -1), 'MPI_Bcast')

  got = -1
  call MPI_Gather(mine, two, MPI_INTEGER, got, two, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
  call check(all(got == merge(every, -1, rank == root)), 'MPI_Gather')
  got = -1
  call MPI_Gatherv(mine, two, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
  call check(all(got == merge(every, -1, rank == root)), 'MPI_Gatherv')
  uneven = -1
  call MPI_Gatherv([(rank, i = 1, size)], unequal(rank + 1), MPI_INTEGER, uneven, unequal, starts, MPI_INTEGER, root, &
    MPI_COMM_WORLD, ierror)
  if (rank == root) call check(all(uneven == ranks_repeated()), 'MPI_Gatherv with unequal counts')
  got = -1
  call MPI_Scatter(every, two, MPI_INTEGER, got, two, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
  call check(all(got(1:2) == 100 * rank + [1, 2]) .and. all(got(3:) == -1), 'MPI_Scatter')
  got = -1
  call MPI_Scatterv(ranks_repeated(), unequal, starts, MPI_INTEGER, got, unequal(rank + 1), MPI_INTEGER, root, &
    MPI_COMM_WORLD, ierror)
  call check(all(got(:rank + 1) == rank) .and. all(got(rank + 2:) == -1), 'MPI_Scatterv')
  ! At the root MPI_IN_PLACE leaves the part of the root where it is.
  got = mine
  if (rank == root) then
    call MPI_Scatter(got, two, MPI_INTEGER, MPI_IN_PLACE, none, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call check(all(got == mine), 'MPI_Scatter in place')
  else
    call MPI_Scatter(mine, two, MPI_INTEGER, got, two, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call check(all(got(1:2) == 100 * root + 2 * rank + [1, 2]), 'MPI_Scatter from a root in place')
  end if
  got = -1
  got(2 * rank + 1:2 * rank + 2) = mine(1:2)
  if (rank == root) then
    call MPI_Gather(MPI_IN_PLACE, none, MPI_INTEGER, got, two, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
    call check(all(got == every), 'MPI_Gather in place')
  else
    call MPI_Gather(mine, two, MPI_INTEGER, got, two, MPI_INTEGER, root, MPI_COMM_WORLD, ierror)
  end if

  got = -1
  call MPI_Allgather(mine, two, MPI_INTEGER, got, two, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(got == every), 'MPI_Allgather')
  uneven = -1
  call MPI_Allgatherv([(rank, i = 1, size)], unequal(rank + 1), MPI_INTEGER, uneven, unequal, starts, MPI_INTEGER, &
    MPI_COMM_WORLD, ierror)
  call check(all(uneven == ranks_repeated()), 'MPI_Allgatherv')
  uneven = -1
  uneven(starts(rank + 1) + 1:starts(rank + 1) + rank + 1) = rank
  call MPI_Allgatherv(MPI_IN_PLACE, none, MPI_DATATYPE_NULL, uneven, unequal, starts, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(uneven == ranks_repeated()), 'MPI_Allgatherv in place')

  got = -1
  call MPI_Alltoall(mine, two, MPI_INTEGER, got, two, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(got == exchanged()), 'MPI_Alltoall')
  got = mine
  call MPI_Alltoall(MPI_IN_PLACE, none, MPI_DATATYPE_NULL, got, two, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(got == exchanged()), 'MPI_Alltoall in place')
  got = -1
  call MPI_Alltoallv(mine, counts, displacements, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(got == exchanged()), 'MPI_Alltoallv')
  got = mine
  call MPI_Alltoallv(MPI_IN_PLACE, counts, displacements, MPI_INTEGER, got, counts, displacements, MPI_INTEGER, &
    MPI_COMM_WORLD, ierror)
  call check(all(got == exchanged()), 'MPI_Alltoallv in place')
  got = -1
  call MPI_Alltoallw(mine, counts, bytes, types, got, counts, bytes, types, MPI_COMM_WORLD, ierror)
  call check(all(got == exchanged()), 'MPI_Alltoallw')

  ! Every reduction adds up `mine`; entry i of the sum is reduced(i).
  got = -1
  call MPI_Reduce(mine, got, 2 * size * one, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierror)
  call check(all(got == merge(reduced(size), -1, rank == root)), 'MPI_Reduce')
  got = mine
  if (rank == root) then
    call MPI_Reduce(MPI_IN_PLACE, got, 2 * size * one, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierror)
    call check(all(got == reduced(size)), 'MPI_Reduce in place')
  else
    call MPI_Reduce(mine, got, 2 * size * one, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, ierror)
  end if
  got = -1
  call MPI_Allreduce(mine, got, 2 * size * one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(got == reduced(size)), 'MPI_Allreduce')
  every = reduced(size)
  got = -1
  call MPI_Reduce_scatter_block(mine, got, two, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(got(1:2) == every(2 * rank + 1:2 * rank + 2)) .and. all(got(3:) == -1), 'MPI_Reduce_scatter_block')
  got = mine
  call MPI_Reduce_scatter_block(MPI_IN_PLACE, got, two, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(got(1:2) == every(2 * rank + 1:2 * rank + 2)), 'MPI_Reduce_scatter_block in place')
  ! The first rank gets one number, the last one three.
  counts(1) = counts(1) - 1
  counts(size) = counts(size) + 1
  got = -1
  call MPI_Reduce_scatter(mine, got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  i = 2 * rank - merge(1, 0, rank > 0)
  call check(all(got(:counts(rank + 1)) == every(i + 1:i + counts(rank + 1))), 'MPI_Reduce_scatter')
  got = -1
  call MPI_Scan(mine, got, 2 * size * one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(got == reduced(rank + 1)), 'MPI_Scan')
  got = mine
  call MPI_Scan(MPI_IN_PLACE, got, 2 * size * one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(got == reduced(rank + 1)), 'MPI_Scan in place')
  got = -1
  call MPI_Exscan(mine, got, 2 * size * one, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank > 0) call check(all(got == reduced(rank)), 'MPI_Exscan')
  got = 7
  every = 1
  call MPI_Reduce_local(every, got, two, MPI_INTEGER, MPI_MIN, ierror)
  call check(all(got(1:2) == 1) .and. all(got(3:) == 7), 'MPI_Reduce_local')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "expected.h"
end program blocking
