  ! Returns true on MPICH and on Intel MPI, which is made from it. They do not do everything that the standard says.
  function on_mpich()
    logical :: on_mpich
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length, code
    call MPI_Get_library_version(version, length, code)
    on_mpich = index(version, 'MPICH') > 0 .or. version(:5) == 'Intel'
  end function on_mpich
