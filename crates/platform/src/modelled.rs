//! Constants, statics and thread-locals in a form that `loom` can model.
//!
//! loom creates its atomics and cells in each execution that it explores, so they cannot be parts of
//! constants, and statics and thread-locals must begin anew in each execution. Code under the model checker
//! writes these four with the macros below. In every other build the macros expand to the plain forms.
//!
//! | here | on the machine | under `loom` |
//! |---|---|---|
//! | [`const_fn!`](crate::const_fn) | a `const fn` | a function |
//! | [`array_of!`](crate::array_of) | `[const { … }; n]` | an array, made element by element |
//! | [`statics!`](crate::statics) | a `static` | one for each execution |
//! | [`thread_locals!`](crate::thread_locals) | `thread_local!` with constants | one for each thread of the model |
//! | [`never_freed`] | nothing | freed when the next execution begins |

/// A `const fn`; under `loom` a function. Its attributes and comments are kept.
#[macro_export]
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $visibility const fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])*
        $visibility fn $($rest)*
    };
    ($(#[$attribute:meta])* $visibility:vis const unsafe fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $visibility const unsafe fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])*
        $visibility unsafe fn $($rest)*
    };
}

/// An array of `$count` values of a constant expression.
#[cfg(not(loom))]
#[macro_export]
macro_rules! array_of {
    ($value:expr; $count:expr) => {
        [const { $value }; $count]
    };
}

/// An array of `$count` values of an expression.
#[cfg(loom)]
#[macro_export]
macro_rules! array_of {
    ($value:expr; $count:expr) => {
        std::array::from_fn::<_, { $count }, _>(|_| $value)
    };
}

/// Statics, of constant expressions, of which each process has one.
#[cfg(not(loom))]
#[macro_export]
macro_rules! statics {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        $crate::per_process! { $($(#[$attribute])* static $name: $type = $value;)* }
    };
}

/// Statics, which each execution has for itself.
#[cfg(loom)]
#[macro_export]
macro_rules! statics {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        $crate::loom::lazy_static! { $($(#[$attribute])* static ref $name: $type = $value;)* }
    };
}

/// Thread-locals, of constant expressions; reached by `with` or `try_with`.
#[cfg(not(loom))]
#[macro_export]
macro_rules! thread_locals {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        ::std::thread_local! { $($(#[$attribute])* static $name: $type = const { $value };)* }
    };
}

/// Thread-locals of a model's threads; reached by `with` or `try_with`.
#[cfg(loom)]
#[macro_export]
macro_rules! thread_locals {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        $crate::loom::thread_local! { $($(#[$attribute])* static $name: $type = $value;)* }
    };
}

/// Declares that a box is never freed. Under `loom` it is freed when its execution is over, since there are
/// millions of executions.
///
/// # Safety
/// It comes from `Box::into_raw`, and no code frees it.
#[inline(always)]
pub unsafe fn never_freed<T: ?Sized + 'static>(boxed: *mut T) {
    #[cfg(loom)]
    {
        // SAFETY: it comes from `Box::into_raw`, by the caller's promise. It is dropped after the execution,
        // when no thread of the model knows of it.
        crate::model::keep(unsafe { Box::from_raw(boxed) });
    }
    #[cfg(not(loom))]
    let _ = boxed;
}
