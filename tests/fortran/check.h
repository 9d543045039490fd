  ! Ends the job if a condition does not hold.
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (.not. holds) then
      print '(2a)', 'wrong: ', what
      error stop 1
    end if
  end subroutine check
  ! Returns true on Intel MPI 2021.19. This library has the values of a draft of the ABI: MPI_ERRORS_RETURN and MPI_ERRORS_ABORT have
  ! each other's, and MPI_SEEK_.., MPI_APPNUM, MPI_LASTUSEDCODE and MPI_UNIVERSE_SIZE differ. MPI_Type_create_f90_real and _complex
  ! end at 15 digits there.
  logical function on_intel()
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length, code
    call MPI_Get_library_version(version, length, code)
    on_intel = version(:5) == 'Intel'
  end function on_intel
