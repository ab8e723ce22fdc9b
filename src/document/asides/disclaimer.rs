//! The notice of confidentiality that a company's server puts below every mail, without a dash or a rule before it.
//!
//! It is longer than many a mail above it, and would make copies of all mails of the company. It is told by how it begins and by at
//! least three of the things that such notices say: whoever writes about secrets says one of them, or two.
//!
//! # Invariants
//! - Notices in seven languages are told, and letters that speak of secrets are not. (`notices_are_told_and_letters_are_not`)

use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Lines that a notice takes at most, with the lines on the company below it, wrapped as plain mails are.
pub(super) const LINES_MAX: usize = 40;
/// And bytes. The longest that were seen had 2,000.
const BYTES_MAX: usize = 6000;
/// What may stand below the last words of it: where the company has its seat, and who directs it.
const BELOW_BYTES_MAX: usize = 1200;
/// Things that a notice says at least.
const SAID_MIN: usize = 3;

/// Whether something in `text` makes it worth while to look for a notice: most mails have no such word.
pub(super) fn is_possible(text: &str) -> bool {
    WORDS.iter().any(|word| word.find(text.as_bytes()).is_some())
}

/// Whether `text` is a notice from its beginning to its end.
pub(super) fn is_one(text: &str) -> bool {
    if text.len() > BYTES_MAX {
        return false;
    }
    let text = text.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    if !BEGINNINGS.iter().any(|begin| super::begins_with(text, begin)) {
        return false;
    }
    let text = text.to_ascii_lowercase();
    let said = SAID.iter().filter_map(|forms| forms.iter().filter_map(|form| text.rfind(form)).max());
    let (n_said, last) = said.fold((0, 0), |(n, last), at| (n + 1, last.max(at)));
    n_said >= SAID_MIN && text.len() - last <= BELOW_BYTES_MAX
}

/// To prepare a search costs as much as to search a tail.
static WORDS: LazyLock<[Finder<'static>; 6]> = LazyLock::new(|| {
    ["onfiden", "ONFIDEN", "ntended recipient", "ertraulich", "ertrouwelijk", "iservat"].map(Finder::new)
});

/// How notices begin, in any case of letters.
const BEGINNINGS: [&str; 53] = [
    "this e-mail",
    "this email",
    "this mail",
    "this message",
    "this communication",
    "this transmission",
    "this electronic",
    "this document",
    "the information in",
    "the information contained",
    "the information transmitted",
    "the content",
    "confidential",
    "privileged",
    "disclaimer",
    "e-mail disclaimer",
    "email disclaimer",
    "notice",
    "important notice",
    "legal notice",
    "privacy",
    "if you are not the",
    "if you have received this",
    "diese e-mail",
    "diese email",
    "diese mail",
    "diese nachricht",
    "dieses e-mail",
    "der inhalt dieser",
    "die in dieser",
    "die information",
    "hinweis",
    "wichtiger hinweis",
    "vertraulich",
    "ce message",
    "ce courriel",
    "cet e-mail",
    "cet email",
    "les informations",
    "le contenu de ce",
    "avis de",
    "este mensaje",
    "este correo",
    "la informaci",
    "aviso",
    "questo messaggio",
    "questa e-mail",
    "il presente messaggio",
    "le informazioni",
    "esta mensagem",
    "este e-mail",
    "dit bericht",
    "deze e-mail",
];

/// What notices say, each in its forms: lower case, ASCII letters at least.
const SAID: [&[&str]; 9] = [
    &["confidential", "vertraulich", "confidentiel", "confidencial", "confidenzial", "riservat", "vertrouwelijk"],
    &["privileged", "rechtlich geschützt", "secret professionnel", "privilegiad", "segreto"],
    &["intended recipient", "intended only", "intended solely", "solely for", "addressee", "to whom it is addressed"],
    &["adressat", "empfänger", "destinataire", "destinatari", "destinatário", "geadresseerde", "ontvanger"],
    &["in error", "irrtümlich", "par erreur", "por error", "por erro", "per errore", "vergissing", "abusievelijk"],
    &["disclos", "disseminat", "distribution", "weitergabe", "diffusion", "divulga", "diffusione", "verspreid"],
    &[
        "prohibited",
        "unauthori",
        "gestattet",
        "unbefugt",
        "interdit",
        "prohibid",
        "proibi",
        "vietat",
        "niet toegestaan",
    ],
    &["notify", "notified", "informieren", "avertir", "prévenir", "notifi", "avvis", "informar", "verzocht"],
    &[
        "delete",
        "destroy",
        "vernichten",
        "löschen",
        "détrui",
        "supprimer",
        "elimin",
        "destru",
        "cancellar",
        "vernietig",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_told_and_letters_are_not() {
        for (text, expected) in [
            (
                "This e-mail and any attachments are confidential and may be privileged. If you are not the intended recipient, please delete it.",
                true,
            ),
            (
                "*CONFIDENTIALITY NOTICE*: The information is intended only for the use of the addressee. Any dissemination is prohibited.",
                true,
            ),
            (
                "Diese E-Mail enthält vertrauliche Informationen. Wenn Sie nicht der richtige Adressat sind, vernichten Sie diese Mail.",
                true,
            ),
            (
                "Ce message est confidentiel. Si vous l'avez reçu par erreur, merci d'avertir l'expéditeur et de le détruire.",
                true,
            ),
            (
                "Este mensaje es confidencial y para uso exclusivo de su destinatario. Si lo ha recibido por error, elimínelo.",
                true,
            ),
            (
                "Questo messaggio contiene informazioni riservate al destinatario. Se ricevuto per errore, si prega di eliminarlo.",
                true,
            ),
            ("Esta mensagem é confidencial. Se a recebeu por erro, por favor informar o remetente e destruí-la.", true),
            (
                "Dit bericht is vertrouwelijk en alleen bestemd voor de geadresseerde. Verspreiding is niet toegestaan.",
                true,
            ),
            // What people write.
            ("This message is confidential: do not tell Mother about the cake.", false),
            ("The information in the annual report was confidential until they disclosed it on Monday.", false),
            ("Confidential business proposal: I am the widow of a minister, and have sixty million dollars.", false),
            ("We have received this parcel in error, it is confidential, please notify the addressee.", false),
            ("", false),
        ] {
            assert_eq!(is_one(text), expected, "{text}");
            assert!(!expected || is_possible(text), "{text}");
        }
        let notice = "This e-mail is confidential and privileged. If you are not the intended recipient, delete it.";
        assert!(is_one(&format!("{notice}\n{}", "Seat of the company: 12 High Street. ".repeat(20))));
        assert!(
            !is_one(&format!("{notice}\n{}", "And now to something else entirely. ".repeat(60))),
            "there is more below"
        );
    }
}
