! The calls of a case, `calls NUMBER CASE`, for counting their instructions (run.py); calls.c does the same in C. They talk to nobody.
program calls
#include "form.h"
  integer :: number, case, i, ierror
  integer :: buffer(10), matrix(10, 10)
  character(len=16) :: argument
  COMM :: world, own
  DATATYPE :: type
  REQUEST :: request
  STATUS(status)

  call get_command_argument(1, argument)
  read (argument, *) number
  call get_command_argument(2, argument)
  read (argument, *) case
  call MPI_Init(ierror)
  world = MPI_COMM_WORLD
  type = MPI_INTEGER
  call MPI_Comm_dup(MPI_COMM_WORLD, own, ierror)
  request = MPI_REQUEST_NULL
  buffer = 0
  matrix = 0
  do i = 1, number
    select case (case)
    case (1)
      call MPI_Send(buffer, 10, type, MPI_PROC_NULL, 1, world, ierror)
    case (2)
      call MPI_Recv(buffer, 10, type, MPI_PROC_NULL, 1, world, status, ierror)
    case (3)
      call MPI_Isend(buffer, 10, type, MPI_PROC_NULL, 1, world, request, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    case (4)
      call MPI_Send(buffer, 10, type, MPI_PROC_NULL, 1, own, ierror)
    case (5)
      call MPI_Send(matrix, 100, type, MPI_PROC_NULL, 1, world, ierror)
    end select
  end do
  call MPI_Comm_free(own, ierror)
  call MPI_Finalize(ierror)
end program calls
