//! The right to send: a dispatch that is durable, or a read. There is no third way.

use crate::{
    domain::{clock::Timestamp, contract_terms::EffectClass, unit::Dispatch},
    store::Committed,
};

/// What must have happened before a byte may leave.
#[derive(Debug)]
pub enum Permit {
    /// The decision and the effect key of this write are durable.
    Dispatch(Committed<Dispatch>),
    /// The call changes nothing.
    Read(ReadPermit),
}

impl Permit {
    /// The key that the tool is given, for a write.
    #[must_use]
    pub fn provider_key(&self) -> Option<&str> {
        match self {
            Self::Dispatch(committed) => Some(&committed.value().provider_key),
            Self::Read(_) => None,
        }
    }

    /// Until when the first byte may leave, for a write.
    #[must_use]
    pub fn send_before(&self) -> Option<Timestamp> {
        match self {
            Self::Dispatch(committed) => Some(committed.value().send_before),
            Self::Read(_) => None,
        }
    }
}

/// The right to send a call that changes nothing.
#[derive(Debug)]
pub struct ReadPermit(());

impl ReadPermit {
    /// Only a contract of class `read` gives one.
    #[must_use]
    pub const fn new(class: EffectClass) -> Option<Self> {
        match class {
            EffectClass::Read => Some(Self(())),
            EffectClass::Idempotent
            | EffectClass::Keyed
            | EffectClass::Reconcilable
            | EffectClass::Once => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_class_read_may_be_sent_without_a_committed_dispatch() {
        for class in EffectClass::ALL {
            assert_eq!(ReadPermit::new(*class).is_some(), *class == EffectClass::Read, "{class}");
        }
    }
}
