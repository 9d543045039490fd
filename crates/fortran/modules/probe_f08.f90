! Compiles if the compiler passes buffers of any rank with a descriptor.
subroutine probe_f08(grid, text, number)
  use mpi_f08
  implicit none
  real :: grid(3, 4)
  character(len=*) :: text
  integer :: number
  call MPI_Send(grid, 12, MPI_REAL, 0, 0, MPI_COMM_WORLD)
  call MPI_Send(grid(::2, 2), 2, MPI_REAL, 0, 0, MPI_COMM_WORLD)
  call MPI_Send(number, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
  call MPI_Comm_set_name(MPI_COMM_WORLD, text)
end subroutine probe_f08
