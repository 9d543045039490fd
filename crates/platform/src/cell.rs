//! Interior mutability with the shape of loom's cell, so that the model checker sees every access.

#[cfg(loom)]
pub use loom::cell::{MutPtr, UnsafeCell};

#[cfg(not(loom))]
pub use hardware::{MutPtr, UnsafeCell};

/// A cell of the thread that has it, which may be another one from time to time.
#[cfg(loom)]
pub type Cell<T> = loom::cell::Cell<T>;
/// A cell of the thread that has it, which may be another one from time to time.
#[cfg(not(loom))]
pub type Cell<T> = std::cell::Cell<T>;

#[cfg(not(loom))]
mod hardware {
    /// Memory that shared references may change; the caller's protocol says which thread may do so, and when.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Wraps a value.
        #[inline(always)]
        pub const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Takes the value out.
        #[inline(always)]
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Gives `f` a pointer to read through. The pointer must not outlive `f`.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Gives `f` a pointer to write through. The pointer must not outlive `f`.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }

        /// A pointer for an exclusive access as long as the returned value lives.
        #[inline(always)]
        pub fn get_mut(&self) -> MutPtr<T> {
            MutPtr(self.0.get())
        }

        /// The bare pointer. Hardware only: loom cannot follow it, so model-checked code uses
        /// [`with`](Self::with), [`with_mut`](Self::with_mut) or [`get_mut`](Self::get_mut).
        #[inline(always)]
        pub const fn get(&self) -> *mut T {
            self.0.get()
        }
    }

    /// An exclusive access to a cell's value, as loom's: an access in progress while it lives.
    #[derive(Debug)]
    pub struct MutPtr<T: ?Sized>(*mut T);

    impl<T: ?Sized> MutPtr<T> {
        /// The value.
        ///
        /// # Safety
        ///
        /// The cell must be alive, and no other thread may access it while the reference lives.
        #[inline(always)]
        #[allow(clippy::mut_from_ref)]
        #[allow(clippy::should_implement_trait)]
        pub unsafe fn deref(&self) -> &mut T {
            // SAFETY: alive and exclusive by the caller's promise.
            unsafe { &mut *self.0 }
        }

        /// Gives `f` the pointer.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0)
        }
    }
}
