//! The one table of host functions, and `minor`, which reads money exactly.

use cel::{
    ExecutionError,
    common::types::{CelDouble, CelInt, CelString},
};

use super::shape::Kind;

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `name(a, b)`
    Global,
    /// `a.name(b)`
    Member,
}

/// One row of the table.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) style: Style,
    /// Arguments beside the receiver.
    pub(super) arguments: usize,
    pub(super) result: Kind,
}

const fn row(name: &'static str, style: Style, arguments: usize, result: Kind) -> Function {
    Function { name, style, arguments, result }
}

/// Every function an expression may call; operators and `has`, `all`, `exists`, `exists_one`, `map`, `filter` aside.
pub(super) const TABLE: &[Function] = &[
    row("size", Style::Global, 1, Kind::Int),
    row("size", Style::Member, 0, Kind::Int),
    row("contains", Style::Member, 1, Kind::Bool),
    row("startsWith", Style::Member, 1, Kind::Bool),
    row("endsWith", Style::Member, 1, Kind::Bool),
    row("matches", Style::Member, 1, Kind::Bool),
    row("string", Style::Global, 1, Kind::Text),
    row("int", Style::Global, 1, Kind::Int),
    row("timestamp", Style::Global, 1, Kind::Timestamp),
    row("duration", Style::Global, 1, Kind::Duration),
    row("minor", Style::Global, 2, Kind::Int),
];

/// The names of the table, separated by commas.
pub(super) fn names() -> String {
    let mut names: Vec<&str> = TABLE.iter().map(|function| function.name).collect();
    names.dedup();
    names.join(", ")
}

/// The environment every expression is compiled and evaluated in: no optional syntax, and the table.
pub(super) fn environment() -> cel::Env {
    let mut env = cel::Env::stdlib().with_optional_support(false);
    // The names are our own, so a conflict can only come from a new version of the crate; then `minor` is missing
    // and every test of it fails.
    let _ = cel::add_overload!(env, fn minor_of_int: (CelInt, CelString) -> Result<CelInt>,
        name = "minor", id = "minor_int_string");
    let _ = cel::add_overload!(env, fn minor_of_double: (CelDouble, CelString) -> Result<CelInt>,
        name = "minor", id = "minor_double_string");
    let _ = cel::add_overload!(env, fn minor_of_text: (CelString, CelString) -> Result<CelInt>,
        name = "minor", id = "minor_string_string");
    env
}

/// Whether a text is a pattern that `matches` can use.
pub(super) fn is_pattern(pattern: &str) -> bool {
    let env = std::sync::Arc::new(environment());
    let Ok(program) = env.compile("''.matches(pattern)") else { return false };
    let mut context = cel::Context::with_env(env);
    context.add_variable_from_value("pattern", pattern.to_owned());
    program.execute(&context).is_ok()
}

fn minor_of_int(value: &CelInt, currency: &CelString<'_>) -> Result<CelInt, ExecutionError> {
    exact(&value.inner().to_string(), currency.inner())
}

fn minor_of_double(value: &CelDouble, currency: &CelString<'_>) -> Result<CelInt, ExecutionError> {
    // Shortest digits that read back as the same double: exactly what the strict JSON reader let in.
    exact(&value.inner().to_string(), currency.inner())
}

fn minor_of_text(
    value: &CelString<'_>,
    currency: &CelString<'_>,
) -> Result<CelInt, ExecutionError> {
    exact(value.inner(), currency.inner())
}

fn exact(value: &str, currency: &str) -> Result<CelInt, ExecutionError> {
    minor(value, currency).map(CelInt::from).ok_or_else(|| {
        ExecutionError::function_error("minor", "not an exact amount of this currency")
    })
}

/// The amount `value` (such as `19.9`) in minor units of an ISO 4217 currency; `None` when it is not exact.
pub(super) fn minor(value: &str, currency: &str) -> Option<i64> {
    let digits = fraction_digits(currency)?;
    let (negative, unsigned) = value.strip_prefix('-').map_or((false, value), |rest| (true, rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let (kept, rest) = fraction.split_at_checked(digits).unwrap_or((fraction, ""));
    if rest.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let amount: i64 = format!("{whole}{kept:0<digits$}").parse().ok()?;
    if negative { amount.checked_neg() } else { Some(amount) }
}

/// Digits after the point, by ISO 4217; `None` for an unknown code.
fn fraction_digits(currency: &str) -> Option<usize> {
    const NONE: &str = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
    const THREE: &str = "BHD IQD JOD KWD LYD OMR TND";
    const FOUR: &str = "CLF UYW";
    const TWO: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD \
        CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL \
        HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR \
        MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD \
        SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD YER ZAR ZMW \
        ZWG";
    let is_in = |list: &str| list.split_whitespace().any(|code| code == currency);
    match () {
        () if is_in(TWO) => Some(2),
        () if is_in(NONE) => Some(0),
        () if is_in(THREE) => Some(3),
        () if is_in(FOUR) => Some(4),
        () => None,
    }
}
