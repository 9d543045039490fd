! Sessions without MPI_Init: process sets, communicators and intercommunicators of groups, error handlers.
module session_errors
#include "form.h"
  integer :: noted = 0
contains
  subroutine session_handler(session, code)
    SESSION :: session
    integer :: code
    if (session == MPI_SESSION_NULL) error stop 'the session of an error'
    noted = code
  end subroutine session_handler
end module session_errors

program sessions
  use session_errors
#ifndef F08
#ifndef MPIF
  use mpi
#endif
#else
  use mpi_f08
#endif
  implicit none
  integer :: rank, size, ierror, found, number, length, other_leader, got
  SESSION :: session, another
  INFO :: info
  GROUP :: world, mine, others
  COMM :: comm, inter
  ERRHANDLER :: handler, before
  character(len=MPI_MAX_INFO_VAL) :: value
  character(len=MPI_MAX_PSET_NAME_LEN) :: name
  logical :: flag

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'thread_level', 'MPI_THREAD_MULTIPLE', ierror)
  call MPI_Session_create_errhandler(session_handler, handler, ierror)
  call MPI_Session_init(info, MPI_ERRORS_RETURN, session, ierror)
  call check(ierror == MPI_SUCCESS .and. session /= MPI_SESSION_NULL, 'MPI_Session_init')
  call MPI_Info_free(info, ierror)
  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, another, ierror)
  call check(another /= session, 'a second session')
  call MPI_Initialized(flag, ierror)
  call check(.not. flag, 'MPI_Initialized')
  call MPI_Session_get_info(session, info, ierror)
  call MPI_Info_get(info, 'thread_level', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == 'MPI_THREAD_MULTIPLE', 'MPI_Session_get_info')
  call MPI_Info_free(info, ierror)

  call MPI_Session_get_errhandler(session, before, ierror)
  call check(before == MPI_ERRORS_RETURN, 'MPI_Session_get_errhandler')
  call MPI_Session_set_errhandler(session, handler, ierror)
  call MPI_Session_call_errhandler(session, MPI_ERR_OTHER, ierror)
  call check(noted == MPI_ERR_OTHER, 'MPI_Session_call_errhandler')
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, length, name, ierror)
  ! MPICH returns MPI_SUCCESS after the handler.
  if (.not. on_mpich()) call check(noted == ierror, 'the code of an error in a session')
  call MPI_Error_class(noted, found, ierror)
  call check(found == MPI_ERR_ARG, 'the class of an error in a session')
  call MPI_Errhandler_free(handler, ierror)

  ! The sizes of the sets that every process has.
  call MPI_Session_get_pset_info(session, 'mpi://SELF', info, ierror)
  call MPI_Info_get(info, 'mpi_size', MPI_MAX_INFO_VAL, value, flag, ierror)
  call check(flag .and. value == '1', 'MPI_Session_get_pset_info')
  call MPI_Info_free(info, ierror)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', world, ierror)
  call MPI_Group_size(world, size, ierror)
  call MPI_Group_rank(world, rank, ierror)
  call MPI_Session_get_pset_info(session, 'mpi://WORLD', info, ierror)
  call MPI_Info_get(info, 'mpi_size', MPI_MAX_INFO_VAL, value, flag, ierror)
  read (value, *) number
  call check(flag .and. number == size, 'the size of mpi://WORLD')
  call MPI_Info_free(info, ierror)

  call MPI_Comm_create_from_group(world, 'everybody', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
  call MPI_Comm_rank(comm, found, ierror)
  call check(found == rank, 'MPI_Comm_create_from_group')
  call MPI_Allreduce(rank, number, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  call check(number == size * (size - 1) / 2, 'MPI_Allreduce without MPI_Init')
  call MPI_Comm_free(comm, ierror)

  ! The first rank on one side, all others on the other side.
  if (size > 1) then
    call MPI_Group_incl(world, 1, [0], mine, ierror)
    call MPI_Group_excl(world, 1, [0], others, ierror)
    other_leader = 0
    if (rank == 0) then
      call MPI_Intercomm_create_from_groups(mine, 0, others, other_leader, 'two sides', MPI_INFO_NULL, MPI_ERRORS_RETURN, &
        inter, ierror)
    else
      call MPI_Intercomm_create_from_groups(others, 0, mine, other_leader, 'two sides', MPI_INFO_NULL, MPI_ERRORS_RETURN, &
        inter, ierror)
    end if
    call check(ierror == MPI_SUCCESS, 'MPI_Intercomm_create_from_groups')
    call MPI_Comm_remote_size(inter, number, ierror)
    call check(number == merge(size - 1, 1, rank == 0), 'its remote size')
    call MPI_Allreduce(rank + 1, got, 1, MPI_INTEGER, MPI_SUM, inter, ierror)
    call check(got == merge(size * (size + 1) / 2 - 1, 1, rank == 0), 'MPI_Allreduce among two groups')
    call MPI_Comm_free(inter, ierror)
    call MPI_Group_free(mine, ierror)
    call MPI_Group_free(others, ierror)
  end if
  call MPI_Group_free(world, ierror)
  call MPI_Session_finalize(another, ierror)
  call MPI_Session_finalize(session, ierror)
  call check(session == MPI_SESSION_NULL, 'MPI_Session_finalize')
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "peer.h"
end program sessions
