! Collective operations among neighbours: a ring, in which each rank has the one to its left and the one to its right.
program neighbors
#include "form.h"
  COUNT, parameter :: two = 2
  integer, parameter :: OPERATIONS = 5
  integer :: rank, size, left, right, ierror, i, repetition
  COMM :: ring
  COUNT :: counts(2)
  DISPLACEMENT :: displacements(2)
  integer(kind=MPI_ADDRESS_KIND) :: bytes(2)
  DATATYPE :: types(2)
  REQUEST :: requests(OPERATIONS)
  integer :: PART(given, 4, 2), PART(got, 4, OPERATIONS), gathered(4), exchanged(4)
#ifdef F08
  asynchronous :: given, got
#endif

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring, ierror)
  call MPI_Comm_rank(ring, rank, ierror)
  call MPI_Cart_shift(ring, 0, 1, left, right, ierror)
  call check(left == mod(rank + size - 1, size) .and. right == mod(rank + 1, size), 'MPI_Cart_shift')
  counts = 2
  displacements = [0, 2]
  bytes = [0, 8]
  types = MPI_INTEGER
  ! The first two numbers go to the left, the others to the right, unless all neighbours get the first two.
  PART(given, :, 1) = 100 * rank + [1, 2, 3, 4]
  gathered = [100 * left + 1, 100 * left + 2, 100 * right + 1, 100 * right + 2]
  exchanged = [100 * left + 3, 100 * left + 4, 100 * right + 1, 100 * right + 2]

  got = -1
  call MPI_Neighbor_allgather(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 1), two, MPI_INTEGER, ring, ierror)
  call MPI_Neighbor_allgatherv(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 2), counts, displacements, MPI_INTEGER, &
    ring, ierror)
  call MPI_Neighbor_alltoall(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 3), two, MPI_INTEGER, ring, ierror)
  call MPI_Neighbor_alltoallv(PART(given, :, 1), counts, displacements, MPI_INTEGER, PART(got, :, 4), counts, &
    displacements, MPI_INTEGER, ring, ierror)
  call MPI_Neighbor_alltoallw(PART(given, :, 1), counts, bytes, types, PART(got, :, 5), counts, bytes, types, ring, ierror)
  call check(all(PART(got, :, 1) == gathered), 'MPI_Neighbor_allgather')
  call check(all(PART(got, :, 2) == gathered), 'MPI_Neighbor_allgatherv')
  call check(all(PART(got, :, 3) == exchanged), 'MPI_Neighbor_alltoall')
  call check(all(PART(got, :, 4) == exchanged), 'MPI_Neighbor_alltoallv')
  call check(all(PART(got, :, 5) == exchanged), 'MPI_Neighbor_alltoallw')

  got = -1
  call MPI_Ineighbor_allgather(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 1), two, MPI_INTEGER, ring, requests(1), &
    ierror)
  call MPI_Ineighbor_allgatherv(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 2), counts, displacements, MPI_INTEGER, &
    ring, requests(2), ierror)
  call MPI_Ineighbor_alltoall(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 3), two, MPI_INTEGER, ring, requests(3), ierror)
  call MPI_Ineighbor_alltoallv(PART(given, :, 1), counts, displacements, MPI_INTEGER, PART(got, :, 4), counts, &
    displacements, MPI_INTEGER, ring, requests(4), ierror)
  call MPI_Ineighbor_alltoallw(PART(given, :, 1), counts, bytes, types, PART(got, :, 5), counts, bytes, types, ring, &
    requests(5), ierror)
  call MPI_Waitall(OPERATIONS, requests, MPI_STATUSES_IGNORE, ierror)
  call check(all(PART(got, :, 1) == gathered), 'MPI_Ineighbor_allgather')
  call check(all(PART(got, :, 2) == gathered), 'MPI_Ineighbor_allgatherv')
  call check(all(PART(got, :, 3) == exchanged), 'MPI_Ineighbor_alltoall')
  call check(all(PART(got, :, 4) == exchanged), 'MPI_Ineighbor_alltoallv')
  call check(all(PART(got, :, 5) == exchanged), 'MPI_Ineighbor_alltoallw')

  call MPI_Neighbor_allgather_init(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 1), two, MPI_INTEGER, ring, &
    MPI_INFO_NULL, requests(1), ierror)
  call MPI_Neighbor_allgatherv_init(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 2), counts, displacements, &
    MPI_INTEGER, ring, MPI_INFO_NULL, requests(2), ierror)
  call MPI_Neighbor_alltoall_init(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 3), two, MPI_INTEGER, ring, &
    MPI_INFO_NULL, requests(3), ierror)
  call MPI_Neighbor_alltoallv_init(PART(given, :, 1), counts, displacements, MPI_INTEGER, PART(got, :, 4), counts, &
    displacements, MPI_INTEGER, ring, MPI_INFO_NULL, requests(4), ierror)
  call MPI_Neighbor_alltoallw_init(PART(given, :, 1), counts, bytes, types, PART(got, :, 5), counts, bytes, types, ring, &
    MPI_INFO_NULL, requests(5), ierror)
  do repetition = 1, 2
    got = -1
    call MPI_Startall(OPERATIONS, requests, ierror)
    call MPI_Waitall(OPERATIONS, requests, MPI_STATUSES_IGNORE, ierror)
    call check(all(PART(got, :, 1) == gathered), 'MPI_Neighbor_allgather_init')
    call check(all(PART(got, :, 2) == gathered), 'MPI_Neighbor_allgatherv_init')
    call check(all(PART(got, :, 3) == exchanged), 'MPI_Neighbor_alltoall_init')
    call check(all(PART(got, :, 4) == exchanged), 'MPI_Neighbor_alltoallv_init')
    call check(all(PART(got, :, 5) == exchanged), 'MPI_Neighbor_alltoallw_init')
  end do
  do i = 1, OPERATIONS
    call MPI_Request_free(requests(i), ierror)
  end do
  call MPI_Comm_free(ring, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program neighbors
