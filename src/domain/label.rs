//! Labels: integrity, sources, readers, kept per JSON pointer; and their join.
//!
//! Joining takes the least integrity, all sources and the common readers, so no sequence of joins
//! raises integrity or widens readers; only a recorded endorsement or declassification does.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{contract_terms::vocabulary, pointer::Pointer};

vocabulary! {
    /// How far a value can be trusted, lowest first (DESIGN 4).
    Integrity {
        /// Third parties, anything unlabelled, all that a model wrote.
        Untrusted = "untrusted",
        /// A statement of an authenticated principal.
        User = "user",
        /// Passed a named endorsement.
        Endorsed = "endorsed",
        /// A field of a system of record that only trusted writers can set.
        Internal = "internal",
        /// A constant of the trusted channel.
        System = "system",
    }
}

impl Integrity {
    /// 0 (untrusted) to 4 (system), as policies see it.
    #[must_use]
    pub const fn level(self) -> i64 {
        self as i64
    }
}

/// Who may read a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "BTreeSet<String>", into = "BTreeSet<String>")]
pub enum Readers {
    /// Everybody; the top of the lattice, written `["public"]`.
    Public,
    /// These identities and groups (`subject`, `staff`, `tenant`, an address); none when empty.
    Only(BTreeSet<String>),
}

impl Readers {
    /// Nobody.
    #[must_use]
    pub const fn nobody() -> Self {
        Self::Only(BTreeSet::new())
    }

    /// The readers of both.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Public, readers) | (readers, Self::Public) => readers.clone(),
            (Self::Only(a), Self::Only(b)) => Self::Only(a.intersection(b).cloned().collect()),
        }
    }

    /// Whether `reader` may read.
    #[must_use]
    pub fn admits(&self, reader: &str) -> bool {
        match self {
            Self::Public => true,
            Self::Only(readers) => readers.contains(reader),
        }
    }
}

impl From<BTreeSet<String>> for Readers {
    fn from(readers: BTreeSet<String>) -> Self {
        if readers.contains("public") { Self::Public } else { Self::Only(readers) }
    }
}

impl From<Readers> for BTreeSet<String> {
    fn from(readers: Readers) -> Self {
        match readers {
            Readers::Public => BTreeSet::from(["public".to_owned()]),
            Readers::Only(readers) => readers,
        }
    }
}

/// What is known of one value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// How far it can be trusted.
    pub integrity: Integrity,
    /// Handles of the data it came from.
    pub sources: BTreeSet<String>,
    /// Who may read it.
    pub readers: Readers,
}

impl Label {
    /// The label of anything without one: untrusted, nobody may read it.
    #[must_use]
    pub const fn unlabelled() -> Self {
        Self {
            integrity: Integrity::Untrusted,
            sources: BTreeSet::new(),
            readers: Readers::nobody(),
        }
    }

    /// The label of a constant of the trusted channel; the neutral element of the join.
    #[must_use]
    pub const fn constant() -> Self {
        Self { integrity: Integrity::System, sources: BTreeSet::new(), readers: Readers::Public }
    }

    /// The label of a value made of both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            integrity: self.integrity.min(other.integrity),
            sources: self.sources.union(&other.sources).cloned().collect(),
            readers: self.readers.meet(&other.readers),
        }
    }

    /// The same label, with one more source.
    #[must_use]
    pub fn with_source(mut self, source: &str) -> Self {
        self.sources.insert(source.to_owned());
        self
    }
}

/// Labels by place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct LabelMap(BTreeMap<Pointer, Label>);

impl LabelMap {
    /// One label for the whole document.
    #[must_use]
    pub fn whole(label: Label) -> Self {
        Self(BTreeMap::from([(Pointer::root(), label)]))
    }

    /// Labels this place.
    pub fn set(&mut self, at: Pointer, label: Label) {
        self.0.insert(at, label);
    }

    /// The label of a leaf: that of its nearest labelled ancestor, else unlabelled.
    #[must_use]
    pub fn nearest(&self, at: &Pointer) -> Label {
        let mut place = Some(at.clone());
        while let Some(here) = place {
            if let Some(label) = self.0.get(&here) {
                return label.clone();
            }
            place = here.parent();
        }
        Label::unlabelled()
    }

    /// The label of what stands at this place: its own joined with all labels below it.
    #[must_use]
    pub fn at(&self, at: &Pointer) -> Label {
        self.0
            .iter()
            .filter(|(place, _)| at.holds(place) && *place != at)
            .fold(self.nearest(at), |label, (_, below)| label.join(below))
    }

    /// The label of the whole document.
    #[must_use]
    pub fn joined(&self) -> Label {
        self.at(&Pointer::root())
    }

    /// All labelled places.
    pub fn iter(&self) -> impl Iterator<Item = (&Pointer, &Label)> {
        self.0.iter()
    }

    /// The same labels, each with one more source.
    #[must_use]
    pub fn with_source(self, source: &str) -> Self {
        Self(self.0.into_iter().map(|(at, label)| (at, label.with_source(source))).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_label() -> impl Strategy<Value = Label> {
        let names = prop::collection::btree_set("[a-d]", 0..4);
        let readers = prop_oneof![
            Just(Readers::Public),
            prop::collection::btree_set("[a-d]", 0..4).prop_map(Readers::Only),
        ];
        (0_usize..5, names, readers).prop_map(|(level, sources, readers)| Label {
            integrity: Integrity::ALL[level],
            sources,
            readers,
        })
    }

    proptest! {
        #[test]
        fn the_join_is_a_semilattice(a in any_label(), b in any_label(), c in any_label()) {
            prop_assert_eq!(a.join(&b), b.join(&a));
            prop_assert_eq!(a.join(&b).join(&c), a.join(&b.join(&c)));
            prop_assert_eq!(a.join(&a), a.clone());
            prop_assert_eq!(a.join(&Label::constant()), a);
        }

        #[test]
        fn joining_never_raises_integrity_and_never_widens_readers(
            a in any_label(), b in any_label()
        ) {
            let joined = a.join(&b);
            prop_assert!(joined.integrity <= a.integrity);
            prop_assert_eq!(joined.readers.meet(&a.readers), joined.readers.clone());
            prop_assert!(joined.sources.is_superset(&a.sources));
        }
    }

    #[test]
    fn a_leaf_takes_its_nearest_label_and_a_container_joins_what_is_below() {
        let internal = Label { integrity: Integrity::Internal, ..Label::constant() };
        let mut labels = LabelMap::whole(internal);
        let note = Pointer::parse("/note").unwrap();
        labels.set(note.clone(), Label::unlabelled().with_source("mail_1"));
        assert_eq!(labels.at(&Pointer::parse("/id").unwrap()).integrity, Integrity::Internal);
        assert_eq!(labels.at(&note.child("deep")).integrity, Integrity::Untrusted);
        assert_eq!(labels.joined().integrity, Integrity::Untrusted);
        assert_eq!(labels.at(&Pointer::parse("/notes").unwrap()).integrity, Integrity::Internal);
        assert_eq!(LabelMap::default().at(&note), Label::unlabelled());
    }

    #[test]
    fn public_is_the_whole_set_and_reads_back() {
        let public: Readers = serde_json::from_str(r#"["public","staff"]"#).unwrap();
        assert_eq!(public, Readers::Public);
        assert!(public.admits("anybody"));
        assert!(!Readers::nobody().admits("staff"));
        assert_eq!(serde_json::to_string(&public).unwrap(), r#"["public"]"#);
    }
}
