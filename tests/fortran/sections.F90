! Buffers that are array sections with gaps, in mpi_f08: described by datatypes, or copied, also while an operation is under way.
program sections
#include "form.h"
#ifdef F08
  integer, parameter :: N = 6
  integer :: rank, size, left, right, code, class, i, j, k, position, length
  integer :: line(60), cube(N, N, N), expected(N, N)
  integer, asynchronous :: later(60), more(60), backward(9), plane(N, N), plain(N * N * N), parts(60)
  integer :: counts(4), displacements(4)
  type(MPI_Datatype) :: pair, sparse, types(4)
  type(MPI_Request) :: request, requests(4)
  type(MPI_Status) :: status
  type(MPI_Message) :: message
  type(MPI_Win) :: win
  integer(kind=MPI_ADDRESS_KIND) :: address, other
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=2) :: words(4), got(4)
  type point
    integer :: x
    double precision :: y
  end type point
  type(point) :: points(4), received(4)
  logical :: flag

  call MPI_Init()
  call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'the promises')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  cube = reshape([(1000 * rank + i, i = 1, N**3)], [N, N, N])

  ! A line, backwards too; a section that is too long is a message of its first elements.
  line = [(100 * rank + i, i = 1, 60)]
  later = -1
  call MPI_Irecv(later(2:60:3), 5, MPI_INTEGER, left, 1, MPI_COMM_WORLD, request)
  call MPI_Send(line(1:10:2), 5, MPI_INTEGER, right, 1, MPI_COMM_WORLD)
  call MPI_Wait(request, status)
  call check(all(later(2:14:3) == [(100 * left + i, i = 1, 9, 2)]), 'a line')
  call check(count(later == -1) == 55, 'the gaps')
  call MPI_Get_count(status, MPI_INTEGER, length)
  call check(length == 5, 'its count')
  call MPI_Sendrecv(line(9:1:-1), 9, MPI_INTEGER, right, 2, backward(9:1:-2), 5, MPI_INTEGER, MPI_PROC_NULL, 2, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Irecv(backward(9:1:-1), 9, MPI_INTEGER, left, 2, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(backward == [(100 * left + i, i = 1, 9)]), 'backwards twice')

  ! Requests that send and receive, and a receive of a message that was found before.
  later = -1
  call MPI_Isendrecv(line(2:10:4), 3, MPI_INTEGER, right, 20, later(1:60:5), 3, MPI_INTEGER, left, 20, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(later(1:11:5) == 100 * left + [2, 6, 10]) .and. count(later == -1) == 57, 'MPI_Isendrecv')
  call MPI_Isendrecv_replace(later(1:60:5), 3, MPI_INTEGER, right, 21, left, 21, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  i = mod(left + size - 1, size)
  ! MPICH's receives wrong numbers if the type has gaps, also from C.
  if (.not. on_mpich()) call check(all(later(1:11:5) == 100 * i + [2, 6, 10]) .and. count(later == -1) == 57, &
    'MPI_Isendrecv_replace')
  call MPI_Isend(line(1:60:20), 3, MPI_INTEGER, right, 22, MPI_COMM_WORLD, requests(1))
  call MPI_Mprobe(left, 22, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE)
  call MPI_Imrecv(later(60:1:-7), 3, MPI_INTEGER, message, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(later(60:46:-7) == 100 * left + [1, 21, 41]), 'MPI_Imrecv')

  ! Faces of a cube, and the beginning of a section of three dimensions, in one call and in requests.
  plane = 0
  call MPI_Irecv(plane(2:5, ::2), 12, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(cube(2, 2:5, 1:5:2), 12, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  expected = 0
  do k = 1, 5, 2
    expected(2:5, k) = [(1000 * left + 2 + N * (j - 1) + N * N * (k - 1), j = 2, 5)]
  end do
  call check(all(plane == expected), 'faces')
  plain = 0
  call MPI_Irecv(plain, 22, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(cube(2:4, 1:2, 2:5), 22, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  position = 0
  first: do k = 2, 5
    do j = 1, 2
      do i = 2, 4
        position = position + 1
        if (position > 22) exit first
        call check(plain(position) == 1000 * left + i + N * (j - 1) + N * N * (k - 1), 'a beginning')
      end do
    end do
  end do first
  call check(plain(23) == 0, 'its end')
  ! The same into the section, as bytes, with a large count; and into components and characters.
  cube = 0
  call MPI_Irecv(cube(2:4, 1:2, 2:5), 84_MPI_COUNT_KIND, MPI_BYTE, left, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Send(line, 84, MPI_BYTE, right, 5, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call check(cube(4, 1, 3) == 100 * left + 9 .and. cube(2, 2, 3) == 100 * left + 10 .and. sum(cube) == 21 * 100 * left + 231, &
    'bytes')
  points%x = rank
  points%y = rank + 0.5d0
  received%x = -1
  call MPI_Irecv(received%y, 4, MPI_DOUBLE_PRECISION, left, 6, MPI_COMM_WORLD, request)
  call MPI_Send(points%y, 4, MPI_DOUBLE_PRECISION, right, 6, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(received%y == left + 0.5d0) .and. all(received%x == -1), 'components')
  words = ['ab', 'cd', 'ef', 'gh']
  got = '--'
  call MPI_Irecv(got(1:3:2), 4, MPI_CHARACTER, left, 7, MPI_COMM_WORLD, request)
  call MPI_Send(words(2:4:2), 4, MPI_CHARACTER, right, 7, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(got == ['cd', '--', 'gh', '--']), 'characters')

  ! Types of several elements, and with gaps of their own: of those there is a copy.
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, sparse)
  call MPI_Type_commit(sparse)
  later = -1
  call MPI_Irecv(later(1:60:3), 2, sparse, left, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(line(1:60:2), 2, pair, right, 8, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all([later(1), later(7), later(10), later(16)] == 100 * left + [1, 3, 5, 7]), 'a sparse type')
  call check(all([later(4), later(13), later(2)] == -1), 'and its gaps')

  ! Persistent requests read and write their sections at each turn.
  call MPI_Recv_init(later(2:60:2), 2, sparse, left, 9, MPI_COMM_WORLD, requests(1))
  call MPI_Send_init(line(1:60:2), 2, pair, right, 9, MPI_COMM_WORLD, requests(2))
  do i = 1, 3
    line(1:7:2) = 100 * rank + 10 * i
    later = 0
    call MPI_Startall(2, requests)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
    end do
    call check(all(later(2:12:2) == (100 * left + 10 * i) * [1, 0, 1, 1, 0, 1]), 'persistent requests')
  end do
  later = 5
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(later == 5), 'inactive ones write nothing')
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! Collective operations: one message, several, reductions.
  line = [(100 * rank + i, i = 1, 60)]
  later = -1
  if (rank == 0) later(1:12:3) = [1, 2, 3, 4]
  call MPI_Bcast(later(1:12:3), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call check(all(later(1:12:3) == [1, 2, 3, 4]), 'MPI_Bcast')
  later = -1
  call MPI_Iallgather(line(1:3:2), 2, MPI_INTEGER, later(1:60:2), 2, MPI_INTEGER, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(later(1:4 * size:2) == [((100 * i + j, j = 1, 3, 2), i = 0, size - 1)]), 'MPI_Iallgather')
  call check(later(4 * size + 1) == -1 .and. later(2) == -1, 'and its gaps')
  plane = -1
  call MPI_Allgather(line(1:4:3), 1, pair, plane(1:4, 1:4), 2, MPI_INTEGER, MPI_COMM_WORLD)
  parts(1:16) = reshape(plane(1:4, 1:4), [16])
  call check(all(parts(1:2 * size) == [((100 * i + j, j = 1, 4, 3), i = 0, size - 1)]), 'parts in a plane')
  counts = 1
  displacements = [4, 2, 0, 6]
  plane = -1
  call MPI_Igatherv(line(1:60:7), 1, MPI_INTEGER, plane(1:4, 1:4), counts, displacements, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  parts(1:16) = reshape(plane(1:4, 1:4), [16])
  if (rank == 0) call check(all(parts(displacements(1:size) + 1) == [(100 * i + 1, i = 0, size - 1)]), 'MPI_Igatherv')
  later = -1
  more = -1
  call MPI_Iallreduce(line(1:60:2), later(1:60:2), 30, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
  call MPI_Iscan(line(60:1:-1), more(60:1:-1), 60, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(2))
  requests(3) = MPI_REQUEST_NULL
  do i = 1, 2
    call MPI_Waitany(3, requests, position, MPI_STATUS_IGNORE)
  end do
  call check(all(later(1:60:2) == [(size * i + 50 * size * (size - 1), i = 1, 60, 2)]), 'MPI_Iallreduce')
  call check(all(later(2:60:2) == -1) .and. all(more == line), 'the gaps, and MPI_Iscan')
  ! Requests that are complete at once may have one handle together.
  call MPI_Iallreduce(line(1:60:2), later(1:60:2), 30, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, requests(1))
  call MPI_Iallreduce(line(1:60:3), more(1:60:3), 20, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(later(1:60:2) == line(1:60:2)) .and. all(more(1:60:3) == line(1:60:3)), 'two that are complete')
  call MPI_Allreduce(MPI_IN_PLACE, later(1:60:20), 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call MPI_Allreduce_init(line(1:9:2), later(2:60:3), 5, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, request)
  do i = 1, 2
    line(1) = 1000 * i
    call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(later(2:14:3) == [1000 * i, (100 * (size - 1) + j, j = 3, 9, 2)]), 'MPI_Allreduce_init')
  end do
  call MPI_Request_free(request)
  counts = 1
  displacements = [0, 4, 8, 12]
  types = MPI_INTEGER
  plane = -1
  call MPI_Ialltoallw(line(2:60:2), counts, displacements, types, plane(1:4, 1:4), counts, displacements, types, &
    MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(plane(1:size, 1) == [(100 * i + 2 * (rank + 1), i = 0, size - 1)]), 'MPI_Ialltoallw')

  ! Packing, windows, addresses.
  position = 0
  call MPI_Pack(line(2:8:2), 4, MPI_INTEGER, parts, 240, position, MPI_COMM_WORLD)
  call check(position == 16 .and. all(parts(1:4) == line(2:8:2)), 'MPI_Pack')
  position = 0
  call MPI_Unpack(parts, 16, position, plane(5, 1:4), 4, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(plane(5, 1:4) == line(2:8:2)), 'MPI_Unpack')
  parts = -1
  call MPI_Win_create(parts, 240_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_fence(0, win)
  call MPI_Put(line(2:8:2), 4, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(all(parts(4:7) == [(100 * left + i, i = 2, 8, 2)]), 'MPI_Put')
  plane = 0
  call MPI_Get(plane(1:2, 1:3), 4, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 4, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call check(all(plane(1:2, 1:2) == reshape([(100 * rank + i, i = 2, 8, 2)], [2, 2])) .and. plane(1, 3) == 0, 'MPI_Get')
  call MPI_Accumulate(line(2:8:2), 4, MPI_INTEGER, right, 3_MPI_ADDRESS_KIND, 4, MPI_INTEGER, MPI_SUM, win)
  call MPI_Win_fence(0, win)
  call check(all(parts(4:7) == 2 * [(100 * left + i, i = 2, 8, 2)]), 'MPI_Accumulate')
  call MPI_Get_address(line(2:8:2), address)
  call MPI_Get_address(line(2), other)
  call check(address == other, 'MPI_Get_address')
  call MPI_Psend_init(line(1:8:2), 2, 2_MPI_COUNT_KIND, MPI_INTEGER, right, 9, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
  call MPI_Precv_init(later(1:12:3), 2, 2_MPI_COUNT_KIND, MPI_INTEGER, left, 9, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
  call MPI_Startall(2, requests)
  call MPI_Pready(1, requests(1))
  call MPI_Pready(0, requests(1))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(all(later(4:10:3) == 100 * left + [3, 5, 7]), 'partitions')
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! Errors.
  call MPI_Win_set_errhandler(win, merge(MPI_ERRORS_ABORT, MPI_ERRORS_RETURN, on_intel()))
  call MPI_Put(line(1:60:2), 1, sparse, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, code)
  call refused('a sparse type in a window', 'no datatype describes')
  call MPI_Win_fence(0, win)
  call MPI_Win_free(win)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, merge(MPI_ERRORS_ABORT, MPI_ERRORS_RETURN, on_intel()))
  call MPI_Send(line(1:5:2), 4, MPI_INTEGER, right, 0, MPI_COMM_WORLD, code)
  call refused('a count that is too large', 'fewer elements')
  call MPI_Win_create(line(1:60:2), 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  call refused('memory with gaps', 'contiguous')
  call MPI_Send(line(1:5:2), -1, MPI_INTEGER, right, 0, MPI_COMM_WORLD, code)
  call MPI_Error_class(code, class)
  call check(class == MPI_ERR_COUNT, 'a negative count')
  call MPI_Type_free(pair)
  call MPI_Type_free(sparse)
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'ok'
#else
  call check(.not. MPI_SUBARRAYS_SUPPORTED, 'the promises')
  print '(a)', 'ok'
#endif
contains
#ifdef F08
  subroutine refused(what, words)
    character(len=*), intent(in) :: what, words
    call MPI_Error_class(code, class)
    call MPI_Error_string(code, text, length)
    call check(class == MPI_ERR_BUFFER .and. index(text, words) > 0, what)
  end subroutine refused
#endif
#include "check.h"
#include "peer.h"
end program sections
