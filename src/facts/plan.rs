//! Where permission to read comes from: only from a contract of class `read`.

use crate::{
    domain::contract_terms::EffectClass,
    gateway::{Permit, ReadPermit},
};

/// The permit of a read; none for a contract that has an effect.
#[must_use]
pub fn permit(class: EffectClass) -> Option<Permit> {
    ReadPermit::new(class).map(Permit::Read)
}
