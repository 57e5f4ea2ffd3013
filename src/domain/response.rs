//! A tool's answer as it came off the wire, before anybody judged it.

/// How the bytes of a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// As announced.
    Whole,
    /// The connection ended before the announced end.
    Truncated,
    /// Nothing came for too long in the middle of the body.
    Stalled,
    /// More bytes came than were announced.
    Overrun,
    /// The head states the body's length in two ways.
    LengthConflict,
    /// Reading stopped at the byte limit, or the announced length lies above it.
    TooLarge,
}

/// An answer with its head complete; the body may be partial, as `framing` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawResponse {
    /// The status.
    pub status: u16,
    /// Headers in the order they came: lower-case names, values as Latin-1 text.
    pub headers: Vec<(String, String)>,
    /// How the body ended.
    pub framing: Framing,
    /// What was read of the body; never more than the call's byte limit.
    pub body: Vec<u8>,
}

impl RawResponse {
    /// The values of a header, by lower-case name, in the order they came.
    #[must_use]
    pub fn header(&self, name: &str) -> Vec<&str> {
        let of_name = self.headers.iter().filter(|(n, _)| n == name);
        of_name.map(|(_, value)| value.as_str()).collect()
    }
}
