use super::*;

const CLASSES: [EffectClass; 5] = [
    EffectClass::Read,
    EffectClass::Idempotent,
    EffectClass::Keyed,
    EffectClass::Reconcilable,
    EffectClass::Once,
];

/// R retryable, N non-retryable, A ambiguous; a small letter: it is proven that nothing was done.
fn letters(signal: Signal, has_lookup: bool) -> String {
    CLASSES
        .map(|class| {
            let row = classify(signal, class, has_lookup);
            let letter = match row.kind {
                Kind::Retryable => 'R',
                Kind::NonRetryable => 'N',
                Kind::Ambiguous => 'A',
            };
            if row.proven_not_executed { letter.to_ascii_lowercase() } else { letter }
        })
        .iter()
        .collect()
}

fn transport(phase: Phase, fault: TransportFault) -> Signal {
    Signal::Transport(phase, fault)
}

fn mapped(retryable: bool) -> Signal {
    Signal::Mapped { code: ReasonCode::ToolRefused, retryable }
}

/// CONVENTIONS C-2: five classes by twenty and more kinds of failure.
#[test]
fn every_failure_of_every_class_has_its_row() {
    use Phase::{NotSent, PartlyAnswered, Sent};
    use TransportFault as F;
    // read, idempotent, keyed, reconcilable, once: without a look-up, with one
    let table = [
        (transport(NotSent, F::NameUnresolved), "rrrrr", "rrrrr"),
        (transport(NotSent, F::Refused), "rrrrr", "rrrrr"),
        (transport(NotSent, F::Unreachable), "rrrrr", "rrrrr"),
        (transport(NotSent, F::TlsFailed), "rrrrr", "rrrrr"),
        (transport(NotSent, F::ConnectTimeout), "rrrrr", "rrrrr"),
        (transport(NotSent, F::Closed), "rrrrr", "rrrrr"),
        (transport(NotSent, F::WindowPassed), "nnnnn", "nnnnn"),
        (transport(NotSent, F::Unsendable), "nnnnn", "nnnnn"),
        (transport(Sent, F::Timeout), "rRRAA", "rAAAA"),
        (transport(Sent, F::Closed), "rRRAA", "rAAAA"),
        (transport(PartlyAnswered, F::Timeout), "rRRAA", "rAAAA"),
        (transport(PartlyAnswered, F::MalformedHead), "rRRAA", "rAAAA"),
        (Signal::Status(408), "rRRAA", "rAAAA"),
        (Signal::Status(429), "rRRAA", "rAAAA"),
        (Signal::Status(500), "rRRAA", "rAAAA"),
        (Signal::Status(502), "rRRAA", "rAAAA"),
        (Signal::Status(503), "rRRAA", "rAAAA"),
        (Signal::Status(504), "rRRAA", "rAAAA"),
        (Signal::Status(400), "nNNAA", "nNNAA"),
        (Signal::Status(401), "nNNAA", "nNNAA"),
        (Signal::Status(403), "nNNAA", "nNNAA"),
        (Signal::Status(404), "nNNAA", "nNNAA"),
        (Signal::Status(409), "nNNAA", "nNNAA"),
        (Signal::Status(422), "nNNAA", "nNNAA"),
        (Signal::Status(501), "nNNAA", "nNNAA"),
        (mapped(false), "nnnnn", "nnnnn"),
        (mapped(true), "rrrrr", "rrrrr"),
        (Signal::Corrupt(ReasonCode::BodyTruncated), "rRRAA", "rAAAA"),
        (Signal::Corrupt(ReasonCode::JsonIncomplete), "rRRAA", "rAAAA"),
        (Signal::Corrupt(ReasonCode::JsonDuplicateKey), "nNNAA", "nNNAA"),
        (Signal::Corrupt(ReasonCode::InvariantViolated), "nNNAA", "nNNAA"),
    ];
    for (signal, without, with) in table {
        assert_eq!(letters(signal, false), without, "{signal:?}");
        assert_eq!(letters(signal, true), with, "{signal:?} with a look-up");
    }
}

#[test]
fn a_write_that_may_have_left_is_never_proven_undone_without_the_contracts_word() {
    for status in 400..=599 {
        for class in &CLASSES[1..] {
            assert!(
                !classify(Signal::Status(status), *class, true).proven_not_executed,
                "{status}"
            );
        }
    }
}

#[test]
fn codes_name_what_happened_and_throttling_is_seen() {
    let code = |signal| classify(signal, EffectClass::Read, false).code;
    assert_eq!(code(Signal::Status(503)), ReasonCode::Tool5xx);
    assert_eq!(code(Signal::Status(429)), ReasonCode::ToolOverloaded);
    assert_eq!(code(Signal::Status(404)), ReasonCode::ToolNonRetryable);
    assert_eq!(code(transport(Phase::Sent, TransportFault::Timeout)), ReasonCode::ToolTimeout);
    assert_eq!(code(mapped(false)), ReasonCode::ToolRefused);
    assert!(classify(Signal::Status(429), EffectClass::Read, false).throttled);
    assert!(!classify(Signal::Status(500), EffectClass::Read, false).throttled);
}
