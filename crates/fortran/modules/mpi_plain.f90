! The module mpi for compilers that cannot pass arguments of any type to an interface: constants, and no interfaces.
module mpi
  implicit none
  public
  include 'mpif.h'
end module mpi
