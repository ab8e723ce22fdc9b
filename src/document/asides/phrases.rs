//! How programs of mail and the people who use them introduce what they quote, sign, and send to lists, in the languages that were met.

use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Between dashes, as Outlook, Thunderbird and Gmail say it of what was answered or forwarded.
pub(super) const ORIGINAL_MESSAGE: [&str; 23] = [
    "Original Message",
    "Original-Nachricht",
    "Ursprüngliche Nachricht",
    "Message d'origine",
    "Message original",
    "Mensaje original",
    "Mensagem original",
    "Messaggio originale",
    "Oorspronkelijk bericht",
    "Original meddelande",
    "Исходное сообщение",
    "元のメッセージ",
    "原始邮件",
    "Original Appointment",
    "Forwarded message",
    "Weitergeleitete Nachricht",
    "Message transféré",
    "Mensaje reenviado",
    "Mensagem encaminhada",
    "Messaggio inoltrato",
    "Doorgestuurd bericht",
    "Vidarebefordrat meddelande",
    "転送メッセージ",
];

/// From; Sent, Date; To, Subject.
pub(super) const HEADER_NAMES: [[&str; 5]; 15] = [
    ["From", "Sent", "Date", "To", "Subject"],
    ["Von", "Gesendet", "Datum", "An", "Betreff"],
    ["De", "Envoyé", "Date", "À", "Objet"],
    ["De", "Enviado", "Fecha", "Para", "Asunto"],
    ["De", "Enviada em", "Data", "Para", "Assunto"],
    ["Da", "Inviato", "Data", "A", "Oggetto"],
    ["Van", "Verzonden", "Datum", "Aan", "Onderwerp"],
    ["Från", "Skickat", "Datum", "Till", "Ämne"],
    ["От", "Отправлено", "Дата", "Кому", "Тема"],
    ["差出人", "送信日時", "日時", "宛先", "件名"],
    ["发件人", "发送时间", "日期", "收件人", "主题"],
    ["寄件者", "寄件日期", "日期", "收件者", "主旨"],
    ["Od", "Wysłano", "Data", "Do", "Temat"],
    ["보낸 사람", "보낸 날짜", "날짜", "받는 사람", "제목"],
    ["Kimden", "Gönderildi", "Tarih", "Kime", "Konu"],
];

pub(super) const INTRODUCTION_WORDS: [&str; 15] = [
    "On",
    "Am",
    "Le",
    "El",
    "Em",
    "Il",
    "Op",
    "Den",
    "Dnia",
    "W dniu",
    "В сообщении от",
    "在",
    "In a message dated",
    "At",
    "Quoting",
];

pub(super) const PERSON_LAST_VERBS: [&str; 4] = [" schrieb ", " skrev ", " schreef ", "napisana przez "];

/// Chinese says when and who in either order before it.
pub(super) const PERSON_FIRST_VERBS: [&str; 2] = ["写道", "寫道"];

/// And how Apple introduces what is forwarded.
pub(super) const INTRODUCTION_VERBS: [&str; 33] = [
    "wrote",
    "writes",
    "said",
    "a écrit",
    "escribió",
    "escreveu",
    "ha scritto",
    "scrive",
    "schrieb",
    "schreef",
    "skrev",
    "napisał",
    "napisał(a)",
    "napisała",
    "pisze",
    "пишет",
    "написал",
    "написала",
    "написал(а)",
    "yazdı",
    "kirjoitti",
    "さんは書きました",
    "のメッセージ",
    "のメール",
    "작성",
    "쓴 글",
    "forwarded message",
    "weitergeleiteten Nachricht",
    "message réexpédié",
    "mensaje reenviado",
    "mensagem encaminhada",
    "mensagem reencaminhada",
    "messaggio inoltrato",
];

pub(super) const DEVICES: [&str; 9] = [
    "Sent from my ",
    "Sent from Mail for ",
    "Get Outlook for ",
    "Von meinem ",
    "Gesendet von ",
    "Envoyé de mon ",
    "Enviado desde mi ",
    "Enviado do ",
    "Inviato da ",
];

pub(super) const LIST_WORDS: [&str; 3] = ["mailing list", "listinfo", "Yahoo! Groups"];

/// To prepare a search costs as much as to search a tail.
pub(super) static LEAVE_WORDS: LazyLock<[Finder<'static>; 14]> = LazyLock::new(|| LEAVE.map(Finder::new));

const LEAVE: [&str; 14] = [
    "nsubscribe",
    "NSUBSCRIBE",
    "o be removed",
    "pt-out",
    "bmelden",
    "abbestellen",
    "ésabonner",
    "ésinscrire",
    "darse de baja",
    "ancelar inscri",
    "isiscriv",
    "тписаться",
    "配信停止",
    "退订",
];
