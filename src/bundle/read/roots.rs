//! Which roots exist where, and their shapes. What is not listed for a place does not exist there.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    bundle::outline::{Outline, Outlines, defaulted},
    domain::contract_terms::Assurance,
    expr::{Field, Roots, Shape},
};

/// `subject`, `principal`, `session`: who acts, for whom, in what.
pub(crate) fn identity() -> Roots {
    let assurances = Assurance::ALL.iter().map(|a| a.as_str().to_owned()).collect();
    Roots::new()
        .with("subject", Shape::record([("type", Shape::text()), ("id", Shape::text())]))
        .with(
            "principal",
            Shape::record([
                ("id", Shape::text()),
                ("tenant", Shape::text()),
                (
                    "kind",
                    Shape::Text { members: Some(vec!["person".to_owned(), "service".to_owned()]) },
                ),
                ("channel", Shape::text()),
                ("assurance", Shape::Text { members: Some(assurances) }),
                ("roles", Shape::List(Arc::new(Shape::text()))),
            ]),
        )
        .with(
            "session",
            Shape::record([
                ("id", Shape::text()),
                ("workflow", Shape::text()),
                ("purpose", Shape::text()),
                ("state", Shape::text()),
            ]),
        )
}

/// The roots of one contract's expressions, by the point of the road.
pub(crate) struct ContractRoots {
    args: Arc<Shape>,
    case: Arc<Shape>,
    facts: Arc<Shape>,
    result: Arc<Shape>,
    effect: Arc<Shape>,
}

impl ContractRoots {
    pub(crate) fn new(
        outline: &Outline,
        facts: BTreeMap<String, Arc<Shape>>,
        case: Arc<Shape>,
    ) -> Self {
        let facts = facts
            .into_iter()
            .map(|(name, shape)| (name, Field { required: true, shape }))
            .collect();
        Self {
            args: Arc::new(Shape::from_schema(&defaulted(&outline.input))),
            case,
            facts: Arc::new(Shape::Record { fields: facts, open: false }),
            result: Arc::new(Shape::from_schema(&outline.response)),
            effect: Arc::new(effect_shape(outline.has_amount)),
        }
    }

    /// `resource.id`: the arguments alone, before anything was read.
    pub(crate) fn resource(&self) -> Roots {
        Roots::new().with("args", Arc::clone(&self.args))
    }

    /// Arguments of facts, which may depend on other facts; relation and agree rules.
    pub(crate) fn facts(&self) -> Roots {
        identity()
            .with("args", Arc::clone(&self.args))
            .with("case", Arc::clone(&self.case))
            .with("facts", Arc::clone(&self.facts))
            .with("now", Shape::Timestamp)
    }

    /// `effect.amount`.
    pub(crate) fn amount(&self) -> Roots {
        self.facts()
    }

    /// `effect.key`: everything that does not change between two attempts.
    pub(crate) fn key(&self) -> Roots {
        self.facts().without("now").without("case")
    }

    /// `effect.same`: the key's roots without the session.
    pub(crate) fn same(&self) -> Roots {
        self.key().without("session")
    }

    /// Path, query, headers, body; arguments of the look-up that reconciles.
    pub(crate) fn request(&self) -> Roots {
        let roots =
            identity().with("args", Arc::clone(&self.args)).with("facts", Arc::clone(&self.facts));
        roots.with("effect", Arc::clone(&self.effect))
    }

    /// A read's request: there is no effect.
    pub(crate) fn read_request(&self) -> Roots {
        identity().with("args", Arc::clone(&self.args))
    }

    /// `reconcile`'s conditions: `result` is the look-up's answer.
    pub(crate) fn look_up(&self, answer: Shape) -> Roots {
        self.request().with("result", answer)
    }

    /// `outcome`, `display` and invariants: `result` is this tool's answer.
    pub(crate) fn answer(&self, is_read: bool) -> Roots {
        let roots = if is_read { self.read_request() } else { self.request() };
        roots.with("result", Arc::clone(&self.result)).with("now", Shape::Timestamp)
    }

    /// A read's `relation`.
    pub(crate) fn relation(&self) -> Roots {
        self.answer(true).with("case", Arc::clone(&self.case))
    }

    /// Arguments of the read that verifies.
    pub(crate) fn verify_args(&self) -> Roots {
        self.request().with("result", Arc::clone(&self.result))
    }

    /// Rules over what the verifying read found.
    pub(crate) fn verify_rules(&self, after: Shape) -> Roots {
        self.verify_args().with("after", after)
    }

    /// What a budget sums.
    pub(crate) fn budget(&self) -> Roots {
        self.request()
    }
}

fn effect_shape(has_amount: bool) -> Shape {
    let list = || Shape::List(Arc::new(Shape::Any));
    let mut fields = vec![("provider_key", Shape::text()), ("key", list()), ("same", list())];
    if has_amount {
        fields
            .push(("amount", Shape::record([("minor", Shape::Int), ("currency", Shape::text())])));
    }
    Shape::record(fields)
}

/// `case`: bound records, each possibly not there yet.
pub(crate) fn case_shape<'a>(
    records: impl IntoIterator<Item = (&'a String, &'a String)>,
    outlines: &Outlines,
) -> Arc<Shape> {
    let fields = records.into_iter().map(|(name, tool)| {
        let shape =
            outlines.get(tool).map_or(Shape::Any, |outline| Shape::from_schema(&outline.response));
        (name.clone(), shape)
    });
    Arc::new(Shape::optional_record(fields))
}

/// The workflow's conditions: `case`, and `verified` counts of each write.
pub(crate) fn workflow(case: Arc<Shape>, outlines: &Outlines) -> Roots {
    let verified = Shape::record(
        outlines.iter().filter(|(_, o)| !o.is_read).map(|(name, _)| (name.clone(), Shape::Int)),
    );
    identity().with("case", case).with("verified", verified).with("now", Shape::Timestamp)
}

/// `subject.id` of the bundle: the claims of the principal's token.
pub(crate) fn token() -> Roots {
    Roots::new().with("token", Shape::Any)
}
