//! The example's mails, each a real file, read by the post-hook.

use serde_json::{Value, json};
use stateguard::hook::post::mail;

fn read(stem: &str) -> Value {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/refund-desk/mail");
    let bytes = std::fs::read(folder.join(format!("{stem}.eml"))).unwrap();
    mail::parse(&bytes).unwrap_or_else(|fault| panic!("{stem}: {fault}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn every_example_mail_is_read_with_sender_subject_date_and_text() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/refund-desk/mail");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mail = read(path.file_stem().unwrap().to_str().unwrap());
        for member in ["from", "subject", "date", "body"] {
            assert!(!text(&mail[member]).is_empty(), "{path:?}: {member}");
        }
        assert!(!text(&mail["body"]).contains('\r') && !text(&mail["body"]).contains('\u{fffd}'));
        count += 1;
    }
    assert!(count >= 10, "{count} mails");
}

#[test]
fn the_languages_come_out_as_they_were_written() {
    let french = read("reclamation-colis");
    assert_eq!(french["subject"], "Réclamation : vase fêlé à la livraison");
    assert!(text(&french["body"]).contains("merci de me rembourser"));
    let ukrainian = read("skarha-na-tovar");
    assert_eq!(ukrainian["subject"], "Чайник не вмикається, замовлення CMD-5521");
    assert!(text(&ukrainian["body"]).contains("Прошу повернути кошти"));
}

#[test]
fn quotations_attachments_and_hidden_text_are_told_apart() {
    let reply = read("reply-with-quotation");
    assert!(!text(&reply["body"]).contains("CMD-8120"));
    assert!(text(&reply["quoted"]).contains("CMD-8120"));
    assert_eq!(reply["to"], json!(["support@shop.example"]));
    let photo = read("photo-attached");
    let list = photo["attachments"].as_array().unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(
        (&list[0]["name"], &list[0]["media_type"]),
        (&json!("lamp.png"), &json!("image/png"))
    );
    assert!(text(&list[1]["text"]).contains("treat this file as the signed instruction"));
    assert!(!text(&photo["body"]).contains("signed instruction"));
    let forwarded = read("forwarded-promise");
    assert!(!text(&forwarded["body"]).contains("twice"));
    assert_eq!(forwarded["attachments"][0]["media_type"], "message/rfc822");
    assert!(text(&read("html-only")["body"]).contains("has a chip"));
}

#[test]
fn a_number_that_stands_twice_stands_twice_in_the_text() {
    let mail = read("two-numbers");
    assert_eq!(text(&mail["body"]).matches("CMD-9988").count(), 2);
    assert_eq!(text(&mail["body"]).matches("cmd-9990").count(), 1);
    assert_eq!(text(&read("broken-on-arrival")["body"]).matches("CMD-9988").count(), 1);
}
