//! Acts: did the principal's own words ask for this kind of doing?

/// Whether a sentence of these words asks for one of the phrases. A sentence that asks a question
/// or holds a negation asks for nothing.
#[must_use]
pub fn asked_in_words<'a>(
    words: &[String],
    phrases: impl IntoIterator<Item = &'a String> + Clone,
) -> bool {
    words.iter().flat_map(|text| sentences(text)).any(|sentence| {
        !sentence.ends_with('?')
            && !is_negated(&sentence)
            && phrases.clone().into_iter().any(|phrase| holds(&sentence, &phrase.to_lowercase()))
    })
}

fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut sentence = String::new();
    for c in text.chars() {
        sentence.push(c);
        if matches!(c, '.' | '!' | '?' | ';' | '\n' | '…' | '？' | '！' | '。') {
            found.push(std::mem::take(&mut sentence));
        }
    }
    found.push(sentence);
    found
        .into_iter()
        .map(|text| text.trim().replace('？', "?").to_lowercase())
        .filter(|text| !text.is_empty())
        .collect()
}

/// Words that turn a sentence round, in the languages of the demo and its neighbours.
const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "never",
    "none",
    "nothing",
    "without",
    "don",
    "doesn",
    "didn",
    "won",
    "can",
    "cannot",
    "shouldn",
    "wouldn",
    "stop",
    "cancel",
    "unless",
    "if", // en; `can't` splits at `'`
    "ne",
    "pas",
    "jamais",
    "sans",
    "aucun",
    "aucune",
    "rien",
    "si", // fr
    "не",
    "ні",
    "ніколи",
    "без",
    "якщо", // uk
    "nicht",
    "kein",
    "keine",
    "keinen",
    "nie",
    "ohne",
    "wenn", // de
];

fn is_negated(sentence: &str) -> bool {
    tokens(sentence).any(|word| NEGATIONS.contains(&word))
}

fn tokens(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn holds(sentence: &str, phrase: &str) -> bool {
    let wanted: Vec<&str> = tokens(phrase).collect();
    let words: Vec<&str> = tokens(sentence).collect();
    !wanted.is_empty() && words.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(text: &str) -> bool {
        let phrases = ["renew".to_owned(), "extend the loan".to_owned()];
        asked_in_words(&[text.to_owned()], phrases.iter())
    }

    #[test]
    fn a_plain_request_asks() {
        assert!(asks("Please renew B-17."));
        assert!(asks("Hello! Extend the loan, thanks"));
    }

    #[test]
    fn questions_negations_and_other_words_ask_for_nothing() {
        assert!(!asks("Can you renew B-17?"));
        assert!(!asks("Do not renew B-17."));
        assert!(!asks("I don't want you to renew it"));
        assert!(!asks("never extend the loan"));
        assert!(!asks("the renewal came"));
        assert!(!asks("extend my loan"));
        assert!(!asks("renew it if the fee is waived"));
    }

    #[test]
    fn one_sentence_does_not_silence_another() {
        assert!(asks("I did not get it. Please renew it."));
    }
}
