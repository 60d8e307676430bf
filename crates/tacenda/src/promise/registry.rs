//! Generates a kind of promise from its rows: the enum, and everything that is the same for all of them.

/// Declares an enum with one variant per promise. A row is the name of its struct of parameters, which implements
/// [`Parameters`](crate::promise::Parameters) and the trait `$does` of its kind. In JSON a promise is its parameters,
/// with its name under `model`.
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

            /// Reads the promise of that name from a section of the policy file; `None` if there is none of this kind,
            /// or a fault makes it unusable.
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

            /// The operations that all promises of this kind have.
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

            /// Whether a series that was published under `before` may continue under this.
            pub fn may_follow(&self, before: &$kind) -> Result<(), crate::promise::Looser> {
                match (self, before) {
                    $(($kind::$promise(now), $kind::$promise(before)) => {
                        crate::promise::Parameters::may_follow(now, before)
                    })*
                    _ => Err(crate::promise::Looser::another_promise()),
                }
            }

            /// Contradictions among its parameters or with the columns.
            pub fn contradictions(&self, schema: Option<&crate::model::Schema>) -> Vec<crate::promise::Contradiction> {
                match self {
                    $($kind::$promise(promise) => crate::promise::Parameters::contradictions(promise, schema),)*
                }
            }

            /// Sets a number by its key in the policy file; returns false if there is no such number.
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
