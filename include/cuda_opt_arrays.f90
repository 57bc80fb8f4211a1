! This module is a layer over the module cuda_opt for arrays in host memory, in double and in single precision. Its
! handle frees itself, and its arguments are Fortran arrays instead of addresses.
!
!     use cuda_opt
!     use cuda_opt_arrays
!     type(minimiser) :: s
!     ...
!     task = s%create(x, m=5)
!     if (task == 0) task = s%set_bounds(lower, upper)
!     do while (task >= 0)
!         task = s%solve(x, f, g)
!         if (task /= CUDA_OPT_EVALUATE_FG) exit
!         call evaluate(x, f, g)
!     end do
!     print '(a)', s%message()
!
! Functions return the codes of cuda_opt.h: 0 or a task on success. If an array does not have n elements, or is not
! contiguous, the code is CUDA_OPT_IMPROPER_INPUT, and message() names the array. The handle is freed when the variable
! is finalised. Variables of a main program are never finalised: call destroy() there. Do not assign a minimiser to
! another one, because both would own the same handle.
!
! The arrays and the computation are on the host. For arrays on a device see the module cuda_opt.
!
! The type batch_minimiser minimises count problems of n variables at once, independently of each other
! (cuda_opt_batch.h), in double precision. A problem is a column of x(n, count) and g(n, count). This column is a row
! in C, so that nothing is copied:
!
!     if (task == 0) task = s%set_bounds(lower, upper) ! (n, count); or as for a minimiser, the same for all
!     do while (task >= 0)
!         task = s%solve(x, f, g)
!         if (task /= CUDA_OPT_EVALUATE_BATCH) exit
!         active = s%active() ! those to be evaluated, counted from 1
!         do k = 1, size(active)
!             call evaluate(x(:, active(k)), f(active(k)), g(:, active(k)))
!         end do
!     end do
module cuda_opt_arrays
    use, intrinsic :: iso_c_binding, only: &
        c_associated, c_double, c_f_pointer, c_float, c_int, c_int32_t, c_int64_t, c_loc, c_null_ptr, c_ptr
    use cuda_opt
    use cuda_opt_batches
    implicit none
    private

    type, public :: minimiser
        private
        type(c_ptr) :: s = c_null_ptr
        integer(c_int64_t) :: n = 0
        ! The copies of the bounds, which the library reads in every iteration. Because of the copies, the arguments of
        ! set_bounds() may be expressions.
        real(c_double), pointer :: box(:, :) => null()
        real(c_float), pointer :: box_f32(:, :) => null()
        character(:), allocatable :: refusal ! the message if this module has refused the last call
    contains
        ! s%create(x, m): create a handle for size(x) variables in the precision of x.
        generic :: create => create_f64, create_f32
        ! s%set_bounds(lower, upper): set bounds before the first solve() or after reset(). The arguments are two
        ! arrays, or two numbers for all variables; an infinite value is no bound.
        generic :: set_bounds => set_bounds_f64, set_bounds_f32, set_uniform_f64, set_uniform_f32
        ! s%solve(x, f, g): continue the solve, with the same variables in each call of one solve.
        generic :: solve => solve_f64, solve_f32
        ! s%set(key, setting), s%get(key, found): an integer for an integer key, real(c_double) for a real key.
        generic :: set => set_i32, set_i64, set_real
        generic :: get => get_i32, get_i64, get_real
        procedure :: reset, message, handle, destroy
        procedure, private :: create_f64, create_f32, set_bounds_f64, set_bounds_f32, set_uniform_f64, &
            set_uniform_f32, solve_f64, solve_f32, set_i32, set_i64, set_real, get_i32, get_i64, get_real, fits
        final :: finalise
    end type

    type, extends(minimiser), public :: batch_minimiser
        private
        integer(c_int64_t) :: count = 0
    contains
        generic :: create => create_batch
        generic :: set_bounds => set_columns
        generic :: solve => solve_batch
        ! s%get(key, found): a result of each problem, of kind c_int64_t or c_double.
        generic :: get => get_each_int, get_each_real
        procedure :: active, message_of
        procedure, private :: create_batch, set_columns, solve_batch, get_each_int, get_each_real, fits_columns
    end type

contains

    integer(c_int) function create_f64(self, x, m) result(code)
        class(minimiser), intent(inout) :: self
        real(c_double), intent(in) :: x(:)
        integer, intent(in) :: m

        call self%destroy()
        self%n = size(x, kind=c_int64_t)
        code = cuda_opt_create(self%s, self%n, int(m, c_int32_t), CUDA_OPT_BACKEND_HOST)
    end function

    integer(c_int) function create_f32(self, x, m) result(code)
        class(minimiser), intent(inout) :: self
        real(c_float), intent(in) :: x(:)
        integer, intent(in) :: m

        call self%destroy()
        self%n = size(x, kind=c_int64_t)
        code = cuda_opt_create_f32(self%s, self%n, int(m, c_int32_t), CUDA_OPT_BACKEND_HOST)
    end function

    integer(c_int) function set_bounds_f64(self, lower, upper) result(code)
        class(minimiser), intent(inout) :: self
        real(c_double), intent(in) :: lower(:), upper(:)
        real(c_double), pointer :: box(:, :)

        code = self%fits('lower', size(lower, kind=c_int64_t), .true.)
        if (code == 0) code = self%fits('upper', size(upper, kind=c_int64_t), .true.)
        if (code /= 0) return
        allocate (box(self%n, 2))
        box(:, 1) = lower
        box(:, 2) = upper
        code = cuda_opt_set_bounds(self%s, c_loc(box(1, 1)), c_loc(box(1, 2)))
        if (code == 0 .and. associated(self%box)) deallocate (self%box)
        if (code == 0) self%box => box
        if (code /= 0) deallocate (box)
    end function

    integer(c_int) function set_bounds_f32(self, lower, upper) result(code)
        class(minimiser), intent(inout) :: self
        real(c_float), intent(in) :: lower(:), upper(:)
        real(c_float), pointer :: box(:, :)

        code = self%fits('lower', size(lower, kind=c_int64_t), .true.)
        if (code == 0) code = self%fits('upper', size(upper, kind=c_int64_t), .true.)
        if (code /= 0) return
        allocate (box(self%n, 2))
        box(:, 1) = lower
        box(:, 2) = upper
        code = cuda_opt_set_bounds_f32(self%s, c_loc(box(1, 1)), c_loc(box(1, 2)))
        if (code == 0 .and. associated(self%box_f32)) deallocate (self%box_f32)
        if (code == 0) self%box_f32 => box
        if (code /= 0) deallocate (box)
    end function

    ! Set the same bounds for all variables. They replace arrays that were set before. The copies of these arrays are
    ! kept until other arrays are set or the handle is freed.
    integer(c_int) function set_uniform_f64(self, lower, upper) result(code)
        class(minimiser), intent(inout) :: self
        real(c_double), intent(in) :: lower, upper

        code = self%fits('', self%n, .true.)
        if (code == 0) code = cuda_opt_set_uniform_bounds(self%s, lower, upper)
        if (code == 0) code = cuda_opt_set_bounds(self%s, c_null_ptr, c_null_ptr)
    end function

    integer(c_int) function set_uniform_f32(self, lower, upper) result(code)
        class(minimiser), intent(inout) :: self
        real(c_float), intent(in) :: lower, upper

        code = self%fits('', self%n, .true.)
        if (code == 0) code = cuda_opt_set_uniform_bounds_f32(self%s, lower, upper)
        if (code == 0) code = cuda_opt_set_bounds_f32(self%s, c_null_ptr, c_null_ptr)
    end function

    integer(c_int) function solve_f64(self, x, f, g) result(task)
        class(minimiser), intent(inout) :: self
        real(c_double), intent(inout), target :: x(:), f, g(:)

        task = self%fits('x', size(x, kind=c_int64_t), is_contiguous(x))
        if (task == 0) task = self%fits('g', size(g, kind=c_int64_t), is_contiguous(g))
        if (task == 0) task = cuda_opt_solve(self%s, c_loc(x(1)), c_loc(f), c_loc(g(1)))
    end function

    integer(c_int) function solve_f32(self, x, f, g) result(task)
        class(minimiser), intent(inout) :: self
        real(c_float), intent(inout), target :: x(:), g(:)
        real(c_double), intent(inout), target :: f

        task = self%fits('x', size(x, kind=c_int64_t), is_contiguous(x))
        if (task == 0) task = self%fits('g', size(g, kind=c_int64_t), is_contiguous(g))
        if (task == 0) task = cuda_opt_solve_f32(self%s, c_loc(x(1)), c_loc(f), c_loc(g(1)))
    end function

    integer(c_int) function set_i32(self, key, setting) result(code)
        class(minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        integer(c_int32_t), intent(in) :: setting
        code = self%set_i64(key, int(setting, c_int64_t))
    end function

    integer(c_int) function set_i64(self, key, setting) result(code)
        class(minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        integer(c_int64_t), intent(in) :: setting
        if (allocated(self%refusal)) deallocate (self%refusal)
        code = cuda_opt_set_int(self%s, key, setting)
    end function

    integer(c_int) function set_real(self, key, setting) result(code)
        class(minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        real(c_double), intent(in) :: setting
        if (allocated(self%refusal)) deallocate (self%refusal)
        code = cuda_opt_set_real(self%s, key, setting)
    end function

    ! Read an integer of 32 bits. If the result does not fit, the code is CUDA_OPT_IMPROPER_INPUT.
    integer(c_int) function get_i32(self, key, found) result(code)
        class(minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        integer(c_int32_t), intent(inout) :: found
        integer(c_int64_t) :: long

        long = found
        code = self%get_i64(key, long)
        if (long > huge(found) .or. long < -huge(found)) then
            self%refusal = 'the value does not fit into 32 bits'
            code = CUDA_OPT_IMPROPER_INPUT
        else
            found = int(long, c_int32_t)
        end if
    end function

    integer(c_int) function get_i64(self, key, found) result(code)
        class(minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        integer(c_int64_t), intent(inout) :: found
        if (allocated(self%refusal)) deallocate (self%refusal)
        code = cuda_opt_get_int(self%s, key, found)
    end function

    integer(c_int) function get_real(self, key, found) result(code)
        class(minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        real(c_double), intent(inout) :: found
        if (allocated(self%refusal)) deallocate (self%refusal)
        code = cuda_opt_get_real(self%s, key, found)
    end function

    ! Drop the history, and keep the settings and the bounds. The next solve() begins a new solve.
    integer(c_int) function reset(self) result(code)
        class(minimiser), intent(inout) :: self
        if (allocated(self%refusal)) deallocate (self%refusal)
        code = cuda_opt_reset(self%s)
    end function

    ! Return one English sentence about the last call that returned a task, ended a solve or failed.
    function message(self) result(text)
        class(minimiser), intent(in) :: self
        character(:), allocatable :: text

        if (allocated(self%refusal)) then
            text = self%refusal
        else
            text = cuda_opt_text(cuda_opt_message(self%s))
        end if
    end function

    ! Return the C handle, for the functions of the module cuda_opt that have no counterpart here.
    type(c_ptr) function handle(self)
        class(minimiser), intent(in) :: self
        handle = self%s
    end function

    ! Free the handle and the copies of the bounds. create() then creates a new handle.
    subroutine destroy(self)
        class(minimiser), intent(inout) :: self

        call cuda_opt_destroy(self%s)
        if (associated(self%box)) deallocate (self%box)
        if (associated(self%box_f32)) deallocate (self%box_f32)
        if (allocated(self%refusal)) deallocate (self%refusal)
        self%n = 0
    end subroutine

    subroutine finalise(self)
        type(minimiser), intent(inout) :: self
        call self%destroy()
    end subroutine

    ! Check an array before it is passed to the library. Return 0, or the code of the failure.
    integer(c_int) function fits(self, name, elements, contiguous) result(code)
        class(minimiser), intent(inout) :: self
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: elements
        logical, intent(in) :: contiguous
        character(80) :: sentence

        if (allocated(self%refusal)) deallocate (self%refusal)
        code = 0
        if (.not. c_associated(self%s)) then
            self%refusal = 'create() comes first'
            code = CUDA_OPT_MISUSE
        else if (self%n < 1) then
            code = cuda_opt_reset(self%s) ! the code of the failed handle: an array of no elements has no address
        else if (elements /= self%n) then
            write (sentence, '(2a, i0, a, i0)') name, ' has ', elements, ' elements, but n is ', self%n
            self%refusal = trim(sentence)
            code = CUDA_OPT_IMPROPER_INPUT
        else if (.not. contiguous) then
            self%refusal = name//' is not contiguous'
            code = CUDA_OPT_IMPROPER_INPUT
        end if
    end function

    integer(c_int) function create_batch(self, x, m) result(code)
        class(batch_minimiser), intent(inout) :: self
        real(c_double), intent(in) :: x(:, :)
        integer, intent(in) :: m

        call self%destroy()
        self%n = size(x, 1, c_int64_t)
        self%count = size(x, 2, c_int64_t)
        code = cuda_opt_create_batch(self%s, self%n, self%count, int(m, c_int32_t), CUDA_OPT_BACKEND_HOST)
    end function

    integer(c_int) function set_columns(self, lower, upper) result(code)
        class(batch_minimiser), intent(inout) :: self
        real(c_double), intent(in) :: lower(:, :), upper(:, :)
        real(c_double), pointer :: box(:, :)

        code = self%fits_columns('lower', shape(lower, c_int64_t), .true.)
        if (code == 0) code = self%fits_columns('upper', shape(upper, c_int64_t), .true.)
        if (code /= 0) return
        allocate (box(self%n, 2*self%count))
        box(:, :self%count) = lower
        box(:, self%count + 1:) = upper
        code = cuda_opt_batch_set_bounds(self%s, c_loc(box(1, 1)), c_loc(box(1, self%count + 1)))
        if (code == 0 .and. associated(self%box)) deallocate (self%box)
        if (code == 0) self%box => box
        if (code /= 0) deallocate (box)
    end function

    integer(c_int) function solve_batch(self, x, f, g) result(task)
        class(batch_minimiser), intent(inout) :: self
        real(c_double), intent(inout), target :: x(:, :), f(:), g(:, :)

        task = self%fits_columns('x', shape(x, c_int64_t), is_contiguous(x))
        if (task == 0) task = self%fits_columns('f', [self%n, size(f, kind=c_int64_t)], is_contiguous(f))
        if (task == 0) task = self%fits_columns('g', shape(g, c_int64_t), is_contiguous(g))
        if (task == 0) task = cuda_opt_batch_solve(self%s, c_loc(x(1, 1)), c_loc(f(1)), c_loc(g(1, 1)))
    end function

    integer(c_int) function get_each_int(self, key, found) result(code)
        class(batch_minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        integer(c_int64_t), intent(inout), target :: found(:)

        code = self%fits_columns('the result', [self%n, size(found, kind=c_int64_t)], is_contiguous(found))
        if (code == 0) code = cuda_opt_batch_get_int(self%s, key, c_loc(found(1)))
    end function

    integer(c_int) function get_each_real(self, key, found) result(code)
        class(batch_minimiser), intent(inout) :: self
        integer(c_int), intent(in) :: key
        real(c_double), intent(inout), target :: found(:)

        code = self%fits_columns('the result', [self%n, size(found, kind=c_int64_t)], is_contiguous(found))
        if (code == 0) code = cuda_opt_batch_get_real(self%s, key, c_loc(found(1)))
    end function

    ! Return the indices of the problems to evaluate, counted from 1, in ascending order.
    function active(self) result(problems)
        class(batch_minimiser), intent(in) :: self
        integer(c_int64_t), allocatable :: problems(:)
        integer(c_int64_t), pointer :: from_0(:)
        integer(c_int64_t) :: many

        if (cuda_opt_get_int(self%s, CUDA_OPT_BATCH, many) /= 0) many = 0
        allocate (problems(many))
        if (many == 0) return
        call c_f_pointer(cuda_opt_batch_active(self%s), from_0, [many])
        problems = from_0 + 1
    end function

    ! Return one English sentence about one problem. problem is its index, counted from 1.
    function message_of(self, problem) result(text)
        class(batch_minimiser), intent(in) :: self
        integer, intent(in) :: problem
        character(:), allocatable :: text

        text = cuda_opt_text(cuda_opt_batch_message(self%s, problem - 1_c_int64_t))
    end function

    ! Does the same as fits(), for an array with the given numbers of columns and of elements per column.
    integer(c_int) function fits_columns(self, name, extents, contiguous) result(code)
        class(batch_minimiser), intent(inout) :: self
        character(*), intent(in) :: name
        integer(c_int64_t), intent(in) :: extents(2)
        logical, intent(in) :: contiguous
        character(80) :: sentence

        code = self%fits('a column of '//name, extents(1), .true.)
        if (code /= 0) return
        if (self%count < 1) then
            code = cuda_opt_reset(self%s) ! as in fits()
        else if (extents(2) /= self%count) then
            write (sentence, '(2a, i0, a, i0)') name, ' is for ', extents(2), ' problems, but count is ', self%count
            self%refusal = trim(sentence)
            code = CUDA_OPT_IMPROPER_INPUT
        else
            code = self%fits(name, extents(1), contiguous)
        end if
    end function

end module
