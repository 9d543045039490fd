! The nonblocking collective operations: all of them go on at the same time.
program nonblocking
#include "form.h"
  COUNT, parameter :: none = 0, two = 2
  integer, parameter :: OPERATIONS = 17
  integer :: rank, size, ierror, root, i
  COUNT :: all_of_it
  COUNT, allocatable :: counts(:)
  DISPLACEMENT, allocatable :: displacements(:), bytes(:)
  DATATYPE, allocatable :: types(:)
  REQUEST :: requests(OPERATIONS)
  integer, allocatable :: given(:, :), got(:, :), every(:), sums(:)
  logical :: flag
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

  ! Operations with MPI_IN_PLACE, and the root of MPI_Ibcast, find their numbers in `got`.
  got = -1
  if (rank == root) PART(got, :2, 2) = 100 * root + [1, 2]
  PART(got, 2 * rank + 1:2 * rank + 2, 8) = PART(given, 1:2, 1)
  PART(got, :, 13) = PART(given, :, 1)
  call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Ibcast(PART(got, :, 2), two, MPI_INTEGER, root, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Igather(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 3), two, MPI_INTEGER, root, MPI_COMM_WORLD, &
    requests(3), ierror)
  call MPI_Igatherv(PART(given, :, 1), counts(1), MPI_INTEGER, PART(got, :, 4), counts, displacements, MPI_INTEGER, root, &
    MPI_COMM_WORLD, requests(4), ierror)
  call MPI_Iscatter(PART(given, :, 2), two, MPI_INTEGER, PART(got, :, 5), two, MPI_INTEGER, root, MPI_COMM_WORLD, &
    requests(5), ierror)
  call MPI_Iscatterv(PART(given, :, 2), counts, displacements, MPI_INTEGER, PART(got, :, 6), two, MPI_INTEGER, root, &
    MPI_COMM_WORLD, requests(6), ierror)
  call MPI_Iallgather(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 7), two, MPI_INTEGER, MPI_COMM_WORLD, requests(7), &
    ierror)
  call MPI_Iallgatherv(MPI_IN_PLACE, none, MPI_DATATYPE_NULL, PART(got, :, 8), counts, displacements, MPI_INTEGER, &
    MPI_COMM_WORLD, requests(8), ierror)
  call MPI_Ialltoall(PART(given, :, 1), two, MPI_INTEGER, PART(got, :, 9), two, MPI_INTEGER, MPI_COMM_WORLD, requests(9), &
    ierror)
  call MPI_Ialltoallv(PART(given, :, 1), counts, displacements, MPI_INTEGER, PART(got, :, 10), counts, displacements, &
    MPI_INTEGER, MPI_COMM_WORLD, requests(10), ierror)
  call MPI_Ialltoallw(PART(given, :, 1), counts, bytes, types, PART(got, :, 11), counts, bytes, types, MPI_COMM_WORLD, &
    requests(11), ierror)
  call MPI_Ireduce(PART(given, :, 1), PART(got, :, 12), all_of_it, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, &
    requests(12), ierror)
  call MPI_Iallreduce(MPI_IN_PLACE, PART(got, :, 13), all_of_it, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(13), ierror)
  call MPI_Ireduce_scatter_block(PART(given, :, 1), PART(got, :, 14), two, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
    requests(14), ierror)
  call MPI_Ireduce_scatter(PART(given, :, 1), PART(got, :, 15), counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(15), &
    ierror)
  call MPI_Iscan(PART(given, :, 1), PART(got, :, 16), all_of_it, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(16), ierror)
  call MPI_Iexscan(PART(given, :, 1), PART(got, :, 17), all_of_it, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(17), ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(OPERATIONS, requests, flag, MPI_STATUSES_IGNORE, ierror)
  end do
  call check(all([(requests(i) == MPI_REQUEST_NULL, i = 1, OPERATIONS)]), 'the requests are gone')
  call check(all(PART(got, :2, 2) == 100 * root + [1, 2]), 'MPI_Ibcast')
  call check(all(PART(got, :, 3) == merge(every, -1, rank == root)), 'MPI_Igather')
  call check(all(PART(got, :, 4) == merge(every, -1, rank == root)), 'MPI_Igatherv')
  call check(all(PART(got, :2, 5) == 100 * rank + [1, 2]), 'MPI_Iscatter')
  call check(all(PART(got, :2, 6) == 100 * rank + [1, 2]), 'MPI_Iscatterv')
  call check(all(PART(got, :, 7) == every), 'MPI_Iallgather')
  call check(all(PART(got, :, 8) == every), 'MPI_Iallgatherv')
  call check(all(PART(got, :, 9) == exchanged()), 'MPI_Ialltoall')
  call check(all(PART(got, :, 10) == exchanged()), 'MPI_Ialltoallv')
  call check(all(PART(got, :, 11) == exchanged()), 'MPI_Ialltoallw')
  call check(all(PART(got, :, 12) == merge(reduced(size), -1, rank == root)), 'MPI_Ireduce')
  call check(all(PART(got, :, 13) == reduced(size)), 'MPI_Iallreduce')
  call check(all(PART(got, :2, 14) == sums(2 * rank + 1:2 * rank + 2)), 'MPI_Ireduce_scatter_block')
  call check(all(PART(got, :2, 15) == sums(2 * rank + 1:2 * rank + 2)), 'MPI_Ireduce_scatter')
  call check(all(PART(got, :, 16) == reduced(rank + 1)), 'MPI_Iscan')
  call check(rank == 0 .or. all(PART(got, :, 17) == reduced(rank)), 'MPI_Iexscan')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "expected.h"
end program nonblocking
