//! A kind of promise from its rows: the enum, and all that is the same for each of them.

/// Declares an enum with one variant per promise; a row is the name of its struct of parameters, which implements
/// [`Parameters`](crate::promise::Parameters) and the trait `$does` of its kind. On the wire a promise is its parameters and its name under `model`.
macro_rules! promises {
    ($(#[$doc:meta])* $kind:ident: $does:ident { $($(#[$about:meta])* $promise:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "model", rename_all = "kebab-case")]
        pub enum $kind {
            $($(#[$about])* $promise($promise),)*
        }

        impl $kind {
            /// Every promise of this kind.
            pub const ENTRIES: &'static [&'static crate::promise::Entry] =
                &[$(<$promise as crate::promise::Parameters>::ENTRY,)*];

            /// Its row in the registry.
            pub fn entry(&self) -> &'static crate::promise::Entry {
                match self {
                    $($kind::$promise(_) => <$promise as crate::promise::Parameters>::ENTRY,)*
                }
            }

            /// Reads the promise of that name from a section of the policy file; `None` if there is none of this
            /// kind, or a fault leaves no sense in it.
            pub fn read(
                name: &str,
                section: &crate::settings::Section<'_, '_>,
                schema: Option<&crate::model::Schema>,
                walk: &mut crate::settings::Walk,
            ) -> Option<$kind> {
                use crate::promise::Parameters;
                $(if name == <$promise as Parameters>::ENTRY.name {
                    return <$promise as Parameters>::read(section, schema, walk).map($kind::$promise);
                })*
                None
            }

            /// What promises of this kind can do, whichever it is.
            pub fn inner(&self) -> &dyn $does {
                match self {
                    $($kind::$promise(promise) => promise,)*
                }
            }

            /// What is claimed, in words and numbers.
            pub fn terms(&self) -> crate::model::Terms {
                match self {
                    $($kind::$promise(promise) => crate::promise::Parameters::terms(promise),)*
                }
            }

            /// Whether a series that was published under `before` may go on under this.
            pub fn may_follow(&self, before: &$kind) -> Result<(), crate::promise::Looser> {
                match (self, before) {
                    $(($kind::$promise(now), $kind::$promise(before)) => {
                        crate::promise::Parameters::may_follow(now, before)
                    })*
                    _ => Err(crate::promise::Looser::another_promise()),
                }
            }

            /// What in it contradicts itself or the columns.
            pub fn contradictions(&self, schema: Option<&crate::model::Schema>) -> Vec<crate::promise::Contradiction> {
                match self {
                    $($kind::$promise(promise) => crate::promise::Parameters::contradictions(promise, schema),)*
                }
            }

            /// Sets a number by its key in the policy file; false if there is no such number.
            pub fn set(&mut self, key: &str, value: u32) -> bool {
                match self {
                    $($kind::$promise(promise) => crate::promise::Parameters::set(promise, key, value),)*
                }
            }
        }

        $(impl From<$promise> for $kind {
            fn from(promise: $promise) -> $kind {
                $kind::$promise(promise)
            }
        })*

        $(impl From<$promise> for crate::promise::Promise {
            fn from(promise: $promise) -> crate::promise::Promise {
                $kind::$promise(promise).into()
            }
        })*
    };
}
