! The persistent collective operations: all of them are started together, twice.
program persistent
#include "form.h"
  COUNT, parameter :: none = 0, two = 2
  integer, parameter :: OPERATIONS = 17
  integer :: rank, size, ierror, root, i
  COUNT :: all_of_it
  COUNT, allocatable :: counts(:)
  DISPLACEMENT, allocatable :: displacements(:), bytes(:)
  DATATYPE, allocatable :: types(:)
  REQUEST :: requests(OPERATIONS), made(OPERATIONS)
  integer, allocatable :: given(:, :), got(:, :), every(:), sums(:)
  integer :: repetition
#ifdef F08
  asynchronous :: given, got
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  root = size / 2
  allocate (counts(size), displacements(size), bytes(size), types(size))
  allocate (PART(given, 2 * size, 2), PART(got, 2 * size, OPERATIONS), every(2 * size), sums(2 * size))
  all_of_it = 2 * size
  counts = 2
  displacements = [(2 * (i - 1), i = 1, size)]
  bytes = 4 * displacements
  types = MPI_INTEGER
  every = [(100 * ((i - 1) / 2) + 1 + mod(i - 1, 2), i = 1, 2 * size)]
  PART(given, :, 1) = [(100 * rank + i, i = 1, 2 * size)]
  PART(given, :, 2) = every
  sums = reduced(size)

  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierror)
  call MPI_Bcast_init(PART(got, :, 2), two, MPI_INTEGER, root, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), ierror)
  call MPI_Gather_init(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 3), two, MPI_INTEGER, root, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(3), ierror)
  call MPI_Gatherv_init(PART(given, :, 1), counts(1), MPI_INTEGER, PART(got, :, 4), counts, displacements, MPI_INTEGER, &
    root, MPI_COMM_WORLD, MPI_INFO_NULL, requests(4), ierror)
  call MPI_Scatter_init(PART(given, :, 2), two, MPI_INTEGER, PART(got, :, 5), two, MPI_INTEGER, root, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(5), ierror)
  call MPI_Scatterv_init(PART(given, :, 2), counts, displacements, MPI_INTEGER, PART(got, :, 6), two, MPI_INTEGER, root, &
    MPI_COMM_WORLD, MPI_INFO_NULL, requests(6), ierror)
  call MPI_Allgather_init(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 7), two, MPI_INTEGER, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(7), ierror)
  call MPI_Allgatherv_init(MPI_IN_PLACE, none, MPI_DATATYPE_NULL, PART(got, :, 8), counts, displacements, MPI_INTEGER, &
    MPI_COMM_WORLD, MPI_INFO_NULL, requests(8), ierror)
  call MPI_Alltoall_init(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 9), two, MPI_INTEGER, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(9), ierror)
  call MPI_Alltoallv_init(PART(given, :, 1), counts, displacements, MPI_INTEGER, PART(got, :, 10), counts, displacements, &
    MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, requests(10), ierror)
  call MPI_Alltoallw_init(PART(given, :, 1), counts, bytes, types, PART(got, :, 11), counts, bytes, types, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(11), ierror)
  call MPI_Reduce_init(PART(given, :, 1), PART(got, :, 12), all_of_it, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(12), ierror)
  call MPI_Allreduce_init(MPI_IN_PLACE, PART(got, :, 13), all_of_it, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(13), ierror)
  call MPI_Reduce_scatter_block_init(PART(given, :, 1), PART(got, :, 14), two, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(14), ierror)
  call MPI_Reduce_scatter_init(PART(given, :, 1), PART(got, :, 15), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
    MPI_INFO_NULL, requests(15), ierror)
  call MPI_Scan_init(PART(given, :, 1), PART(got, :, 16), all_of_it, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(16), ierror)
  call MPI_Exscan_init(PART(given, :, 1), PART(got, :, 17), all_of_it, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(17), ierror)
  made = requests

  do repetition = 1, 2
    ! Operations with MPI_IN_PLACE, and the root of MPI_Bcast_init, find their numbers in `got`.
    got = -1
    if (rank == root) PART(got, :2, 2) = 100 * root + [1, 2]
    PART(got, 2 * rank + 1:2 * rank + 2, 8) = PART(given, 1:2, 1)
    PART(got, :, 13) = PART(given, :, 1)
    if (repetition == 1) then
      call MPI_Startall(OPERATIONS, requests, ierror)
    else
      do i = 1, OPERATIONS
        call MPI_Start(requests(i), ierror)
      end do
    end if
    call MPI_Waitall(OPERATIONS, requests, MPI_STATUSES_IGNORE, ierror)
    call check(all([(requests(i) == made(i), i = 1, OPERATIONS)]), 'the requests remain')
    call check(all(PART(got, :2, 2) == 100 * root + [1, 2]), 'MPI_Bcast_init')
    call check(all(PART(got, :, 3) == merge(every, -1, rank == root)), 'MPI_Gather_init')
    call check(all(PART(got, :, 4) == merge(every, -1, rank == root)), 'MPI_Gatherv_init')
    call check(all(PART(got, :2, 5) == 100 * rank + [1, 2]), 'MPI_Scatter_init')
    call check(all(PART(got, :2, 6) == 100 * rank + [1, 2]), 'MPI_Scatterv_init')
    call check(all(PART(got, :, 7) == every), 'MPI_Allgather_init')
    call check(all(PART(got, :, 8) == every), 'MPI_Allgatherv_init')
    call check(all(PART(got, :, 9) == exchanged()), 'MPI_Alltoall_init')
    call check(all(PART(got, :, 10) == exchanged()), 'MPI_Alltoallv_init')
    call check(all(PART(got, :, 11) == exchanged()), 'MPI_Alltoallw_init')
    call check(all(PART(got, :, 12) == merge(reduced(size), -1, rank == root)), 'MPI_Reduce_init')
    call check(all(PART(got, :, 13) == reduced(size)), 'MPI_Allreduce_init')
    call check(all(PART(got, :2, 14) == sums(2 * rank + 1:2 * rank + 2)), 'MPI_Reduce_scatter_block_init')
    call check(all(PART(got, :2, 15) == sums(2 * rank + 1:2 * rank + 2)), 'MPI_Reduce_scatter_init')
    call check(all(PART(got, :, 16) == reduced(rank + 1)), 'MPI_Scan_init')
    call check(rank == 0 .or. all(PART(got, :, 17) == reduced(rank)), 'MPI_Exscan_init')
  end do
  do i = 1, OPERATIONS
    call MPI_Request_free(requests(i), ierror)
  end do
  call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, OPERATIONS)]), 'MPI_Request_free')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "expected.h"
end program persistent
