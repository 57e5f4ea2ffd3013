//! The head of an HTTP/1 answer, read from its raw bytes, so that what a client library merges or
//! hides (two lengths, a length beside chunks) is seen.

/// Status and headers of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Lower-case names, values as Latin-1 text.
    pub(super) headers: Vec<(String, String)>,
}

/// Reads a head that ends with its empty line; `None` when it is not HTTP/1.
pub(super) fn read(bytes: &[u8]) -> Option<Head> {
    let text: String = bytes.iter().copied().map(char::from).collect();
    let mut lines = text.strip_suffix("\r\n\r\n")?.split("\r\n");
    let mut first = lines.next()?.splitn(3, ' ');
    if !matches!(first.next()?, "HTTP/1.1" | "HTTP/1.0") {
        return None;
    }
    let digits = first.next()?;
    if digits.len() != 3 {
        return None;
    }
    let status = digits.parse().ok()?;
    let headers = lines.map(header).collect::<Option<_>>()?;
    Some(Head { status, headers })
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    if name.is_empty() || name.contains([' ', '\t']) {
        return None;
    }
    Some((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()))
}

impl Head {
    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_name = self.headers.iter().filter(move |(n, _)| n == name);
        of_name.flat_map(|(_, value)| value.split(',')).map(str::trim)
    }

    /// Whether the length of the body is stated in two ways, or unreadably.
    pub(super) fn has_length_conflict(&self) -> bool {
        let lengths: Vec<&str> = self.values("content-length").collect();
        let readable = lengths.iter().all(|l| {
            !l.is_empty() && l.bytes().all(|b| b.is_ascii_digit()) && l.parse::<u64>().is_ok()
        });
        let equal = lengths.windows(2).all(|pair| pair.first() == pair.last());
        let chunked = self.values("transfer-encoding").next().is_some();
        !readable || !equal || (chunked && !lengths.is_empty())
    }

    /// The announced length of the body.
    pub(super) fn length(&self) -> Option<u64> {
        self.values("content-length").next()?.parse().ok()
    }

    /// Whether the server says that it will close the connection.
    pub(super) fn closes(&self) -> bool {
        self.values("connection").any(|v| v.eq_ignore_ascii_case("close"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &str) -> Head {
        read(format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_head_is_read_with_lower_case_names() {
        let head = head("Content-Type: text/plain\r\nX-A:  b \r\n");
        assert_eq!(head.status, 200);
        assert_eq!(head.headers[1], ("x-a".to_owned(), "b".to_owned()));
        for wrong in [
            "HTTP/2 200 OK\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "<html>\r\n\r\n",
            "HTTP/1.1 200\r\nA : b\r\n\r\n",
        ] {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn two_lengths_conflict_and_one_repeated_does_not() {
        assert!(head("Content-Length: 5\r\nContent-Length: 6\r\n").has_length_conflict());
        assert!(head("Content-Length: 5, 6\r\n").has_length_conflict());
        assert!(head("Content-Length: +5\r\n").has_length_conflict());
        assert!(head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n").has_length_conflict());
        assert!(!head("Content-Length: 5\r\nContent-Length: 5\r\n").has_length_conflict());
        assert!(!head("Transfer-Encoding: chunked\r\n").has_length_conflict());
        assert!(!head("").has_length_conflict());
    }
}
