! The modes of sending (standard, buffered, synchronous, ready), blocking, nonblocking and persistent, and ways of receiving.
program modes
  use, intrinsic :: iso_c_binding, only: c_associated, c_loc, c_ptr
#include "form.h"
  COUNT, parameter :: none = 0, three = 3
  integer, parameter :: MODE_COUNT = 4, SPACE = 4 * (3 * 4 + MPI_BSEND_OVERHEAD)
  integer :: rank, size, left, right, ierror, i, repetition
  integer :: mine(3), theirs(3), got(3, MODE_COUNT), both(3)
  COUNT :: length
  MESSAGE :: message
  REQUEST :: receives(MODE_COUNT), sends(MODE_COUNT), request
  STATUS(status)
  STATUSES(statuses, MODE_COUNT)
  character, target :: buffer(SPACE)
  logical :: flag
#ifdef F08
  type(c_ptr) :: detached
  asynchronous :: mine, got, both
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  mine = 10 * rank + [1, 2, 3]
  theirs = 10 * left + [1, 2, 3]
  length = SPACE
  call MPI_Buffer_attach(buffer, length, ierror)

  ! All receives wait when the sends begin, as the ready mode needs it.
  call receive_all
  call MPI_Send(mine, three, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
  call MPI_Bsend(mine, three, MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierror)
  call MPI_Ssend(mine, three, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierror)
  call MPI_Rsend(mine, three, MPI_INTEGER, right, 4, MPI_COMM_WORLD, ierror)
  call check_all('a blocking send')
  call receive_all
  call MPI_Isend(mine, three, MPI_INTEGER, right, 1, MPI_COMM_WORLD, sends(1), ierror)
  call MPI_Ibsend(mine, three, MPI_INTEGER, right, 2, MPI_COMM_WORLD, sends(2), ierror)
  call MPI_Issend(mine, three, MPI_INTEGER, right, 3, MPI_COMM_WORLD, sends(3), ierror)
  call MPI_Irsend(mine, three, MPI_INTEGER, right, 4, MPI_COMM_WORLD, sends(4), ierror)
  call check_all('a nonblocking send')
  call MPI_Waitall(MODE_COUNT, sends, MPI_STATUSES_IGNORE, ierror)
  call MPI_Send_init(mine, three, MPI_INTEGER, right, 1, MPI_COMM_WORLD, sends(1), ierror)
  call MPI_Bsend_init(mine, three, MPI_INTEGER, right, 2, MPI_COMM_WORLD, sends(2), ierror)
  call MPI_Ssend_init(mine, three, MPI_INTEGER, right, 3, MPI_COMM_WORLD, sends(3), ierror)
  call MPI_Rsend_init(mine, three, MPI_INTEGER, right, 4, MPI_COMM_WORLD, sends(4), ierror)
  do repetition = 1, 2
    mine = mine + 100
    theirs = theirs + 100
    call receive_all
    call MPI_Start(sends(3), ierror)
    call MPI_Start(sends(1), ierror)
    call MPI_Start(sends(2), ierror)
    call MPI_Start(sends(4), ierror)
    call check_all('a persistent send')
    call MPI_Waitall(MODE_COUNT, sends, MPI_STATUSES_IGNORE, ierror)
  end do
  do i = 1, MODE_COUNT
    call MPI_Request_free(sends(i), ierror)
  end do
  length = 0
#ifdef F08
  call MPI_Buffer_detach(detached, length, ierror)
  call check(c_associated(detached, c_loc(buffer)), 'the address of the buffer')
#else
  call MPI_Buffer_detach(buffer, length, ierror)
#endif
  call check(length == SPACE, 'MPI_Buffer_detach')

  ! A synchronous send is not complete before its message is received.
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Issend(mine, three, MPI_INTEGER, right, 1, MPI_COMM_WORLD, request, ierror)
  do i = 1, 10
    call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierror)
    call check(.not. flag, 'a synchronous send that nobody receives')
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Recv(got, three, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)

  ! Both directions in one call.
  got = -1
  call MPI_Sendrecv(mine, three, MPI_INTEGER, right, 6, got, three, MPI_INTEGER, left, 6, MPI_COMM_WORLD, status, ierror)
  call check(all(got(:, 1) == theirs) .and. TAG(status) == 6, 'MPI_Sendrecv')
  both = mine
  call MPI_Sendrecv_replace(both, three, MPI_INTEGER, right, 7, left, 7, MPI_COMM_WORLD, status, ierror)
  call check(all(both == theirs) .and. SOURCE(status) == left, 'MPI_Sendrecv_replace')
  got = -1
  call MPI_Isendrecv(mine, three, MPI_INTEGER, right, 8, got, three, MPI_INTEGER, left, 8, MPI_COMM_WORLD, request, ierror)
  call MPI_Wait(request, status, ierror)
  call check(all(got(:, 1) == theirs), 'MPI_Isendrecv')
  ! MPICH leaves the status of MPI_Isendrecv and MPI_Isendrecv_replace empty.
  if (.not. on_mpich()) call check(TAG(status) == 8, 'the status of MPI_Isendrecv')
  both = mine
  call MPI_Isendrecv_replace(both, three, MPI_INTEGER, right, 9, left, 9, MPI_COMM_WORLD, request, ierror)
  call MPI_Wait(request, status, ierror)
  call check(all(both == theirs), 'MPI_Isendrecv_replace')
  if (.not. on_mpich()) call check(TAG(status) == 9, 'the status of MPI_Isendrecv_replace')

  ! Probes: a message's length before it is received, and a message that nothing else can receive.
  call MPI_Isend(mine, three, MPI_INTEGER, right, 10, MPI_COMM_WORLD, sends(1), ierror)
  call MPI_Isend(mine, three, MPI_INTEGER, right, 11, MPI_COMM_WORLD, sends(2), ierror)
  call MPI_Isend(mine, three, MPI_INTEGER, right, 12, MPI_COMM_WORLD, sends(3), ierror)
  call MPI_Probe(left, 11, MPI_COMM_WORLD, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, length, ierror)
  call check(length == 3 .and. TAG(status) == 11, 'MPI_Probe')
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, flag, message, status, ierror)
  end do
  call check(SOURCE(status) == left .and. message /= MPI_MESSAGE_NULL, 'MPI_Improbe')
  got = -1
  call MPI_Imrecv(got, three, MPI_INTEGER, message, request, ierror)
  call check(message == MPI_MESSAGE_NULL, 'the message of MPI_Imrecv')
  call MPI_Wait(request, status, ierror)
  call check(all(got(:, 1) == theirs) .and. TAG(status) == 10, 'MPI_Imrecv')
  call MPI_Recv(got(1, 2), three, MPI_INTEGER, left, 11, MPI_COMM_WORLD, status, ierror)
  call MPI_Mprobe(left, 12, MPI_COMM_WORLD, message, status, ierror)
  call MPI_Mrecv(got(1, 3), three, MPI_INTEGER, message, status, ierror)
  call check(all(got(:, 2) == theirs) .and. all(got(:, 3) == theirs) .and. TAG(status) == 12, 'MPI_Mrecv')
  call MPI_Waitall(3, sends, MPI_STATUSES_IGNORE, ierror)
  call MPI_Mprobe(MPI_PROC_NULL, 12, MPI_COMM_WORLD, message, status, ierror)
  call check(message == MPI_MESSAGE_NO_PROC .and. SOURCE(status) == MPI_PROC_NULL, 'a message from nobody')
  call MPI_Mrecv(got, none, MPI_INTEGER, message, status, ierror)
  call check(message == MPI_MESSAGE_NULL, 'its end')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "peer.h"
  ! A receive for each mode, which all ranks have when this returns.
  subroutine receive_all
    integer :: k
    got = -1
    do k = 1, MODE_COUNT
      call MPI_Irecv(got(1, k), three, MPI_INTEGER, left, k, MPI_COMM_WORLD, receives(k), ierror)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine receive_all
  subroutine check_all(what)
    character(len=*), intent(in) :: what
    integer :: k
    call MPI_Waitall(MODE_COUNT, receives, statuses, ierror)
    do k = 1, MODE_COUNT
      call check(all(got(:, k) == theirs) .and. TAG_AT(statuses, k) == k, what)
    end do
  end subroutine check_all
end program modes
