! mpifort $(pkg-config --variable=fortran_modules cuda_opt) minimise_mpi.f90 $(pkg-config --libs cuda_opt) -o minimise
!
! f(x) = sum (x_i - i / n)^2 / 2 in the box [0, 1/2]^n, i from 0, each rank with its part of x.
program minimise_mpi
    use, intrinsic :: iso_c_binding
    use mpi_f08
    use cuda_opt
    use cuda_opt_ranks
    implicit none

    integer(c_int64_t), parameter :: n = 1000000
    integer(c_int64_t) :: segments, first, own, i
    integer :: rank, ranks, task, worst
    real(c_double), allocatable, target :: x(:), g(:)
    real(c_double), target :: f
    type(c_ptr) :: s

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)

    segments = cuda_opt_segments(n)
    first = cuda_opt_segment(n, segments * rank / ranks)
    own = cuda_opt_segment(n, segments * (rank + 1) / ranks) - first
    allocate (x(own), g(own))
    x = 0

    task = cuda_opt_create(s, n, 5, CUDA_OPT_BACKEND_HOST)
    if (task == 0) task = cuda_opt_set_ranks(s, rank, ranks, first, own)
    if (task == 0) task = cuda_opt_set_uniform_bounds(s, 0d0, 0.5d0)
    call MPI_Allreduce(task, worst, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD)
    if (worst == 0) then
        do
            task = cuda_opt_solve(s, c_loc(x), c_loc(f), c_loc(g))
            if (task == CUDA_OPT_EXCHANGE) call exchange(s, task)
            if (task <= 0) exit
            if (task /= CUDA_OPT_EVALUATE_FG) cycle
            do i = 1, own
                g(i) = x(i) - real(first + i - 1, c_double) / real(n, c_double)
            end do
            f = sum(g**2) / 2
        end do
        if (rank == 0) print '(a, /, a, f0.6)', cuda_opt_text(cuda_opt_message(s)), 'f = ', f
    end if
    call cuda_opt_destroy(s)
    call MPI_Finalize()
    if (task /= CUDA_OPT_CONVERGED) error stop

contains

    ! What cuda_opt/mpi.h does in C.
    subroutine exchange(s, task)
        type(c_ptr), intent(in) :: s
        integer, intent(inout) :: task
        type(c_ptr) :: send, receive
        integer(c_int64_t) :: bytes
        integer :: error, code
        character(kind=c_char), pointer :: own_packet(:), packets(:)

        code = cuda_opt_gather(s, send, receive, bytes)
        call c_f_pointer(send, own_packet, [bytes])
        call c_f_pointer(receive, packets, [bytes * ranks])
        call MPI_Allgather(own_packet, int(bytes), MPI_BYTE, packets, int(bytes), MPI_BYTE, MPI_COMM_WORLD, error)
        if (code /= 0 .or. error /= MPI_SUCCESS) task = cuda_opt_gather_failed(s, c_null_ptr)
    end subroutine
end program
