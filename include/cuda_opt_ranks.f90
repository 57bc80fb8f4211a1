! In this module several handles, called ranks, solve one problem together. It is the interface of cuda_opt/ranks.h. Use
! it with the module cuda_opt. docs/ranks.md has a program with mpi_f08.
module cuda_opt_ranks
    use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_ptr
    implicit none
    private

    public :: cuda_opt_set_ranks, cuda_opt_gather, cuda_opt_gather_failed, cuda_opt_fail_rank, &
        cuda_opt_segments, cuda_opt_segment

    ! The values of CUDA_OPT_F_PART
    integer(c_int64_t), parameter, public :: &
        CUDA_OPT_F_OF_RANK     = 0, &
        CUDA_OPT_F_OF_SEGMENTS = 1, &
        CUDA_OPT_F_WHOLE       = 2

    interface
        integer(c_int) function cuda_opt_set_ranks(s, rank, ranks, first, n) bind(c, name='cuda_opt_set_ranks')
            import
            type(c_ptr), value :: s
            integer(c_int32_t), value :: rank, ranks
            integer(c_int64_t), value :: first, n
        end function

        integer(c_int) function cuda_opt_gather(s, send, receive, bytes) bind(c, name='cuda_opt_gather')
            import
            type(c_ptr), value :: s
            type(c_ptr), intent(inout) :: send, receive
            integer(c_int64_t), intent(inout) :: bytes
        end function

        integer(c_int) function cuda_opt_gather_failed(s, why) bind(c, name='cuda_opt_gather_failed')
            import
            type(c_ptr), value :: s, why
        end function

        integer(c_int) function cuda_opt_fail_rank(s, why) bind(c, name='cuda_opt_fail_rank')
            import
            type(c_ptr), value :: s, why
        end function

        integer(c_int64_t) function cuda_opt_segments(n) bind(c, name='cuda_opt_segments')
            import
            integer(c_int64_t), value :: n
        end function

        integer(c_int64_t) function cuda_opt_segment(n, segment) bind(c, name='cuda_opt_segment')
            import
            integer(c_int64_t), value :: n, segment
        end function
    end interface
end module
