//! Enums whose variants have codes. A variant, its message, its code and its page are declared in one place.

/// A code such as `D103`, its title, and the paragraph that `tacenda explain` prints.
pub type Page = (&'static str, &'static str, &'static str);

/// Declares an enum whose variants have codes.
///
/// A variant is followed by its code, title and page; the title is also its doc comment. A variant that shares the code
/// of another one gives only the code and its own doc comment. Variants under `wraps` hold an error of another enum and
/// have its code. An enum `of units` also lists its variants and their titles.
macro_rules! coded {
    (
        $(#[$outer:meta])*
        pub enum $Name:ident of units {
            $($Variant:ident = $code:literal, $title:literal, $page:literal;)*
        }
    ) => {
        $crate::model::coded! {
            $(#[$outer])*
            pub enum $Name { $($Variant = $code, $title, $page;)* }
        }

        impl $Name {
            /// All of them, in the order of the pages.
            pub const ALL: &[$Name] = &[$($Name::$Variant,)*];

            /// Its title.
            pub fn title(self) -> &'static str {
                $Name::PAGES[self as usize].1
            }
        }
    };
    (
        $(#[$outer:meta])*
        pub enum $Name:ident $(wraps { $($(#[$of_wrap:meta])* $Wrap:ident($($inner:tt)*),)* } and)? {
            $(
                $(#[$meta:meta])*
                $Variant:ident $({ $($fields:tt)* })? $(($($tuple:tt)*))?
                    = $code:literal $(, $title:literal, $page:literal)?;
            )*
        }
    ) => {
        $(#[$outer])*
        pub enum $Name {
            $($($(#[$of_wrap])* $Wrap($($inner)*),)*)?
            $($(#[doc = $title])? $(#[$meta])* $Variant $({ $($fields)* })? $(($($tuple)*))?,)*
        }

        impl $Name {
            /// Its code, with a page in `tacenda explain`.
            pub fn code(&self) -> &'static str {
                match self {
                    $($($Name::$Wrap(error) => error.code(),)*)?
                    $($Name::$Variant { .. } => $code,)*
                }
            }

            /// Every code of its own with its title and page, in the order of the variants.
            pub const PAGES: &[$crate::model::Page] = &[$($(($code, $title, $page),)?)*];
        }
    };
}

pub(crate) use coded;

/// The exit code of an error code, from its hundreds digit: 2 wrong use, 3 data, 5 integrity, 6 a decision is missing,
/// 7 environment.
pub(crate) fn exit_of(code: &str) -> u8 {
    code.as_bytes()[1] - b'0'
}
