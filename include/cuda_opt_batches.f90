! This module minimises many small problems at once. It is the interface of cuda_opt_batch.h, whose documentation also
! applies here. Use it with the module cuda_opt. (The name of this module differs from that of the header, because
! CUDA_OPT_BATCH is a constant of the module cuda_opt, and Fortran ignores case.)
!
! The count rows of n values in C are the columns of an array x(n, count). c_loc(x) passes it without a copy. Problems
! are counted from 0 here, as in C. Programs with Fortran arrays on the host are shorter with the batch_minimiser of the
! module cuda_opt_arrays.
!
!     use, intrinsic :: iso_c_binding
!     use cuda_opt
!     use cuda_opt_batches
!     integer(c_int64_t), pointer :: active(:)
!     ...
!     task = cuda_opt_create_batch(s, n, count, 5, CUDA_OPT_BACKEND_HOST)
!     do while (task >= 0)
!         task = cuda_opt_batch_solve(s, c_loc(x), c_loc(f), c_loc(g))
!         if (task /= CUDA_OPT_EVALUATE_BATCH) exit
!         code = cuda_opt_get_int(s, CUDA_OPT_BATCH, many)
!         call c_f_pointer(cuda_opt_batch_active(s), active, [many])
!         do k = 1, many
!             call evaluate(x(:, active(k) + 1), f(active(k) + 1), g(:, active(k) + 1))
!         end do
!     end do
!     print '(a)', cuda_opt_text(cuda_opt_message(s))
!     call cuda_opt_destroy(s)
module cuda_opt_batches
    use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_ptr
    implicit none
    private

    public :: cuda_opt_create_batch, cuda_opt_create_batch_f32, cuda_opt_batch_set_bounds, &
        cuda_opt_batch_set_bounds_f32, cuda_opt_batch_set_diagonal, cuda_opt_batch_set_diagonal_f32, &
        cuda_opt_batch_solve, cuda_opt_batch_solve_f32, cuda_opt_batch_active, cuda_opt_batch_get_int, &
        cuda_opt_batch_get_real, cuda_opt_batch_message

    ! The keys of a batch, in addition to those of the module cuda_opt
    integer(c_int), parameter, public :: &
        CUDA_OPT_BATCH_PACKED = 500, &
        CUDA_OPT_BATCH_COUNT  = 501, &
        CUDA_OPT_BATCH_CODE   = 502

    interface
        ! Create a handle in double or in single precision. cuda_opt_destroy frees the handle.
        integer(c_int) function cuda_opt_create_batch(s, n, count, m, backend) bind(c, name='cuda_opt_create_batch')
            import
            type(c_ptr), intent(out) :: s
            integer(c_int64_t), value :: n, count
            integer(c_int32_t), value :: m, backend
        end function

        integer(c_int) &
            function cuda_opt_create_batch_f32(s, n, count, m, backend) bind(c, name='cuda_opt_create_batch_f32')
            import
            type(c_ptr), intent(out) :: s
            integer(c_int64_t), value :: n, count
            integer(c_int32_t), value :: m, backend
        end function

        ! Set arrays with one column per problem. Those of cuda_opt_set_bounds and _set_diagonal are for all problems.
        integer(c_int) function cuda_opt_batch_set_bounds(s, lower, upper) bind(c, name='cuda_opt_batch_set_bounds')
            import
            type(c_ptr), value :: s, lower, upper
        end function

        integer(c_int) &
            function cuda_opt_batch_set_bounds_f32(s, lower, upper) bind(c, name='cuda_opt_batch_set_bounds_f32')
            import
            type(c_ptr), value :: s, lower, upper
        end function

        integer(c_int) function cuda_opt_batch_set_diagonal(s, diagonal) bind(c, name='cuda_opt_batch_set_diagonal')
            import
            type(c_ptr), value :: s, diagonal
        end function

        integer(c_int) &
            function cuda_opt_batch_set_diagonal_f32(s, diagonal) bind(c, name='cuda_opt_batch_set_diagonal_f32')
            import
            type(c_ptr), value :: s, diagonal
        end function

        ! Continue all active problems. x, f and g are the addresses of the arrays, from c_loc.
        integer(c_int) function cuda_opt_batch_solve(s, x, f, g) bind(c, name='cuda_opt_batch_solve')
            import
            type(c_ptr), value :: s, x, f, g
        end function

        integer(c_int) function cuda_opt_batch_solve_f32(s, x, f, g) bind(c, name='cuda_opt_batch_solve_f32')
            import
            type(c_ptr), value :: s, x, f, g
        end function

        ! Return the address of the indices of the active problems: CUDA_OPT_BATCH integers of kind c_int64_t in the
        ! memory space of x. Return c_null_ptr if no problem is active.
        type(c_ptr) function cuda_opt_batch_active(s) bind(c, name='cuda_opt_batch_active')
            import
            type(c_ptr), value :: s
        end function

        ! Read a result of each problem. found is the address of count values in host memory, integer(c_int64_t) or
        ! real(c_double).
        integer(c_int) function cuda_opt_batch_get_int(s, key, found) bind(c, name='cuda_opt_batch_get_int')
            import
            type(c_ptr), value :: s, found
            integer(c_int32_t), value :: key
        end function

        integer(c_int) function cuda_opt_batch_get_real(s, key, found) bind(c, name='cuda_opt_batch_get_real')
            import
            type(c_ptr), value :: s, found
            integer(c_int32_t), value :: key
        end function

        ! Returns a C string, which cuda_opt_text converts to a Fortran string.
        type(c_ptr) function cuda_opt_batch_message(s, problem) bind(c, name='cuda_opt_batch_message')
            import
            type(c_ptr), value :: s
            integer(c_int64_t), value :: problem
        end function
    end interface
end module
