//! The closed vocabularies that contracts, policies, decisions and entries share.

/// Declares a closed vocabulary with one spelling for code, files, API and log.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
                 serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every member, in declared order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The one spelling.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads the one spelling.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|member| member.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use vocabulary;

vocabulary! {
    /// What can go wrong with a tool; a row of the decision matrix. Later members are stricter rows
    /// for writes; `egress` stands beside them.
    Risk {
        /// Reads the subject's own data.
        Read = "read",
        /// Reads data that needs more than ownership.
        ReadSensitive = "read_sensitive",
        /// A write that can be undone.
        Reversible = "reversible",
        /// A write to contact data, credentials, payment means.
        Sensitive = "sensitive",
        /// A write that moves money.
        Financial = "financial",
        /// A write that cannot be undone.
        Irreversible = "irreversible",
        /// A write that gives rights.
        Grant = "grant",
        /// Content leaves towards recipients.
        Egress = "egress",
    }
}

impl Risk {
    /// Whether a tool of this risk changes nothing.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::ReadSensitive)
    }
}

vocabulary! {
    /// What a repeated or interrupted call can do (CONVENTIONS C-1).
    EffectClass {
        /// Changes nothing.
        Read = "read",
        /// Repeating it changes nothing more.
        Idempotent = "idempotent",
        /// The tool honours our key.
        Keyed = "keyed",
        /// A look-up tells whether it happened.
        Reconcilable = "reconcilable",
        /// None of these.
        Once = "once",
    }
}

vocabulary! {
    /// What an argument is for (DESIGN 4).
    RoleKind {
        /// The record a write is about.
        Target = "target",
        /// Who receives content.
        Recipient = "recipient",
        /// How much.
        Amount = "amount",
        /// Which of several.
        Selector = "selector",
        /// How the tool behaves.
        Control = "control",
        /// A secret; never from an intent.
        Credential = "credential",
        /// Handles shown to whoever decides.
        Evidence = "evidence",
        /// Text and other payload without authority.
        Content = "content",
    }
}

impl RoleKind {
    /// Whether an argument of this role carries authority.
    #[must_use]
    pub const fn has_authority(self) -> bool {
        !matches!(self, Self::Content | Self::Evidence)
    }

    /// Whether an argument of this role must be named (DESIGN 4 and 16).
    #[must_use]
    pub const fn must_be_named(self) -> bool {
        matches!(self, Self::Target | Self::Recipient | Self::Amount | Self::Selector)
    }
}

vocabulary! {
    /// An answer that a decision still needs; confirmation is asked first.
    Need {
        /// The principal: did you mean this?
        Confirmation = "confirmation",
        /// A distinct, entitled person: may this happen?
        Approval = "approval",
    }
}

vocabulary! {
    /// How sure we are of the principal, lowest first.
    Assurance {
        /// Nobody is named.
        None = "none",
        /// Somebody is named and nothing proves it.
        Claimed = "claimed",
        /// Aligned DKIM of a known address.
        Mailbox = "mailbox",
        /// Signed in.
        Authenticated = "authenticated",
    }
}

vocabulary! {
    /// Who set a scope.
    ScopeSource {
        /// The workflow's default.
        Workflow = "workflow",
        /// The principal, signed by his channel.
        Principal = "principal",
        /// A signed job of a service principal.
        Job = "job",
    }
}

vocabulary! {
    /// What kind of identity a principal is.
    PrincipalKind {
        /// A human.
        Person = "person",
        /// A program with a job.
        Service = "service",
    }
}

vocabulary! {
    /// How a part of a statement came into being; only `typed` is the principal's word.
    PartKind {
        /// Typed by the principal.
        Typed = "typed",
        /// Pasted.
        Pasted = "pasted",
        /// Quoted.
        Quoted = "quoted",
        /// An attachment.
        Attached = "attached",
    }
}

vocabulary! {
    /// The verdict of a decision, or the next answer it waits for.
    Verdict {
        /// Nothing is missing.
        Allow = "allow",
        /// The principal is asked next.
        ConfirmationRequired = "confirmation_required",
        /// An approver is asked next.
        ApprovalRequired = "approval_required",
        /// Refused.
        Deny = "deny",
    }
}

vocabulary! {
    /// A check of the road, in the order of DESIGN 6 and 8.
    Check {
        /// Caller, session, tool, state.
        Admission = "admission",
        /// Arguments read, completed, canonical.
        Binding = "binding",
        /// Steps and repeated calls.
        LoopGuard = "loop_guard",
        /// Labels, naming, acts, endorsements.
        Provenance = "provenance",
        /// Facts and relations.
        Facts = "facts",
        /// Keys, amount, duplicates, budgets.
        Effect = "effect",
        /// Cedar.
        Policy = "policy",
        /// The union of the others.
        Decision = "decision",
        /// The tool was asked.
        Gateway = "gateway",
        /// The answer passed or failed the gates.
        Response = "response",
        /// The effect was read back.
        Verification = "verification",
        /// The closing condition.
        Closure = "closure",
    }
}
