//! Enums whose variants have codes: a variant, its message, its code and its page stand in one place.

/// A code such as `D103`, its title, and the paragraph that `tacenda explain` prints.
pub type Page = (&'static str, &'static str, &'static str);

/// Declares an enum whose variants have codes.
///
/// After a variant stands its code with title and page; the title is also the variant's doc comment. A variant that
/// shares the code of another one gives the code alone, and its own doc comment. Variants under `wraps` hold an
/// error of another enum and have its code. An enum `of units` also lists its variants and gives their titles.
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

/// What the process ends with for a code whose hundreds say it: 2 use, 3 data, 5 integrity, 6 a decision is missing,
/// 7 the environment.
pub(crate) fn exit_of(code: &str) -> u8 {
    code.as_bytes()[1] - b'0'
}
