! Compiles if the interfaces of the module mpi take buffers of any type and rank.
subroutine probe(grid, text, number)
  use mpi
  implicit none
  real :: grid(3, 4)
  character(len=*) :: text
  integer :: number, ierror
  call MPI_Send(grid, 12, MPI_REAL, 0, 0, MPI_COMM_WORLD, ierror)
  call MPI_Send(grid(2, 2), 1, MPI_REAL, 0, 0, MPI_COMM_WORLD, ierror)
  call MPI_Send(text, 1, MPI_CHARACTER, 0, 0, MPI_COMM_WORLD, ierror)
  call MPI_Send(number, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
end subroutine probe
