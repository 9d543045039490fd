! Buffers for MPI_Bsend: one for the program, for a communicator, for a session; flushes, and automatic buffers.
program buffers
  use, intrinsic :: iso_c_binding, only: c_associated, c_loc, c_ptr
#include "form.h"
  COUNT, parameter :: two = 2
  integer, parameter :: SPACE = 2 * (2 * 4 + MPI_BSEND_OVERHEAD)
  integer :: rank, size, left, right, ierror, repetition, found
  integer :: mine(2), got(2)
  COUNT :: length
  COMM :: comm
  GROUP :: group
  REQUEST :: request
  SESSION :: session
  character, target :: buffer(SPACE), for_all(SPACE)
#ifdef F08
  type(c_ptr) :: detached
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  length = SPACE

  ! The buffer of the program. After a flush it has room for its full number of messages again.
  call MPI_Buffer_attach(for_all, length, ierror)
  do repetition = 1, 3
    call exchange(MPI_COMM_WORLD)
    call MPI_Buffer_flush(ierror)
  end do
  call exchange(MPI_COMM_WORLD)
  call MPI_Buffer_iflush(request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(request == MPI_REQUEST_NULL, 'MPI_Buffer_iflush')

  ! The buffer of a communicator comes before that of the program.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_attach_buffer(comm, buffer, length, ierror)
  do repetition = 1, 3
    call exchange(comm)
    call MPI_Comm_flush_buffer(comm, ierror)
  end do
  call exchange(comm)
  call MPI_Comm_iflush_buffer(comm, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  length = 0
#ifdef F08
  call MPI_Comm_detach_buffer(comm, detached, length, ierror)
  call check(c_associated(detached, c_loc(buffer)), 'the address of MPI_Comm_detach_buffer')
#else
  call MPI_Comm_detach_buffer(comm, buffer, length, ierror)
#endif
  call check(length == SPACE, 'MPI_Comm_detach_buffer')
  length = 0
#ifdef F08
  call MPI_Buffer_detach(detached, length, ierror)
  call check(c_associated(detached, c_loc(for_all)), 'the address of MPI_Buffer_detach')
#else
  call MPI_Buffer_detach(for_all, length, ierror)
#endif
  call check(length == SPACE, 'MPI_Buffer_detach')

  ! MPI makes an automatic buffer as large as it must be.
  call MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, length, ierror)
  do repetition = 1, 5
    call exchange(comm)
  end do
#ifdef F08
  call MPI_Comm_detach_buffer(comm, detached, length, ierror)
#else
  call MPI_Comm_detach_buffer(comm, buffer, length, ierror)
#endif
  call MPI_Comm_free(comm, ierror)

  ! The buffer of a session serves its communicators.
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session, ierror)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', group, ierror)
  call MPI_Comm_create_from_group(group, 'buffers', MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, comm, ierror)
  call MPI_Group_free(group, ierror)
  call MPI_Comm_rank(comm, found, ierror)
  call check(found == rank, 'the rank in the communicator of a session')
  length = SPACE
  call MPI_Session_attach_buffer(session, buffer, length, ierror)
  do repetition = 1, 3
    call exchange(comm)
    call MPI_Session_flush_buffer(session, ierror)
  end do
  call exchange(comm)
  call MPI_Session_iflush_buffer(session, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  length = 0
#ifdef F08
  call MPI_Session_detach_buffer(session, detached, length, ierror)
  call check(c_associated(detached, c_loc(buffer)), 'the address of MPI_Session_detach_buffer')
#else
  call MPI_Session_detach_buffer(session, buffer, length, ierror)
#endif
  call check(length == SPACE, 'MPI_Session_detach_buffer')
  call MPI_Comm_free(comm, ierror)
  call MPI_Session_finalize(session, ierror)
  call check(session == MPI_SESSION_NULL, 'MPI_Session_finalize')
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
  ! A buffered message to the right and one from the left. The barrier keeps the flush of a message apart from the next one.
  subroutine exchange(over)
    COMM, intent(in) :: over
    mine = 100 * rank + [repetition, 7]
    call MPI_Bsend(mine, two, MPI_INTEGER, right, 3, over, ierror)
    mine = -1
    call MPI_Recv(got, two, MPI_INTEGER, left, 3, over, MPI_STATUS_IGNORE, ierror)
    call check(all(got == 100 * left + [repetition, 7]), 'a buffered message')
    call MPI_Barrier(over, ierror)
  end subroutine exchange
end program buffers
