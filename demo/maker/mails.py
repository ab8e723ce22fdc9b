"""The mails: two campaigns, newsletters of one sender, a mailing list, letters, and mails that say nothing."""

import base64
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from html import escape

from maker.english import EVERYDAY, TOPICS
from maker.shelf import Shelf

START = datetime(2026, 1, 1, 8, tzinfo=timezone.utc)
LIST_FOOTER = """_______________________________________________
orchard-exchange mailing list, kept by the growers of the valley
To leave the list or to change how you receive it, write to
orchard-exchange-request@lists.valley.example with the word "leave"
"""
GREETINGS = ["Hi {}", "Dear {}", "Hello {}", "{}", "Good morning {}", "My dear {}"]
FAREWELLS = ["Best", "Yours", "See you soon", "Love", "With thanks", "Until Friday", "Cheers"]
NONSENSE = """copper thistle violet marble anchor pepper saddle lantern walnut candle pigeon velvet harbor button meadow
    ticket silver basket planet ribbon turtle window garlic hammer island jacket kettle ladder magnet needle orange
    pillow quartz rocket sponge tunnel""".split()
PLAIN = "Content-Type: text/plain; charset=utf-8"
HTML = "Content-Type: text/html; charset=utf-8"
EIGHT_BIT = "Content-Transfer-Encoding: 8bit"
LETTER_TOP = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light">
<title>Workshop Weekly {number}</title>
<style>.nl-part h2{{margin:0}} .nl-foot{{color:#888}}</style></head><body id="nl" bgcolor="#f4f1ea">
<div class="nl-preheader" style="display:none;max-height:0">Workshop Weekly, number {number}</div>
<table id="nl-outer" role="presentation" width="100%" cellspacing="0" cellpadding="0"><tr><td align="center">
<table id="nl-inner" role="presentation" width="600"><tr><td class="nl-head" height="80">
<img src="https://workshopweekly.example/m/logo.png" alt="Workshop Weekly" width="220" height="60" border="0"></td></tr>
"""
LETTER_PART = """<tr><td class="nl-part" style="padding:12px 24px"><h2 style="font:18px Georgia">{title}</h2>
<p style="font:14px/20px Georgia">{text}</p>
<a href="https://workshopweekly.example/w/{number}/{topic}" style="color:#7a2">Read on</a></td></tr>
"""
LETTER_END = """<tr><td class="nl-foot" style="padding:24px">Workshop Weekly, Mill Lane 4.
<a href="https://workshopweekly.example/leave?s={token:08x}">Unsubscribe</a></td></tr>
</table></td></tr></table></body></html>
"""


class Mails:
    """Writes all mails; the campaign of parcels and what is personal go to a mailbox, the rest to envelopes."""

    def __init__(self, dice, writers):
        self.dice, self.writers, self.writer = dice, writers, writers.english
        self.mailbox, self.envelopes = Shelf(dice), Shelf(dice)
        self.n = 0

    def write(self):
        self.parcels()
        self.inheritance()
        self.newsletters()
        self.mailing_list()
        self.letters()
        self.nothings()
        mailbox = self.mailbox.in_order()
        for entry in mailbox:
            entry.id = ""  # a mailbox gives no ids: file and number are the id
        return mailbox, self.envelopes.in_order()

    def person(self):
        first = self.dice.one(EVERYDAY["first"])
        last = self.dice.one(EVERYDAY["syllable"]) + self.dice.one(EVERYDAY["kin"])
        return first, last

    def headers(self, sender, to, subject, more=()):
        self.n += 1
        rows = [f"From: {sender}", f"To: {to}", f"Subject: {subject}",
                f"Date: {format_datetime(START + timedelta(hours=7 * self.n))}",
                f"Message-ID: <{self.n * 7919:06}@{sender.rsplit('@', 1)[1].rstrip('>')}>", "MIME-Version: 1.0", *more]
        return "\n".join(rows) + "\n"

    def boxed(self, kind, headers, body, place=None, of=(), frame="-", note=""):
        """Into the mailbox, with `From ` lines of the text quoted."""
        text = "".join((">" + line if line.lstrip(">").startswith("From ") else line)
                       for line in (headers + "\n" + body).splitlines(True))
        text = "From MAILER-DAEMON Thu Jan  1 08:00:00 2026\n" + text.rstrip("\n") + "\n\n"
        place = self.mailbox.anywhere() if place is None else place
        self.mailbox.add(id=f"{self.n:04}", kind=kind, body=text, place=place, of=list(of), frame=frame, note=note)

    def enveloped(self, name, kind, headers, body, rcpt, mail_from, passed, place=None, of=(), frame="-", note=""):
        """As an envelope with the results of the server's checks."""
        domain = mail_from.rsplit("@", 1)[1]
        result = "pass" if passed else "fail"
        raw = (headers + "\n" + body).replace("\n", "\r\n").encode()
        envelope = {"id": name, "received_at": f"2026-04-01T{self.n % 24:02}:{self.n * 7 % 60:02}:00Z",
                    "client_ip": f"198.51.100.{1 + self.n % 250}",
                    "mail_from": mail_from, "rcpt": [rcpt],
                    "auth": {"spf": {"result": result, "domain": domain},
                             "dkim": [{"result": "pass" if passed else "none", "domain": domain}],
                             "dmarc": {"result": result, "domain": domain}},
                    "raw": base64.b64encode(raw).decode()}
        place = self.envelopes.anywhere() if place is None else place
        self.envelopes.add(id=name, kind=kind, body=envelope, place=place, of=list(of), frame=frame, note=note)

    # Campaigns

    def parcels(self):
        """25 mails: other names, numbers, links and senders, a sentence put in at random, and hidden random words."""
        desks = ["quickparcel", "parcel-depot", "swift-box", "doorstep-post", "cargo-note", "packet-desk", "ship2home"]
        opening = ["our driver was not able to hand over your parcel {} this morning",
                   "our driver could not hand over your parcel {} this morning"]
        for n in range(25):
            first, last = self.person()
            desk = self.dice.one(desks) + f"{self.dice.between(2, 98)}.example"
            number, office = self.dice.between(1000000, 9999999), self.dice.between(10000, 99999)
            charge = f"{self.dice.between(1, 4)}.{self.dice.between(10, 99)}"
            weekday = self.dice.one(EVERYDAY["weekday"])
            link = f"http://{desk}/t/{number}?u={self.dice.below(1 << 32):08x}"
            inserted = f"<p>{escape(self.writer.sentences([self.dice.one(sorted(TOPICS))], 1)[0], quote=False)}</p>\n"
            inserted = self.dice.shuffled([inserted if self.dice.below(2) else "", ""])
            hidden = " ".join(self.dice.some(NONSENSE, self.dice.between(6, 14)))
            body = f"""<html><body><table width="600" cellpadding="8"><tr><td>
<p>Dear {first} {last},</p>
{inserted[0]}<p>{self.dice.one(opening).format(number)}, because nobody answered the door and the box was too large
for the letter slot. It has been taken to the regional depot, where it will be kept for five working days before it
goes back to the shop that sent it.</p>
<p>To choose another day for the delivery, please confirm your street and house number on the page below and pay the
outstanding customs charge of {charge} with any bank card. Without this payment the depot cannot release the goods, and
storage fees are added for every further night.</p>
<p><a href="{link}">{link}</a></p>
{inserted[1]}<p>We apologise for the trouble and wish you a pleasant {weekday}. Your delivery team, office
number {office}</p>
<div style="display:none">{hidden}</div>
</td></tr></table></body></html>
"""
            subject = self.dice.one(["{0}, your parcel {1} is waiting", "Parcel {1} could not be delivered",
                                     "{0}: action needed for parcel {1}"]).format(first, number)
            headers = self.headers(f'"Parcel Desk" <desk@{desk}>',
                                   f'"{first} {last}" <{first.lower()}.{last.lower()}@mail.example>', subject,
                                   [HTML, EIGHT_BIT])
            self.boxed("campaign", headers, body, of=["parcels"], frame="parcels",
                       note="random insertions, names, numbers, links, hidden words")

    def inheritance(self):
        """8 plain mails of a second campaign."""
        for n in range(8):
            first, last = self.person()
            banker = "Barrister " + " ".join(self.person())
            sum_ = f"{self.dice.between(3, 19)},{self.dice.between(100, 999)},000"
            line = self.writer.sentences(["maps"], 1)[0]
            body = f"""Dear {first},

I am {banker}, attorney to a late client who carried your family name and left a deposit of {sum_} crowns with a
private bank on the island. He died without a will, no relative came forward in four years of enquiries, and the
directors will soon declare the account dormant and divide the money among themselves.

{line}

I therefore propose to present you as his next of kin, so that the balance can be released to you and shared between
us in equal halves. All papers are prepared and the procedure carries no risk for either party. Kindly send me your
full address, telephone number and occupation, and treat this letter as strictly confidential.

Yours in trust,
{banker}
Telephone {self.dice.between(10000000, 99999999)}
"""
            domain = self.dice.one(["chambers-law", "trust-attorney", "legal-isle", "probate-desk"]) + f"{n}.example"
            rcpt = f"{first.lower()}.{last.lower()}@mail.example"
            headers = self.headers(f"{banker} <office@{domain}>", rcpt,
                                   self.dice.one(["Confidential proposal", "Your late relative",
                                                  "Estate of a namesake"]), [PLAIN])
            self.enveloped(f"inheritance-{n + 1}", "campaign", headers, body, rcpt, f"bounce@{domain}", False,
                           of=["inheritance"])

    # Wanted mail

    def newsletters(self):
        """15 weekly letters of one sender: one template, another text each week."""
        for n in range(15):
            topics = self.dice.some(sorted(TOPICS), 3)
            number = n + 40
            body = LETTER_TOP.format(number=number)
            for topic in topics:
                text = escape(self.writer.language.joined(self.writer.sentences([topic], 4)), quote=False)
                title = escape(self.writer.title([topic]), quote=False)
                body += LETTER_PART.format(title=title, text=text, number=number, topic=topic)
            body += LETTER_END.format(token=self.dice.below(1 << 32))
            headers = self.headers("Workshop Weekly <letter@workshopweekly.example>", "reader@mail.example",
                                   f"Workshop Weekly {number}: {self.writer.title(topics[:1])}",
                                   ["List-Unsubscribe: <https://workshopweekly.example/leave>",
                                    HTML, EIGHT_BIT])
            self.enveloped(f"newsletter-{number}", "newsletter", headers, body, "reader@mail.example",
                           "letter@workshopweekly.example", True, frame="workshopweekly.example",
                           note="template, not mirror")

    def mailing_list(self):
        """Two mails of one list with the same footer, and a third that is nothing but the footer."""
        for n in range(3):
            first, last = self.person()
            kind, note, subject, body = "footer_only", "a list's footer and nothing else", "[orchard-exchange]", ""
            if n < 2:
                kind, note = "list", "the same footer, no copies"
                subject += " " + self.writer.title(["orchards"])
                body = "\n".join(self.writer.sentences(["orchards"], 4)) + f"\n\n{first}\n"
            headers = self.headers(f"{first} {last} <{first.lower()}@valley.example>",
                                   "orchard-exchange@lists.valley.example",
                                   subject,
                                   ["List-Id: Orchard exchange <orchard-exchange.lists.valley.example>",
                                    PLAIN])
            self.boxed(kind, headers, body + LIST_FOOTER, note=note)

    def letters(self):
        """15 personal mails, among them a reply that quotes another, a Japanese and a Russian one."""
        quoted = ""
        for n in range(15):
            (first, last), (friend, _) = self.person(), self.person()
            writer = {13: self.writers.japanese, 14: self.writers.russian}.get(n, self.writer)
            topics = self.dice.some(sorted(TOPICS), 2)
            lines = writer.sentences(topics, 9 if n == 5 else self.dice.between(4, 9))
            hello, bye = self.dice.one(GREETINGS).format(friend), self.dice.one(FAREWELLS)
            subject = self.dice.one(writer.title(topics).split(" "))
            if n in (13, 14):
                hello, subject, bye = [("拝啓", "お便り", "敬具"), ("Здравствуйте", "Письмо", "С уважением")][n - 13]
                subject = f"=?utf-8?B?{base64.b64encode(subject.encode()).decode()}?="
            body = f"{hello},\n\n" + "\n".join(lines) + f"\n\n{bye}\n{first}\n" + ("\n" + quoted if n == 5 else "")
            quoted = f"On Tuesday, {first} {last} wrote:\n" + "".join(f"> {line}\n" for line in lines)
            headers = self.headers(f"{first} {last} <{first.lower()}.{last.lower()}@post.example>",
                                   f"{friend} <{friend.lower()}@mail.example>",
                                   subject, [PLAIN,
                                             EIGHT_BIT])
            self.boxed("personal", headers, body, place=(n + 1) / 16, note="quotes the one before" if n == 5 else "")

    def nothings(self):
        """Empty mails and mails of a line."""
        for subject, body in [("", ""), ("hello", "\n"), ("Re: Friday", "Thanks!\n"), ("ok", "Fine with me.\n"),
                              ("Fwd:", "See below.\n"), ("photo", "\n\n")]:
            first, last = self.person()
            headers = self.headers(f"{first} {last} <{first.lower()}.{last.lower()}@post.example>",
                                   "someone@mail.example", subject, [PLAIN])
            self.boxed("insufficient", headers, body, note="empty" if not body.strip() else "one line")
