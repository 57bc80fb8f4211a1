! This module is the C interface of cuda_opt for Fortran 2008 and later. Constants and procedures have the names of
! cuda_opt.h, whose documentation also applies here. The two languages differ as follows:
!
!  - The handle and the arrays are of type(c_ptr). Arrays may be in device memory. c_loc(x) passes a Fortran array,
!    which must be contiguous and have the target attribute; c_null_ptr is NULL.
!  - Keys and tasks are integer(c_int), integer settings and results integer(c_int64_t).
!  - cuda_opt_text() converts the C strings of cuda_opt_message, _version and _task_name to Fortran strings.
!
! The module is distributed as source, because compiled modules are specific to a compiler. Compile it with your
! program. Programs with Fortran arrays on the host are shorter with the module cuda_opt_arrays.
!
!     use, intrinsic :: iso_c_binding
!     use cuda_opt
!     ...
!     task = cuda_opt_create(s, int(n, c_int64_t), 5, CUDA_OPT_BACKEND_HOST)
!     do while (task >= 0)
!         task = cuda_opt_solve(s, c_loc(x), c_loc(f), c_loc(g))
!         if (task /= CUDA_OPT_EVALUATE_FG) exit
!         call evaluate(x, f, g)
!     end do
!     print '(a)', cuda_opt_text(cuda_opt_message(s))
!     call cuda_opt_destroy(s)
module cuda_opt
    use, intrinsic :: iso_c_binding, only: &
        c_char, c_double, c_f_pointer, c_float, c_funptr, c_int, c_int32_t, c_int64_t, c_ptr, c_size_t
    implicit none
    private

    public :: cuda_opt_create, cuda_opt_create_f32, cuda_opt_destroy, cuda_opt_set_bounds, &
        cuda_opt_set_bounds_f32, cuda_opt_set_uniform_bounds, cuda_opt_set_uniform_bounds_f32, &
        cuda_opt_set_scales, cuda_opt_set_scales_f32, cuda_opt_set_uniform_scale, &
        cuda_opt_set_diagonal, cuda_opt_set_diagonal_f32, cuda_opt_get_diagonal, &
        cuda_opt_get_diagonal_f32, cuda_opt_set_operator, cuda_opt_set_operator_f32, cuda_opt_set_stream, &
        cuda_opt_set_log, cuda_opt_solve, cuda_opt_solve_f32, cuda_opt_reset, cuda_opt_request_stop, &
        cuda_opt_warm_start, cuda_opt_save, cuda_opt_load, cuda_opt_load_f32, &
        cuda_opt_set_int, cuda_opt_set_real, cuda_opt_get_int, cuda_opt_get_real, cuda_opt_message, &
        cuda_opt_version, cuda_opt_task_name, cuda_opt_backend, cuda_opt_alloc, cuda_opt_free, &
        cuda_opt_copy_in, cuda_opt_copy_out, cuda_opt_synchronize, cuda_opt_write_line, cuda_opt_text, &
        cuda_opt_create_search, cuda_opt_search_set_steps, cuda_opt_search_solve, cuda_opt_search_walk, &
        cuda_opt_search_ranked, cuda_opt_check_gradient, cuda_opt_check_gradient_f32, cuda_opt_check_result

    integer(c_int), parameter, public :: &
        CUDA_OPT_VERSION_MAJOR = 0, &
        CUDA_OPT_VERSION_MINOR = 2, &
        CUDA_OPT_VERSION_PATCH = 0

    ! The possible findings of a gradient check
    integer(c_int), parameter, public :: &
        CUDA_OPT_GRADIENT_CONSISTENT       = 0, &
        CUDA_OPT_GRADIENT_WRONG_SIGN       = 1, &
        CUDA_OPT_GRADIENT_WRONG_FACTOR     = 2, &
        CUDA_OPT_GRADIENT_WRONG_COMPONENT  = 3, &
        CUDA_OPT_GRADIENT_OF_ANOTHER_POINT = 4, &
        CUDA_OPT_GRADIENT_SINGLE_PRECISION = 5, &
        CUDA_OPT_GRADIENT_KINK             = 6, &
        CUDA_OPT_GRADIENT_UNDECIDED        = 7

    ! The backends
    integer(c_int), parameter, public :: &
        CUDA_OPT_BACKEND_AUTO = 0, &
        CUDA_OPT_BACKEND_CUDA = 1, &
        CUDA_OPT_BACKEND_HOST = 2

    ! The tasks (> 0), success (0), and the other return codes (< 0)
    integer(c_int), parameter, public :: &
        CUDA_OPT_EVALUATE_FG         = 1, &
        CUDA_OPT_SUPPLY_DIAGONAL     = 2, &
        CUDA_OPT_NEW_ITERATE         = 3, &
        CUDA_OPT_EVALUATE_BATCH      = 4, &
        CUDA_OPT_EXCHANGE            = 5, &
        CUDA_OPT_APPLY_OPERATOR      = 6, &
        CUDA_OPT_CONVERGED           = 0, &
        CUDA_OPT_LINE_SEARCH_FAILED  = -1, &
        CUDA_OPT_BAD_DIAGONAL        = -2, &
        CUDA_OPT_IMPROPER_INPUT      = -3, &
        CUDA_OPT_BAD_OPERATOR        = -4, &
        CUDA_OPT_ITERATION_LIMIT     = -10, &
        CUDA_OPT_EVALUATION_LIMIT    = -11, &
        CUDA_OPT_TIME_LIMIT          = -12, &
        CUDA_OPT_NOT_FINITE          = -20, &
        CUDA_OPT_UNBOUNDED           = -21, &
        CUDA_OPT_CUDA_FAILURE        = -30, &
        CUDA_OPT_OUT_OF_MEMORY       = -31, &
        CUDA_OPT_BACKEND_UNAVAILABLE = -32, &
        CUDA_OPT_EXCHANGE_FAILED     = -33, &
        CUDA_OPT_MISUSE              = -40, &
        CUDA_OPT_STOPPED             = -41

    ! The keys of integer settings
    integer(c_int), parameter, public :: &
        CUDA_OPT_MAX_ITERATIONS     = 100, &
        CUDA_OPT_MAX_EVALUATIONS    = 101, &
        CUDA_OPT_MAXFEV             = 102, &
        CUDA_OPT_MAX_CUTS           = 103, &
        CUDA_OPT_DIAGCO             = 104, &
        CUDA_OPT_APPROXIMATE_CAUCHY = 105, &
        CUDA_OPT_REPORT_ITERATES    = 106, &
        CUDA_OPT_THREADS            = 107, &
        CUDA_OPT_HISTORY_BITS       = 111, &
        CUDA_OPT_PRODUCT_BITS       = 113, &
        CUDA_OPT_F_PART             = 114, &
        CUDA_OPT_DIAGONAL_EVERY     = 115, &
        CUDA_OPT_TIMED              = 116, &
        CUDA_OPT_NOISE_AUTO         = 117, &
        CUDA_OPT_IPRINT_FREQUENCY   = 108, &
        CUDA_OPT_IPRINT_TYPE        = 109, &
        CUDA_OPT_ROBUST             = 110, &
        CUDA_OPT_INITIAL_HESSIAN    = 112, &
        CUDA_OPT_METRIC             = CUDA_OPT_INITIAL_HESSIAN, & ! former name
        CUDA_OPT_SEARCH_SEED        = 120, &
        CUDA_OPT_AT_SMALLEST_STEP   = 121, &
        CUDA_OPT_HALVINGS           = 122, &
        CUDA_OPT_ROUND_ITERATIONS   = 123

    ! The values of CUDA_OPT_INITIAL_HESSIAN, and their former names
    integer(c_int), parameter, public :: &
        CUDA_OPT_INITIAL_HESSIAN_SCALAR   = 0, &
        CUDA_OPT_INITIAL_HESSIAN_DIAGONAL = 1, &
        CUDA_OPT_INITIAL_HESSIAN_LEARNED  = 2, &
        CUDA_OPT_INITIAL_HESSIAN_OPERATOR = 3, &
        CUDA_OPT_METRIC_ONE_NUMBER        = CUDA_OPT_INITIAL_HESSIAN_SCALAR, &
        CUDA_OPT_METRIC_DIAGONAL          = CUDA_OPT_INITIAL_HESSIAN_DIAGONAL, &
        CUDA_OPT_METRIC_LEARNED           = CUDA_OPT_INITIAL_HESSIAN_LEARNED

    ! The keys of real settings
    integer(c_int), parameter, public :: &
        CUDA_OPT_EPS         = 200, &
        CUDA_OPT_PGTOL       = 201, &
        CUDA_OPT_FACTR       = 202, &
        CUDA_OPT_F_TARGET    = 203, &
        CUDA_OPT_GTOL        = 204, &
        CUDA_OPT_FTOL        = 205, &
        CUDA_OPT_XTOL        = 206, &
        CUDA_OPT_STPMIN      = 207, &
        CUDA_OPT_STPMAX      = 208, &
        CUDA_OPT_MAX_SECONDS = 209, &
        CUDA_OPT_RELATIVE_GTOL = 210, &
        CUDA_OPT_ROUNDING = 211, &
        CUDA_OPT_F_UNBOUNDED = 212, &
        CUDA_OPT_NOISE = 213, &
        CUDA_OPT_NOISE_ABS = 214

    ! The keys of integer results
    integer(c_int), parameter, public :: &
        CUDA_OPT_ITERATIONS           = 300, &
        CUDA_OPT_EVALUATIONS          = 301, &
        CUDA_OPT_FREE_COUNT           = 302, &
        CUDA_OPT_LOWER_COUNT          = 303, &
        CUDA_OPT_UPPER_COUNT          = 304, &
        CUDA_OPT_SKIPPED_UPDATES      = 305, &
        CUDA_OPT_CAUCHY_SEGMENTS      = 306, &
        CUDA_OPT_LINE_SEARCH_INFO     = 307, &
        CUDA_OPT_REFRESHES            = 308, &
        CUDA_OPT_CUTS                 = 309, &
        CUDA_OPT_CAUCHY_CROSSINGS     = 310, &
        CUDA_OPT_BREAKPOINTS_CROSSED  = 311, &
        CUDA_OPT_WORKSPACE_BYTES      = 312, &
        CUDA_OPT_STOP_TEST            = 313, &
        CUDA_OPT_PAIRS                = 314, &
        CUDA_OPT_START_PROJECTED      = 315, &
        CUDA_OPT_DIMENSION            = 316, &
        CUDA_OPT_HISTORY_SIZE         = 317, &
        CUDA_OPT_MEMORY               = CUDA_OPT_HISTORY_SIZE, & ! former name
        CUDA_OPT_PRECISION            = 318, &
        CUDA_OPT_SUBSPACE_TRUNCATIONS = 319, &
        CUDA_OPT_CAUCHY_FREE_COUNT    = 320, &
        CUDA_OPT_CAUCHY_BREAKPOINTS   = 321, &
        CUDA_OPT_SUBSPACE_PROJECTED   = 322, &
        CUDA_OPT_OPERATOR_APPLICATIONS = 323, &
        CUDA_OPT_OPERATOR_REFUSALS    = 324, &
        CUDA_OPT_BATCH                = 340, &
        CUDA_OPT_WALKS                = 341, &
        CUDA_OPT_ACTIVE_WALKS         = 342, &
        CUDA_OPT_BEST_WALK            = 343

    ! The keys of real results
    integer(c_int), parameter, public :: &
        CUDA_OPT_F               = 400, &
        CUDA_OPT_PG_NORM2        = 401, &
        CUDA_OPT_PG_NORM_INF     = 402, &
        CUDA_OPT_X_NORM2         = 403, &
        CUDA_OPT_STEP            = 404, &
        CUDA_OPT_THETA           = 405, &
        CUDA_OPT_SOLVER_SECONDS  = 406, &
        CUDA_OPT_CAUCHY_T        = 407, &
        CUDA_OPT_CAUCHY_T_FIRST  = 408, &
        CUDA_OPT_DIRECTION_NORM2 = 409, &
        CUDA_OPT_SLOPE_START     = 410, &
        CUDA_OPT_SLOPE           = 411, &
        CUDA_OPT_NOISE_ESTIMATE  = 412

    interface
        ! Create a handle in double or in single precision, and destroy a handle.
        integer(c_int) function cuda_opt_create(s, n, m, backend) bind(c, name='cuda_opt_create')
            import
            type(c_ptr), intent(out) :: s
            integer(c_int64_t), value :: n
            integer(c_int32_t), value :: m, backend
        end function

        integer(c_int) function cuda_opt_create_f32(s, n, m, backend) bind(c, name='cuda_opt_create_f32')
            import
            type(c_ptr), intent(out) :: s
            integer(c_int64_t), value :: n
            integer(c_int32_t), value :: m, backend
        end function

        subroutine cuda_opt_destroy(s) bind(c, name='cuda_opt_destroy')
            import
            type(c_ptr), intent(inout) :: s
        end subroutine

        ! Set bounds before the first call of cuda_opt_solve. Pass c_null_ptr where the C header says NULL.
        integer(c_int) function cuda_opt_set_bounds(s, lower, upper) bind(c, name='cuda_opt_set_bounds')
            import
            type(c_ptr), value :: s, lower, upper
        end function

        integer(c_int) function cuda_opt_set_bounds_f32(s, lower, upper) bind(c, name='cuda_opt_set_bounds_f32')
            import
            type(c_ptr), value :: s, lower, upper
        end function

        ! Set the same bounds for all variables. They apply to a side for which set_bounds has set no array.
        integer(c_int) function cuda_opt_set_uniform_bounds(s, lower, upper) bind(c, name='cuda_opt_set_uniform_bounds')
            import
            type(c_ptr), value :: s
            real(c_double), value :: lower, upper
        end function

        integer(c_int) &
            function cuda_opt_set_uniform_bounds_f32(s, lower, upper) bind(c, name='cuda_opt_set_uniform_bounds_f32')
            import
            type(c_ptr), value :: s
            real(c_float), value :: lower, upper
        end function

        ! Set typical sizes of the variables. The solver works with the variables in units of these sizes.
        integer(c_int) function cuda_opt_set_scales(s, scales) bind(c, name='cuda_opt_set_scales')
            import
            type(c_ptr), value :: s, scales
        end function

        integer(c_int) function cuda_opt_set_scales_f32(s, scales) bind(c, name='cuda_opt_set_scales_f32')
            import
            type(c_ptr), value :: s, scales
        end function

        integer(c_int) function cuda_opt_set_uniform_scale(s, scale) bind(c, name='cuda_opt_set_uniform_scale')
            import
            type(c_ptr), value :: s
            real(c_double), value :: scale
        end function

        integer(c_int) function cuda_opt_set_diagonal(s, diagonal) bind(c, name='cuda_opt_set_diagonal')
            import
            type(c_ptr), value :: s, diagonal
        end function

        integer(c_int) function cuda_opt_set_diagonal_f32(s, diagonal) bind(c, name='cuda_opt_set_diagonal_f32')
            import
            type(c_ptr), value :: s, diagonal
        end function

        ! Set the arrays of the task CUDA_OPT_APPLY_OPERATOR. The arguments are addresses of n values each.
        integer(c_int) function cuda_opt_set_operator(s, in, out, is_free) bind(c, name='cuda_opt_set_operator')
            import
            type(c_ptr), value :: s, in, out, is_free
        end function

        integer(c_int) function cuda_opt_set_operator_f32(s, in, out, is_free) bind(c, name='cuda_opt_set_operator_f32')
            import
            type(c_ptr), value :: s, in, out, is_free
        end function

        ! Read the diagonal of H0. diagonal is the address of n values in host memory.
        integer(c_int) function cuda_opt_get_diagonal(s, diagonal) bind(c, name='cuda_opt_get_diagonal')
            import
            type(c_ptr), value :: s, diagonal
        end function
        integer(c_int) function cuda_opt_get_diagonal_f32(s, diagonal) bind(c, name='cuda_opt_get_diagonal_f32')
            import
            type(c_ptr), value :: s, diagonal
        end function

        integer(c_int) function cuda_opt_set_stream(s, stream) bind(c, name='cuda_opt_set_stream')
            import
            type(c_ptr), value :: s, stream
        end function

        ! Set the log function. write_line is c_funloc of a procedure like cuda_opt_write_line, or c_null_funptr.
        integer(c_int) function cuda_opt_set_log(s, write_line, user) bind(c, name='cuda_opt_set_log')
            import
            type(c_ptr), value :: s, user
            type(c_funptr), value :: write_line
        end function

        ! Continue the solve. x, f and g are the addresses of the arrays, from c_loc.
        integer(c_int) function cuda_opt_solve(s, x, f, g) bind(c, name='cuda_opt_solve')
            import
            type(c_ptr), value :: s, x, f, g
        end function

        integer(c_int) function cuda_opt_solve_f32(s, x, f, g) bind(c, name='cuda_opt_solve_f32')
            import
            type(c_ptr), value :: s, x, f, g
        end function

        integer(c_int) function cuda_opt_reset(s) bind(c, name='cuda_opt_reset')
            import
            type(c_ptr), value :: s
        end function

        ! Does the same as cuda_opt_reset, but keeps the correction pairs.
        integer(c_int) function cuda_opt_warm_start(s) bind(c, name='cuda_opt_warm_start')
            import
            type(c_ptr), value :: s
        end function

        ! Save and load checkpoints. If buffer is c_null_ptr, cuda_opt_save only sets bytes.
        integer(c_int) function cuda_opt_save(s, buffer, bytes) bind(c, name='cuda_opt_save')
            import
            type(c_ptr), value :: s, buffer
            integer(c_int64_t), intent(inout) :: bytes
        end function

        integer(c_int) function cuda_opt_load(s, buffer, bytes, x, f, g) bind(c, name='cuda_opt_load')
            import
            type(c_ptr), value :: s, buffer, x, f, g
            integer(c_int64_t), value :: bytes
        end function

        integer(c_int) function cuda_opt_load_f32(s, buffer, bytes, x, f, g) bind(c, name='cuda_opt_load_f32')
            import
            type(c_ptr), value :: s, buffer, x, f, g
            integer(c_int64_t), value :: bytes
        end function

        integer(c_int) function cuda_opt_request_stop(s) bind(c, name='cuda_opt_request_stop')
            import
            type(c_ptr), value :: s
        end function

        ! Change and read settings, and read results, by key.
        integer(c_int) function cuda_opt_set_int(s, key, setting) bind(c, name='cuda_opt_set_int')
            import
            type(c_ptr), value :: s
            integer(c_int32_t), value :: key
            integer(c_int64_t), value :: setting
        end function

        integer(c_int) function cuda_opt_set_real(s, key, setting) bind(c, name='cuda_opt_set_real')
            import
            type(c_ptr), value :: s
            integer(c_int32_t), value :: key
            real(c_double), value :: setting
        end function

        integer(c_int) function cuda_opt_get_int(s, key, found) bind(c, name='cuda_opt_get_int')
            import
            type(c_ptr), value :: s
            integer(c_int32_t), value :: key
            integer(c_int64_t), intent(inout) :: found
        end function

        integer(c_int) function cuda_opt_get_real(s, key, found) bind(c, name='cuda_opt_get_real')
            import
            type(c_ptr), value :: s
            integer(c_int32_t), value :: key
            real(c_double), intent(inout) :: found
        end function

        ! The next functions return C strings, which cuda_opt_text converts to Fortran strings.
        type(c_ptr) function cuda_opt_message(s) bind(c, name='cuda_opt_message')
            import
            type(c_ptr), value :: s
        end function

        type(c_ptr) function cuda_opt_version() bind(c, name='cuda_opt_version')
            import
        end function

        type(c_ptr) function cuda_opt_task_name(task) bind(c, name='cuda_opt_task_name')
            import
            integer(c_int), value :: task
        end function

        integer(c_int) function cuda_opt_backend(s) bind(c, name='cuda_opt_backend')
            import
            type(c_ptr), value :: s
        end function

        ! The multi-walk pattern search. In cuda_opt_search_walk, x and f are addresses of host memory, or c_null_ptr.
        integer(c_int) function cuda_opt_create_search(s, n, walks, backend) bind(c, name='cuda_opt_create_search')
            import
            type(c_ptr), intent(out) :: s
            integer(c_int64_t), value :: n, walks
            integer(c_int32_t), value :: backend
        end function

        integer(c_int) function cuda_opt_search_set_steps(s, steps) bind(c, name='cuda_opt_search_set_steps')
            import
            type(c_ptr), value :: s, steps
        end function

        integer(c_int) function cuda_opt_search_solve(s, points, values) bind(c, name='cuda_opt_search_solve')
            import
            type(c_ptr), value :: s, points, values
        end function

        integer(c_int) function cuda_opt_search_walk(s, walk, x, f) bind(c, name='cuda_opt_search_walk')
            import
            type(c_ptr), value :: s, x, f
            integer(c_int64_t), value :: walk
        end function

        integer(c_int) function cuda_opt_search_ranked(s, rank, walk) bind(c, name='cuda_opt_search_ranked')
            import
            type(c_ptr), value :: s
            integer(c_int64_t), value :: rank
            integer(c_int64_t), intent(inout) :: walk
        end function

        ! Check the gradient by differences of f, before a solve. If worst is not 0, the worst component is found.
        integer(c_int) &
            function cuda_opt_check_gradient(s, x, f, g, seed, worst) bind(c, name='cuda_opt_check_gradient')
            import
            type(c_ptr), value :: s, x, f, g
            integer(c_int64_t), value :: seed
            integer(c_int32_t), value :: worst
        end function

        integer(c_int) &
            function cuda_opt_check_gradient_f32(s, x, f, g, seed, worst) bind(c, name='cuda_opt_check_gradient_f32')
            import
            type(c_ptr), value :: s, x, f, g
            integer(c_int64_t), value :: seed
            integer(c_int32_t), value :: worst
        end function

        integer(c_int) &
            function cuda_opt_check_result(s, verdict, worst, given, other, error) bind(c, name='cuda_opt_check_result')
            import
            type(c_ptr), value :: s
            integer(c_int32_t), intent(inout) :: verdict
            integer(c_int64_t), intent(inout) :: worst
            real(c_double), intent(inout) :: given, other, error
        end function

        ! Allocate, free and copy memory in the handle's memory space, in programs that run on both backends.
        integer(c_int) function cuda_opt_alloc(s, pointer, bytes) bind(c, name='cuda_opt_alloc')
            import
            type(c_ptr), value :: s
            type(c_ptr), intent(out) :: pointer
            integer(c_int64_t), value :: bytes
        end function

        integer(c_int) function cuda_opt_free(s, pointer) bind(c, name='cuda_opt_free')
            import
            type(c_ptr), value :: s, pointer
        end function

        integer(c_int) function cuda_opt_copy_in(s, to, from_host, bytes) bind(c, name='cuda_opt_copy_in')
            import
            type(c_ptr), value :: s, to, from_host
            integer(c_int64_t), value :: bytes
        end function

        integer(c_int) function cuda_opt_copy_out(s, to_host, from, bytes) bind(c, name='cuda_opt_copy_out')
            import
            type(c_ptr), value :: s, to_host, from
            integer(c_int64_t), value :: bytes
        end function

        integer(c_int) function cuda_opt_synchronize(s) bind(c, name='cuda_opt_synchronize')
            import
            type(c_ptr), value :: s
        end function
    end interface

    abstract interface
        ! The log function receives a line that ends with a null character. cuda_opt_text(line) converts the line.
        subroutine cuda_opt_write_line(user, line) bind(c)
            import
            type(c_ptr), value :: user, line
        end subroutine
    end interface

    interface
        pure integer(c_size_t) function c_string_length(string) bind(c, name='strlen')
            import
            type(c_ptr), value :: string
        end function
    end interface

contains

    ! Convert a C string to a Fortran string.
    function cuda_opt_text(string) result(text)
        type(c_ptr), value :: string
        character(:), allocatable :: text
        character(kind=c_char), pointer :: characters(:)
        integer :: i

        allocate (character(c_string_length(string)) :: text)
        call c_f_pointer(string, characters, [len(text)])
        do i = 1, len(text)
            text(i:i) = characters(i)
        end do
    end function

end module
