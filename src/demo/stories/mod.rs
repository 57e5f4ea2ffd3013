//! Owns: the stories: who does what, in which order, and what must be true at the end.
//! Must not know: how the guard decides; a story knows parties, and the shop's database.
//! Start reading at: `Story`, then `honest.rs`.
//!
//! Stories 4, 7 and 8 come with their own parts of the guard. A story ends with a look into the shop's database, past
//! the daemon; an expectation that does not hold makes the command fail.

mod again;
mod foreign;
mod honest;
mod hostile;
mod own;
mod reach;
mod scene;
mod state;

pub(crate) use self::scene::{Explained, Part, Scene, Told};
use super::error::DemoError;

/// Everything that can be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Story {
    /// 1, first half: signed in, signed form.
    HonestPortal,
    /// 1, second half: the same mail alone.
    HonestMail,
    /// 2: the mail that orders a refund without checks.
    HostileMail,
    /// 3: somebody else's order.
    ForeignOrder,
    /// 5: again, after a crash, and from a second session.
    Again,
    /// 6: the refund tool while the session is still reading.
    TooEarly,
    /// 9: the agent reaches for what is not its own.
    Reach,
    /// The user's own mail, as it came.
    OwnByMail(Own),
    /// The user's own mail while its sender is signed in.
    OwnSignedIn(Own),
}

/// A mail of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Own {
    /// Its name in the mailbox.
    pub(crate) mail: String,
    /// The address it claims to be from.
    pub(crate) from: String,
}

/// The stories of the issue, in the order in which they are told.
const ALL: [Story; 7] = [
    Story::HonestPortal,
    Story::HonestMail,
    Story::HostileMail,
    Story::ForeignOrder,
    Story::Again,
    Story::TooEarly,
    Story::Reach,
];

impl Story {
    /// All of them, or the halves of one number; none for a number that is not told.
    pub(crate) fn chosen(number: Option<u8>) -> Vec<Self> {
        ALL.into_iter().filter(|story| number.is_none_or(|n| story.number() == n)).collect()
    }

    fn number(&self) -> u8 {
        match self {
            Self::HonestPortal | Self::HonestMail => 1,
            Self::HostileMail => 2,
            Self::ForeignOrder => 3,
            Self::Again => 5,
            Self::TooEarly => 6,
            Self::Reach => 9,
            Self::OwnByMail(_) | Self::OwnSignedIn(_) => 0,
        }
    }

    /// Short and unique; also the name of its folder.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::HonestPortal => "1a",
            Self::HonestMail => "1b",
            Self::HostileMail => "2",
            Self::ForeignOrder => "3",
            Self::Again => "5",
            Self::TooEarly => "6",
            Self::Reach => "9",
            Self::OwnByMail(_) => "own-mail",
            Self::OwnSignedIn(_) => "own-mail-signed-in",
        }
    }

    /// What it is called.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::HonestPortal => "An honest complaint, signed on the portal",
            Self::HonestMail => "The same complaint, by mail alone",
            Self::HostileMail => "A mail that orders 500 EUR \"without checks\"",
            Self::ForeignOrder => "An order of another customer",
            Self::Again => "The same refund, again and again",
            Self::TooEarly => "A refund before anything was looked up",
            Self::Reach => "The agent reaches for what is not its own",
            Self::OwnByMail(_) => "Your mail, as it came",
            Self::OwnSignedIn(_) => "Your mail, its sender signed in and asking for nothing",
        }
    }

    /// Plays it in a world that was just set up.
    pub(crate) async fn play(&self, scene: &mut Scene) -> Result<(), DemoError> {
        match self {
            Self::HonestPortal => honest::by_portal(scene).await,
            Self::HonestMail => honest::by_mail(scene).await,
            Self::HostileMail => hostile::play(scene).await,
            Self::ForeignOrder => foreign::play(scene).await,
            Self::Again => again::play(scene).await,
            Self::TooEarly => state::play(scene).await,
            Self::Reach => reach::play(scene).await,
            Self::OwnByMail(own) => own::by_mail(scene, own).await,
            Self::OwnSignedIn(own) => own::signed_in(scene, own).await,
        }
    }
}

/// Nora Whitfield, customer of the shop, who writes most of the mails.
pub(crate) const NORA: &str = "cus_1001";
/// Nora's address.
pub(crate) const NORA_MAIL: &str = "nora.whitfield@example.org";
/// Nora's lamp: delivered, 49.90 EUR, refundable.
pub(crate) const LAMP: &str = "CMD-9988";
/// What the lamp cost, in cents.
pub(crate) const LAMP_CENTS: i64 = 4_990;
/// The act that a form asks for.
pub(crate) const ACT: &str = "request_refund";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_chooses_its_halves() {
        let labels = |n| Story::chosen(n).iter().map(Story::label).collect::<Vec<_>>();
        assert_eq!(labels(Some(1)), ["1a", "1b"]);
        assert_eq!(labels(Some(9)), ["9"]);
        assert_eq!(labels(None).len(), 7);
        assert!(labels(Some(4)).is_empty());
    }
}
