! Collective operations, MPI_IN_PLACE, topologies with truth values, and arrays of types.
program collectives
#include "form.h"
  integer :: rank, size, ierror, i, count
  COMM :: grid, line
  REQUEST :: request
  DATATYPE, allocatable :: types(:)
  integer :: coords(2), dims(2), sources, destinations
  integer, allocatable :: all_ranks(:), counts(:), displacements(:), got(:), neighbors(:), weights(:)
  integer(kind=MPI_ADDRESS_KIND), allocatable :: bytes(:)
  logical :: periods(2), remain(2), flag, everywhere, weighted
  real :: values(4), sums(4)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  allocate (all_ranks(size), counts(size), displacements(size), types(size), got(size), bytes(size))

  call MPI_Allgather(rank, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == [(i, i = 0, size - 1)]), 'MPI_Allgather')
  all_ranks = -1
  all_ranks(rank + 1) = rank
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(all_ranks == [(i, i = 0, size - 1)]), 'MPI_Allgather in place')
  values = rank + 1
  call MPI_Allreduce(values, sums, 4, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call check(all(sums == size * (size + 1) / 2), 'MPI_Allreduce')
  call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, ierror)
  call check(all(values == size), 'MPI_Allreduce in place')
  call MPI_Allreduce(rank == 0, flag, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(rank == 0, everywhere, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
  call check(flag .and. (everywhere .eqv. size == 1), 'truth values')
  call MPI_Ibcast(all_ranks, size, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)

  counts = 1
  types = MPI_INTEGER
  displacements = [(4 * (i - 1), i = 1, size)]
  call MPI_Alltoallw(all_ranks, counts, displacements, types, got, counts, displacements, types, MPI_COMM_WORLD, ierror)
  call check(all(got == rank), 'MPI_Alltoallw')
  got = [(i, i = 1, size)] + 100 * rank
  call MPI_Alltoallw(MPI_IN_PLACE, counts, displacements, types, got, counts, displacements, types, MPI_COMM_WORLD, ierror)
  call check(all(got == [(rank + 1 + 100 * (i - 1), i = 1, size)]), 'MPI_Alltoallw in place')

  dims = [size, 1]
  periods = [.true., .false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierror)
  periods = .false.
  call MPI_Cart_get(grid, 2, dims, periods, coords, ierror)
  call check(periods(1) .and. .not. periods(2) .and. coords(1) == rank .and. dims(1) == size, 'MPI_Cart_get')
  remain = [.false., .true.]
  call MPI_Cart_sub(grid, remain, line, ierror)
  call MPI_Comm_size(line, count, ierror)
  call check(count == 1, 'MPI_Cart_sub')
  deallocate (counts, types, got, bytes)
  allocate (counts(4), types(4), got(4), bytes(4))
  counts = 1
  types = MPI_INTEGER
  bytes = [0, 4, 8, 12]
  got = -1
  call MPI_Neighbor_alltoallw([rank, rank, rank, rank], counts, bytes, types, got, counts, bytes, types, grid, ierror)
  call check(got(1) == mod(rank + size - 1, size) .and. got(2) == mod(rank + 1, size), 'MPI_Neighbor_alltoallw')
  call check(got(3) == -1 .and. got(4) == -1, 'no neighbours there')
  call MPI_Comm_free(line, ierror)
  call MPI_Comm_free(grid, ierror)
  call check(grid == MPI_COMM_NULL, 'MPI_Comm_free')

  allocate (neighbors(1), weights(1))
  neighbors = mod(rank + 1, size)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, neighbors, MPI_WEIGHTS_EMPTY, 1, neighbors, [3], &
    MPI_INFO_NULL, .false., grid, ierror)
  call MPI_Dist_graph_neighbors_count(grid, sources, destinations, weighted, ierror)
  call check(sources == 0 .and. destinations == 1 .and. weighted, 'a weighted graph')
  call MPI_Comm_free(grid, ierror)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, neighbors, MPI_UNWEIGHTED, 1, neighbors, MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .false., grid, ierror)
  call MPI_Dist_graph_neighbors_count(grid, sources, destinations, weighted, ierror)
  call check(.not. weighted, 'a graph without weights')
  call MPI_Comm_free(grid, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program collectives
