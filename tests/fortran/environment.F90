! The environment: error classes and texts of the program, error handlers of windows and files, versions, hardware.
module noted
#include "form.h"
  integer :: code_of_window = 0, code_of_file = 0
contains
  subroutine window_handler(win, code)
    WIN :: win
    integer :: code
    if (win == MPI_WIN_NULL) error stop 'the window of an error'
    code_of_window = code
  end subroutine window_handler
  subroutine file_handler(file, code)
    FILE :: file
    integer :: code
    if (file /= MPI_FILE_NULL) error stop 'the file of an error'
    code_of_file = code
  end subroutine file_handler
end module noted

program environment
  use noted
#ifndef F08
#ifndef MPIF
  use mpi
#endif
#else
  use mpi_f08
#endif
  implicit none
  integer :: rank, ierror, version, subversion, class, code, found, length, memory(2)
  integer(kind=MPI_ADDRESS_KIND) :: address, bytes, last
  ERRHANDLER :: handler, before
  INFO :: info
  WIN :: win
  character(len=MPI_MAX_ERROR_STRING) :: text
  logical :: flag

  call MPI_Initialized(flag, ierror)
  call check(.not. flag, 'MPI_Initialized before MPI_Init')
  call MPI_Get_version(version, subversion, ierror)
  call check(version == MPI_VERSION .and. subversion == MPI_SUBVERSION .and. version >= 5, 'MPI_Get_version')
  call MPI_Init(ierror)
  call MPI_Initialized(flag, ierror)
  call check(flag, 'MPI_Initialized')
  call MPI_Finalized(flag, ierror)
  call check(.not. flag, 'MPI_Finalized')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Pcontrol(1)
  call MPI_Get_address(memory, address, ierror)
  call MPI_Get_address(memory(2), last, ierror)
  bytes = 4
  call check(MPI_Aint_add(address, bytes) == last, 'MPI_Aint_add')

  ! Error classes and codes of the program.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call MPI_Add_error_class(class, ierror)
  call check(class > MPI_ERR_LASTCODE, 'MPI_Add_error_class')
  call MPI_Add_error_code(class, code, ierror)
  call check(code > class, 'MPI_Add_error_code')
  call MPI_Error_class(code, found, ierror)
  call check(found == class, 'MPI_Error_class')
  call MPI_Error_string(code, text, length, ierror)
  call check(length == 0 .and. text == ' ', 'a code without a text')
  call MPI_Add_error_string(code, 'a thread broke  ', ierror)
  call MPI_Error_string(code, text, length, ierror)
  call check(length == 14 .and. text == 'a thread broke', 'MPI_Add_error_string')
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, last, flag, ierror)
  ! MPICH's attribute is the last class.
  call check(flag .and. last >= merge(class, code, on_mpich()), 'MPI_LASTUSEDCODE')

  ! Calls of error handlers: that of a communicator, of a window, of files.
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler, ierror)
  call check(handler == MPI_ERRORS_RETURN, 'MPI_Comm_get_errhandler')
  call MPI_Comm_call_errhandler(MPI_COMM_WORLD, code, ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_Comm_call_errhandler')
  bytes = 8
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_get_errhandler(win, before, ierror)
  call check(before == MPI_ERRORS_ARE_FATAL, 'MPI_Win_get_errhandler')
  call MPI_Win_create_errhandler(window_handler, handler, ierror)
  call MPI_Win_set_errhandler(win, handler, ierror)
  call MPI_Win_call_errhandler(win, code, ierror)
  call check(code_of_window == code, 'MPI_Win_call_errhandler')
  call MPI_Win_get_errhandler(win, before, ierror)
  call check(before == handler, 'MPI_Win_get_errhandler of a handler of the program')
  call MPI_Errhandler_free(before, ierror)
  call MPI_Errhandler_free(handler, ierror)
  call check(handler == MPI_ERRHANDLER_NULL, 'MPI_Errhandler_free')
  call MPI_Win_free(win, ierror)
  call MPI_File_get_errhandler(MPI_FILE_NULL, before, ierror)
  call check(before == MPI_ERRORS_RETURN, 'MPI_File_get_errhandler')
  call MPI_File_create_errhandler(file_handler, handler, ierror)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler, ierror)
  call MPI_File_call_errhandler(MPI_FILE_NULL, code, ierror)
  call check(code_of_file == code, 'MPI_File_call_errhandler')
  call MPI_File_set_errhandler(MPI_FILE_NULL, before, ierror)
  call MPI_Errhandler_free(handler, ierror)

  call MPI_Remove_error_string(code, ierror)
  call MPI_Error_string(code, text, length, ierror)
  call check(length == 0, 'MPI_Remove_error_string')
  call MPI_Remove_error_code(code, ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_Remove_error_code')
  call MPI_Remove_error_class(class, ierror)
  call check(ierror == MPI_SUCCESS, 'MPI_Remove_error_class')
  call MPI_Remove_error_class(class, ierror)
  call check(ierror /= MPI_SUCCESS, 'an error class that is removed twice')

  ! Properties of the hardware and of the ABI.
  call MPI_Get_hw_resource_info(info, ierror)
  call check(info /= MPI_INFO_NULL, 'MPI_Get_hw_resource_info')
  call MPI_Info_free(info, ierror)
  call MPI_Abi_get_info(info, ierror)
  call MPI_Info_get(info, 'mpi_aint_size', MPI_MAX_ERROR_STRING, text, flag, ierror)
  call check(flag .and. text == '8', 'MPI_Abi_get_info')
  call MPI_Info_free(info, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'ok'
contains
#include "check.h"
#include "peer.h"
end program environment
