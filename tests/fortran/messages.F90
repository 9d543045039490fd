! Messages: sending, receiving, requests and their positions, probes, statuses, buffers.
program messages
  use, intrinsic :: iso_c_binding, only: c_ptr
#include "form.h"
  integer, parameter :: LENGTH = 1000
  integer :: rank, size, left, right, ierror, code, count, position, outcount, i, positions(3)
  MESSAGE :: probed
  REQUEST :: requests(3), old
  STATUS(status)
  STATUSES(statuses, 3)
  double precision :: out(LENGTH), in(LENGTH)
  character(len=12) :: text
  character :: buffer(20000)
  logical :: flag
#ifdef F08
  integer(kind=MPI_COUNT_KIND) :: large
  integer :: plain(MPI_STATUS_SIZE)
  type(c_ptr) :: detached
#endif

  call MPI_Init(ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_Init')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  out = [(dble(rank) + i, i = 1, LENGTH)]

  call MPI_Sendrecv(out, LENGTH, MPI_DOUBLE_PRECISION, right, 7, in, LENGTH, MPI_DOUBLE_PRECISION, left, MPI_ANY_TAG, &
    MPI_COMM_WORLD, status, ierror)
  call check(all(in == [(dble(left) + i, i = 1, LENGTH)]), 'the data')
  call check(SOURCE(status) == left .and. TAG(status) == 7, 'the status')
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
  call check(count == LENGTH, 'the count')

  ! Scalars, elements, sections, characters.
  call MPI_Irecv(text, len(text), MPI_CHARACTER, left, 1, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Irecv(in(5), 2, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Isend('twelve chars', 12, MPI_CHARACTER, right, 1, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Send(out(9:10), 2, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, ierror)
  call MPI_Waitall(3, requests, statuses, ierror)
  call check(text == 'twelve chars' .and. in(6) == left + 10, 'several kinds')
  call check(TAG_AT(statuses, 2) == 2 .and. all(requests == MPI_REQUEST_NULL), 'all requests')
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierror)

  ! Positions of requests begin with 1.
  do i = 1, 3
    call MPI_Irecv(in(i), 1, MPI_DOUBLE_PRECISION, left, 10 + i, MPI_COMM_WORLD, requests(i), ierror)
  end do
  call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 12, MPI_COMM_WORLD, ierror)
  call MPI_Waitany(3, requests, position, status, ierror)
  call check(position == 2 .and. TAG(status) == 12, 'MPI_Waitany')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 13, MPI_COMM_WORLD, ierror)
  call MPI_Waitsome(3, requests, outcount, positions, MPI_STATUSES_IGNORE, ierror)
  call check(outcount == 1 .and. positions(1) == 3, 'MPI_Waitsome')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 11, MPI_COMM_WORLD, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(3, requests, position, flag, MPI_STATUS_IGNORE, ierror)
  end do
  call check(position == 1, 'MPI_Testany')
  call MPI_Testany(3, requests, position, flag, MPI_STATUS_IGNORE, ierror)
  call check(flag .and. position == MPI_UNDEFINED, 'no request is left')
  call MPI_Waitsome(3, requests, outcount, positions, MPI_STATUSES_IGNORE, ierror)
  call check(outcount == MPI_UNDEFINED, 'nor for MPI_Waitsome')

  ! Persistent and matched ones.
  call MPI_Send_init(out, 3, MPI_DOUBLE_PRECISION, right, 20, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv_init(in, 3, MPI_DOUBLE_PRECISION, left, 20, MPI_COMM_WORLD, requests(2), ierror)
  old = requests(1)
  do i = 1, 2
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call check(requests(1) == old .and. in(3) == left + 3, 'persistent ones')
  end do
  call check(TAG_AT(MPI_STATUSES_IGNORE, 1) == 0 .and. TAG(MPI_STATUS_IGNORE) == 0, 'what is ignored')
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call check(requests(1) == MPI_REQUEST_NULL, 'MPI_Request_free')
  call MPI_Isend(out, 1, MPI_DOUBLE_PRECISION, right, 30, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Mprobe(left, 30, MPI_COMM_WORLD, probed, status, ierror)
  call MPI_Mrecv(in, 1, MPI_DOUBLE_PRECISION, probed, MPI_STATUS_IGNORE, ierror)
  call check(probed == MPI_MESSAGE_NULL .and. in(1) == left + 1, 'a matched message')
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, status, ierror)
  call check(.not. flag, 'MPI_Iprobe')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)

#ifdef F08
  ! Error codes are optional, arguments have names, and counts may be large.
  call MPI_Sendrecv(sendbuf=out, sendcount=2, sendtype=MPI_DOUBLE_PRECISION, dest=right, sendtag=50, recvbuf=in, recvcount=2, &
    recvtype=MPI_DOUBLE_PRECISION, source=left, recvtag=50, comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE)
  call MPI_Irecv(in, 2_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, left, 51, MPI_COMM_WORLD, requests(1))
  call MPI_Send(out(1:3:2), 2_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, right, 51, MPI_COMM_WORLD)
  call MPI_Wait(requests(1), status)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, large)
  call check(large == 2 .and. in(2) == left + 3, 'large counts, and a section with gaps')
  call MPI_Recv(in(2:8:3), 0, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
  call MPI_Status_f082f(status, plain)
  call MPI_Status_f2f08(plain, status)
  call check(plain(MPI_SOURCE) == MPI_PROC_NULL .and. status%MPI_SOURCE == MPI_PROC_NULL, 'a status in both forms')
#endif

  call MPI_Buffer_attach(buffer, 20000, ierror)
  call MPI_Bsend(out, 10, MPI_DOUBLE_PRECISION, right, 40, MPI_COMM_WORLD, ierror)
  call MPI_Recv(in, 10, MPI_DOUBLE_PRECISION, left, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
#ifdef F08
  call MPI_Buffer_detach(detached, count)
#else
  call MPI_Buffer_detach(buffer, count, ierror)
#endif
  call check(count == 20000 .and. in(10) == left + 10, 'a buffered message')

  ! Errors come back as codes.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, merge(MPI_ERRORS_ABORT, MPI_ERRORS_RETURN, on_intel()), ierror)
  call MPI_Send(out, -1, MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, code)
  call check(code /= MPI_SUCCESS, 'a wrong count')
  call MPI_Error_class(code, count, ierror)
  call check(count == MPI_ERR_COUNT, 'its class')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
end program messages
