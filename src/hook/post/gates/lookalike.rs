//! Folding of names that people or programs take for one another: compatibility forms, case,
//! invisible characters, and letters of other scripts that look Latin.

use unicode_normalization::UnicodeNormalization as _;

/// The plain form of a name; two names with one plain form are confusable.
pub(super) fn fold(name: &str) -> String {
    if name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        return name.to_owned();
    }
    name.nfkc()
        .flat_map(char::to_lowercase)
        .filter(|c| !is_invisible(*c))
        .map(latin)
        .collect::<String>()
        .nfkc()
        .collect()
}

fn is_invisible(c: char) -> bool {
    matches!(
        u32::from(c),
        0xAD | 0x34F
            | 0x61C
            | 0x115F
            | 0x1160
            | 0x180B..=0x180F
            | 0x200B..=0x200F
            | 0x202A..=0x202E
            | 0x2060..=0x206F
            | 0x3164
            | 0xFE00..=0xFE0F
            | 0xFEFF
            | 0xE0000..=0xE0FFF
    )
}

/// The Latin letter that a Cyrillic or Greek one looks like.
fn latin(c: char) -> char {
    const PAIRS: &[(char, char)] = &[
        ('а', 'a'),
        ('α', 'a'),
        ('ѕ', 's'),
        ('с', 'c'),
        ('ϲ', 'c'),
        ('ԁ', 'd'),
        ('е', 'e'),
        ('ё', 'e'),
        ('ɡ', 'g'),
        ('һ', 'h'),
        ('і', 'i'),
        ('ї', 'i'),
        ('ι', 'i'),
        ('ı', 'i'),
        ('ј', 'j'),
        ('κ', 'k'),
        ('к', 'k'),
        ('ӏ', 'l'),
        ('м', 'm'),
        ('п', 'n'),
        ('η', 'n'),
        ('о', 'o'),
        ('ο', 'o'),
        ('ѳ', 'o'),
        ('р', 'p'),
        ('ρ', 'p'),
        ('ԛ', 'q'),
        ('т', 't'),
        ('τ', 't'),
        ('υ', 'u'),
        ('ν', 'v'),
        ('ѵ', 'v'),
        ('ω', 'w'),
        ('ԝ', 'w'),
        ('х', 'x'),
        ('χ', 'x'),
        ('у', 'y'),
        ('γ', 'y'),
        ('ζ', 'z'),
    ];
    PAIRS.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_fold_to_one() {
        for other in ["Loan_Id", "ｌoan_id", "loan\u{200b}_id", "lоan_id", "lo\u{ad}an_іd"] {
            assert_eq!(fold(other), "loan_id", "{other:?}");
        }
        assert_eq!(fold("cafe\u{301}"), fold("café"));
    }

    #[test]
    fn different_names_stay_different() {
        for (a, b) in
            [("loan_id", "loanid"), ("total", "totals"), ("сума", "сумма"), ("a-b", "a_b")]
        {
            assert_ne!(fold(a), fold(b));
        }
    }
}
