//! Colours, widths, handles: the small print of a line.

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint {
    /// Whether the reader is a terminal that wants colours.
    pub(crate) colours: bool,
}

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A word about something that went well.
    pub(crate) fn all_good(self, text: &str) -> String {
        self.good(text)
    }

    /// A word about something that did not.
    pub(crate) fn not_good(self, text: &str) -> String {
        self.bad(text)
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(super) fn warn(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }
}

/// Columns that a text takes; colours take none.
pub(super) fn columns(text: &str) -> usize {
    let mut count = 0;
    let mut in_colour = false;
    for c in text.chars() {
        match c {
            '\u{1b}' => in_colour = true,
            'm' if in_colour => in_colour = false,
            _ if in_colour => {}
            _ => count += 1,
        }
    }
    count
}

/// Words in lines of at most `width` columns; a single longer word is cut with `…`.
pub(super) fn wrap(text: &str, first: &str, next: &str, width: usize) -> String {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let word = cut(word, width.saturating_sub(columns(next)));
        if !is_empty && columns(&line) + 1 + columns(&word) > width {
            lines.push(std::mem::replace(&mut line, next.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    lines.push(line);
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn cut(word: &str, width: usize) -> String {
    if columns(word) <= width || word.contains('\u{1b}') {
        return word.to_owned();
    }
    let mut short: String = word.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Handles in a text without their middle: `mail_01JGW…7F3K` for `mail_` and 26 characters.
pub(super) fn short(text: &str) -> String {
    let mut out = String::new();
    let mut token = String::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() || c == '_' {
            token.push(c);
            continue;
        }
        out.push_str(&short_handle(&token));
        token.clear();
        out.push(c);
    }
    out.pop();
    out
}

fn short_handle(token: &str) -> String {
    match token.rsplit_once('_') {
        Some((kind, id)) if id.len() == 26 && id.chars().all(|c| c.is_ascii_alphanumeric()) => {
            let tail: String = id.chars().skip(22).collect();
            format!("{kind}_…{tail}")
        }
        Some(_) | None => token.to_owned(),
    }
}

/// The members of a JSON object as `name: value, …`, handles shortened.
pub(super) fn spaced(json: &str) -> String {
    let Ok(serde_json::Value::Object(members)) = serde_json::from_str(json) else {
        return short(json);
    };
    let member = |(name, value): (&String, &serde_json::Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}: {}", short(&value))
    };
    members.iter().map(member).collect::<Vec<_>>().join(", ")
}
