//! The notice of confidentiality that a company's server puts below every mail, without a dash or a rule before it.
//!
//! It is longer than many a mail above it, and would make copies of all mails of the company. It is told by how it begins and by at
//! least three of the things that such notices say: that something is confidential, or for its recipient only, one of them; and
//! whom it was meant for, or that it may have gone astray, another. Whoever writes about secrets says one of them, or two, and
//! programs that send codes and orders ask to delete, to report and to pass nothing on.
//!
//! # Invariants
//! - Notices in eleven languages are told, and letters that speak of secrets are not. (`notices_are_told_and_letters_are_not`)

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
    let text = text.to_lowercase();
    let said = SAID.map(|(thing, forms)| (thing, forms.iter().filter_map(|form| last_of(&text, form)).max()));
    let says = |wanted: Thing| said.iter().any(|&(thing, at)| thing == wanted && at.is_some());
    let is_addressed = says(Thing::Recipient) || says(Thing::Astray);
    let n_said = said.iter().filter(|(_, at)| at.is_some()).count();
    let last = said.iter().filter_map(|&(_, at)| at).max().unwrap_or(0);
    (says(Thing::Secret) || text.contains("intended recipient"))
        && is_addressed
        && n_said >= SAID_MIN
        && text.len() - last <= BELOW_BYTES_MAX
}

/// Where `form` stands last in `text`, and is not the name of what a shop says below its mails.
fn last_of(text: &str, form: &str) -> Option<usize> {
    let is_policy = |at: usize| POLICIES.iter().any(|policy| text[..at].ends_with(policy));
    text.rmatch_indices(form).map(|(at, _)| at).find(|&at| !is_policy(at))
}

/// What a notice says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thing {
    /// That something is confidential.
    Secret,
    /// Whom it is for.
    Recipient,
    /// That somebody else may have got it.
    Astray,
    /// What is forbidden, and what is to be done.
    Rest,
}

/// "Politique de confidentialité" and its like; the Russian words for it are none of the forms.
const POLICIES: [&str; 4] = ["politique de ", "política de ", "politica di ", "politica de "];

/// To prepare a search costs as much as to search a tail.
static WORDS: LazyLock<[Finder<'static>; 13]> = LazyLock::new(|| {
    [
        "onfiden",
        "ONFIDEN",
        "ntended recipient",
        "ertraulich",
        "ertrouwelijk",
        "iservat",
        "онфиденциальн",
        "機密",
        "秘密",
        "保密",
        "机密",
        "기밀",
        "비밀",
    ]
    .map(Finder::new)
});

/// How notices begin, in any case of the letters of ASCII.
const BEGINNINGS: [&str; 96] = [
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
    "any unauthori",
    "please consider the environment",
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
    "l'information contenue",
    "le présent message",
    "le contenu de ce",
    "avis de",
    "este mensaje",
    "este correo",
    "la informaci",
    "el contenido de est",
    "antes de imprimir est",
    "aviso",
    "questo messaggio",
    "questa e-mail",
    "il presente messaggio",
    "le informazioni",
    "ai sensi",
    "esta mensagem",
    "este e-mail",
    "as informações",
    "o conteúdo dest",
    "dit bericht",
    "dit e-mail",
    "de informatie",
    "deze e-mail",
    "Это сообщение",
    "Это письмо",
    "Настоящее сообщение",
    "Настоящее электронное",
    "Данное сообщение",
    "Данное письмо",
    "Данное электронное",
    "Информация, содержащаяся",
    "Конфиденциальн",
    "本メール",
    "本電子メール",
    "本メッセージ",
    "このメール",
    "この電子メール",
    "このメッセージ",
    "機密",
    "秘密保持",
    "本邮件",
    "本电子邮件",
    "此邮件",
    "此电子邮件",
    "本郵件",
    "本電子郵件",
    "此郵件",
    "此電子郵件",
    "保密",
    "본 메일",
    "본 이메일",
    "본 메시지",
    "본 전자우편",
    "이 메일",
    "이 이메일",
];

/// What notices say, each in its forms, in lower case. Words that any program writes (password, privacy policy, error, notice) are
/// none of them.
const SAID: [(Thing, &[&str]); 9] = [
    (
        Thing::Secret,
        &[
            "confidential",
            "vertraulich",
            "confidentiel",
            "confidencial",
            "confidenzial",
            "riservat",
            "vertrouwelijk",
            "конфиденциальну",
            "конфиденциальна",
            "конфиденциальной",
            "конфиденциальное",
            "конфиденциальны",
            "機密",
            "秘密情報",
            "秘密保持",
            "秘密を含",
            "営業秘密",
            "商业秘密",
            "商業秘密",
            "保密信息",
            "保密資訊",
            "保密内容",
            "保密內容",
            "保密义务",
            "机密",
            "기밀",
            "비밀 정보",
            "비밀정보",
            "비밀유지",
            "비밀을 포함",
            "영업비밀",
            "영업 비밀",
        ],
    ),
    (Thing::Rest, &["privileged", "rechtlich geschützt", "secret professionnel", "privilegiad", "segreto"]),
    (
        Thing::Recipient,
        &[
            "intended recipient",
            "intended only",
            "intended solely",
            "solely for",
            "addressee",
            "to whom it is addressed",
        ],
    ),
    (
        Thing::Recipient,
        &[
            "adressat",
            "empfänger",
            "destinataire",
            "destinatari",
            "destinatário",
            "geadresseerde",
            "ontvanger",
            "адресат",
            "получател",
            "受信者",
            "宛先",
            "受取人",
            "收件人",
            "收件者",
            "接收者",
            "수신인",
            "수신자",
        ],
    ),
    (
        Thing::Astray,
        &[
            "in error",
            "irrtümlich",
            "versehentlich",
            "par erreur",
            "por error",
            "por erro",
            "por engano",
            "per errore",
            "vergissing",
            "abusievelijk",
            "ten onrechte",
            "ошибк",
            "ошибочн",
            "誤って",
            "误收",
            "误发",
            "错收",
            "错误收",
            "错误地收",
            "誤收",
            "誤發",
            "錯收",
            "錯誤收",
            "錯誤地收",
            "잘못 수신",
            "잘못 전송",
            "잘못 전달",
            "잘못 받",
            "잘못 발송",
        ],
    ),
    (
        Thing::Rest,
        &[
            "disclos",
            "disseminat",
            "distribution",
            "weitergabe",
            "diffusion",
            "divulga",
            "diffusione",
            "difusi",
            "distribuci",
            "verspreid",
            "распростран",
            "разглаш",
            "開示",
            "転載",
            "披露",
            "泄露",
            "洩露",
            "传播",
            "傳播",
            "공개",
            "배포",
        ],
    ),
    (
        Thing::Rest,
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
            "verboden",
            "запрещ",
            "禁止",
            "禁じ",
            "厳禁",
            "严禁",
            "嚴禁",
            "お断り",
            "不得",
            "금지",
            "금합니다",
        ],
    ),
    (
        Thing::Rest,
        &[
            "notify",
            "notified",
            "informieren",
            "avertir",
            "prévenir",
            "notifi",
            "notifíq",
            "comunique",
            "signaler",
            "benachrichtig",
            "avvis",
            "informar",
            "verzocht",
            "уведом",
            "сообщите",
            "連絡",
            "通知",
            "告知",
            "알려",
            "통보",
        ],
    ),
    (
        Thing::Rest,
        &[
            "delete",
            "destroy",
            "vernichten",
            "löschen",
            "détrui",
            "supprimer",
            "elimin",
            "elimín",
            "destru",
            "destrúy",
            "borre",
            "apague",
            "verwijder",
            "cancellar",
            "vernietig",
            "удал",
            "уничтож",
            "削除",
            "破棄",
            "删除",
            "刪除",
            "销毁",
            "銷毀",
            "삭제",
        ],
    ),
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
                "AVISO LEGAL: El contenido de este correo es confidencial. Si usted no es el destinatario, destrúyalo y notifíquelo.",
                true,
            ),
            ("El contenido de este correo es confidencial. Si lo recibió por error, elimínelo.", true),
            ("O conteúdo desta mensagem é confidencial. Se a recebeu por engano, apague-a.", true),
            (
                "L'information contenue dans ce courriel est confidentielle. Si vous l'avez reçu par erreur, veuillez le détruire.",
                true,
            ),
            (
                "De informatie in dit bericht is vertrouwelijk. Als u het ten onrechte ontvangt, verzoeken wij u het te verwijderen.",
                true,
            ),
            (
                "Please consider the environment. This message is confidential. If you received it in error please delete it.",
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
            (
                "本メールには機密情報が含まれています。誤って受信された場合は、削除していただきますようお願いいたします。",
                true,
            ),
            ("本邮件含有保密信息，仅限收件人使用。如果您误收了本邮件，请立即通知发件人并删除本邮件。", true),
            ("此電子郵件含有機密資訊，僅供收件者使用，未經許可不得披露。", true),
            (
                "本邮件及其附件含有公司的保密信息，仅限于发送给上面地址中列出的个人。禁止任何其他人以任何形式使用。如果您错收了本邮件，\
                 请您立即通知发件人并删除本邮件！",
                true,
            ),
            (
                "このメールには秘密情報が含まれている場合があります。誤って受信された方は、お手数ですが破棄してください。",
                true,
            ),
            ("본 메일에는 영업비밀이 포함될 수 있으며, 지정된 수신인 외의 사용과 배포를 금합니다.", true),
            (
                "Данное сообщение и вложения конфиденциальны. Если Вы получили его по ошибке, просим уничтожить его и сообщите отправителю.",
                true,
            ),
            (
                "본 메일은 기밀 정보를 포함할 수 있습니다. 잘못 수신된 경우 발신인에게 알려 주시고 삭제하여 주십시오.",
                true,
            ),
            (
                "Это сообщение содержит конфиденциальную информацию. Если Вы не являетесь его адресатом, удалите его и уведомите отправителя.",
                true,
            ),
            // What people write.
            ("このメールは秘密です。母には言わないでください。", false),
            ("本メールは削除しないでください。会議の後でもう一度ご連絡します。", false),
            ("Это письмо конфиденциальное: не говори маме про торт.", false),
            // What programs write.
            (
                "본 메일은 비밀번호 재설정을 위해 발송되었습니다. 요청하지 않으셨다면 이 메일을 삭제하시고 고객센터로 알려 주십시오. \
                 비밀번호를 다른 사람에게 공개하지 마십시오.",
                false,
            ),
            ("본 메일은 잘못 수신된 경우 삭제하시고 알려 주십시오. 비밀번호는 금지된 문자를 쓸 수 없습니다.", false),
            ("本邮件由系统自动发送。您的验证码是 482913，五分钟内有效。请注意保密，不得告知他人，请勿泄露。", false),
            ("此郵件由系統發送。密碼錯誤三次，帳號已鎖定。請注意保密，不得告知他人，並刪除本郵件。", false),
            (
                "このメールはパスワードの再設定のために送信されています。秘密の質問に答えてください。\
                 お心当たりのない場合は、このメールを削除し、ご連絡ください。",
                false,
            ),
            (
                "このメールは送信専用です。機密情報をお尋ねすることはありません。お心当たりのない場合は削除し、ご連絡ください。転載を禁じます。",
                false,
            ),
            (
                "Это письмо подтверждает Ваш заказ.\nПолучатель: Иван Петров\nЕсли вы получили это письмо по ошибке, просто удалите его.\n\
                 Политика конфиденциальности",
                false,
            ),
            (
                "Ce message confirme votre commande. Si vous l'avez reçu par erreur, merci de le supprimer.\nPolitique de confidentialité",
                false,
            ),
            (
                "Este correo confirma su pedido. Si lo ha recibido por error, elimínelo.\nPolítica de confidencialidad",
                false,
            ),
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
