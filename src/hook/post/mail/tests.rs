use super::*;

fn mail(headers: &str, body: &str) -> Value {
    parse(format!("{headers}\r\n\r\n{body}").as_bytes()).unwrap()
}

const PLAIN: &str = "From: Ada <ada@example.org>\r\nTo: desk@example.net, B <b@example.net>\r\n\
    Date: Mon, 5 Jan 2026 09:00:00 +0100\r\nSubject: Late book";

#[test]
fn a_plain_mail_has_every_member() {
    assert_eq!(
        mail(PLAIN, "Where is it?\r\nAda\r\n"),
        json!({
            "from": "ada@example.org", "to": ["desk@example.net", "b@example.net"],
            "subject": "Late book", "date": "2026-01-05T09:00:00+01:00",
            "body": "Where is it?\nAda", "quoted": "", "attachments": [],
        })
    );
}

#[test]
fn encoded_words_character_sets_and_transfer_encodings_are_decoded() {
    let headers = "From: =?ISO-8859-1?Q?Cl=E9?= <c@example.fr>\r\nSubject: =?utf-8?B?0KfQsNC5?=\r\n =?utf-8?B?0L3QuNC6?=\r\n\
        Content-Type: text/plain; charset=windows-1251\r\nContent-Transfer-Encoding: base64";
    let read = mail(headers, "xO7h8OjpIOTl7fwhCg==");
    assert_eq!((&read["subject"], &read["body"]), (&json!("Чайник"), &json!("Добрий день!")));
    let quoted_printable = "From: a@b.c\r\nContent-Type: text/plain; charset=utf-8\r\n\
        Content-Transfer-Encoding: quoted-printable";
    assert_eq!(mail(quoted_printable, "caf=C3=A9 =\r\nau lait")["body"], "café au lait");
}

#[test]
fn the_plain_alternative_is_taken_and_html_alone_is_reduced_to_text() {
    let both = "From: a@b.c\r\nContent-Type: multipart/alternative; boundary=x";
    let parts = "--x\r\nContent-Type: text/plain\r\n\r\nplain\r\n--x\r\nContent-Type: text/html\r\n\r\n<b>rich</b>\r\n--x--\r\n";
    assert_eq!(mail(both, parts)["body"], "plain");
    let html = mail("From: a@b.c\r\nContent-Type: text/html", "<p>one</p><p>two &amp; three</p>");
    assert!(html["body"].as_str().unwrap().contains("two & three"));
    assert!(!html["body"].as_str().unwrap().contains('<'));
}

#[test]
fn quotations_are_split_off_with_the_line_that_introduces_them() {
    for (text, body, quoted) in [
        (
            "new\n\nOn 5 Jan 2026, A <a@b.c> wrote:\n> old\n>> older\n\nbye",
            "new\n\n\nbye",
            "On 5 Jan 2026, A <a@b.c> wrote:\n> old\n>> older",
        ),
        (
            "oui\n\nLe 5 janv. 2026 à 10:15,\nA <a@b.c> a écrit :\n\n> non",
            "oui",
            "Le 5 janv. 2026 à 10:15,\nA <a@b.c> a écrit :\n> non",
        ),
        (
            "see\n-----Original Message-----\nFrom: x\nall of it",
            "see",
            "-----Original Message-----\nFrom: x\nall of it",
        ),
        (
            "так\n\nВід: x@y.z\nДата: 5.1.2026\n\nстаре",
            "так",
            "Від: x@y.z\nДата: 5.1.2026\n\nстаре",
        ),
        ("I have two things:\n> b", "I have two things:", "> b"),
        ("From: is a word here\nand no header", "From: is a word here\nand no header", ""),
    ] {
        let read = mail("From: a@b.c\r\nContent-Type: text/plain; charset=utf-8", text);
        assert_eq!((&read["body"], &read["quoted"]), (&json!(body), &json!(quoted)), "{text}");
    }
}

#[test]
fn attachments_are_listed_and_textual_ones_read() {
    let headers = "From: a@b.c\r\nContent-Type: multipart/mixed; boundary=x";
    let parts = "--x\r\nContent-Type: text/plain\r\n\r\nsee\r\n\
        --x\r\nContent-Type: text/plain; name=\"s.txt\"\r\nContent-Disposition: attachment; filename=\"s.txt\"\r\n\r\nslip\r\n\
        --x\r\nContent-Type: image/PNG\r\nContent-Disposition: attachment; filename=p.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n\
        --x\r\nContent-Type: message/rfc822\r\n\r\nFrom: z@z.z\r\nSubject: in\r\n\r\ninner text\r\n--x--\r\n";
    let read = mail(headers, parts);
    assert_eq!(read["body"], "see");
    let list = read["attachments"].as_array().unwrap();
    assert_eq!((&list[0]["name"], &list[0]["text"]), (&json!("s.txt"), &json!("slip")));
    assert_eq!((&list[1]["media_type"], &list[1]["bytes"]), (&json!("image/png"), &json!(8)));
    assert_eq!(list[1]["text"], "");
    assert_eq!(list[2]["media_type"], "message/rfc822");
    assert!(list[2]["text"].as_str().unwrap().contains("inner text"));
}

#[test]
fn what_is_no_unambiguous_mail_is_refused() {
    let refused = |bytes: &[u8]| parse(bytes).unwrap_err();
    assert_eq!(refused(b""), MailFault::NoHeader);
    assert_eq!(refused(b"{\"from\":\"a@b.c\"}"), MailFault::Sender);
    assert_eq!(refused(b"Subject: x\r\n\r\nno sender"), MailFault::Sender);
    assert_eq!(refused(b"From: a@b.c, d@e.f\r\n\r\ntwo"), MailFault::Sender);
    assert_eq!(refused(b"From: a@b.c\r\nFrom: d@e.f\r\n\r\ntwo"), MailFault::Sender);
}

#[test]
fn characters_that_cannot_be_stored_are_replaced() {
    assert_eq!(mail("From: a@b.c", "a\u{0}b\u{fdd0}c")["body"], "a\u{fffd}b\u{fffd}c");
}
