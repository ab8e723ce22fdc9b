"""English prose by a grammar: hand-written sentence patterns over the words of a topic and words of everyday.

A pattern's fixed words never run longer than four or five before a slot breaks them, and the writer refuses whatever
repeats five words in a row, so that two texts share words and turns of phrase but no passage.
"""

import re

from maker import topics, words

TOPICS = topics.TOPICS

# Verbs whose past is one with the participle, and those that double their last letter.
PAST = {
    "cut": "cut", "feed": "fed", "rewind": "rewound", "bind": "bound", "wind": "wound", "spin": "spun", "dig": "dug",
    "light": "lit", "lend": "lent", "cast": "cast", "typecast": "typecast", "typeset": "typeset",
}
DOUBLED = {"trim", "thin", "plot", "scan", "map", "rig", "slip", "log", "jam", "cut", "dig", "spin", "typeset"}
PLURAL = {"loaf": "loaves", "leaf": "leaves", "knife": "knives", "skep": "skeps", "foot": "feet"}

EVERYDAY = words.parsed("""
first Ada|Bruno|Clara|Dorian|Edith|Fabian|Greta|Hugo|Ines|Jonas|Karin|Leo|Mirjam|Nils|Odile|Pavel|Ruth|Silas|Tamsin|
    Ursel|Viktor|Wanda|Yorick|Zelda|Agnes|Bertil|Cosima|Dag|Elin|Finn|Gerda|Henrik|Ilse|Joost|Kitty|Lorenz|Maud|
    Nora|Oskar|Petra|Quirin|Rosa|Sven|Thea|Ulf|Vera|Wolf|Xenia|Yvo|Alma
syllable Ash|Bar|Carn|Dun|Elm|Fen|Gar|Hel|Is|Ker|Lang|Mer|Nor|Oak|Pen|Quar|Ros|Sal|Thorn|Ul|Var|Wex|Yar|Zen|Birk|
    Cold|Drey|Ever|Frost|Grim|Hazel|Iron|Kil|Lind|Mos|Nether|Otter|Pol|Raven|Stan
ending wick|ford|mouth|holm|bury|stead|ley|combe|thwaite|dale|haven|beck|field|mere|gate|bridge|moor|den|worth|
    hithe|garth|ness|shaw|well|croft
kin son|er|mann|ling|ward|stone|brook|mark|gren|by|vall|sted|quist|ham|ock|ard|ell|ing
num two|three|four|five|six|seven|eight|nine|eleven|twelve|fourteen|fifteen|seventeen|nineteen|twenty|thirty|forty|
    sixty|ninety
ord second|third|fourth|fifth|sixth|seventh|ninth|tenth|twelfth|last
month January|February|March|April|May|June|July|August|September|October|November|December
weekday Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday
season spring|summer|autumn|winter|harvest|fortnight|thaw|heatwave
building town hall|old school|ferry house|tram depot|chapel|grain store|post office|customs shed|boathouse|
    library annexe|fire station|corn exchange|railway arch|museum cellar|guild hall|brick warehouse|power station|
    market hall
weather hard frost|east wind|dry heat|steady drizzle|thick fog|low cloud|sleet|a sudden thaw|thunder|still air|
    driving rain|bright cold|a spring gale|a drought
mood patient|stubborn|cheerful|wary|precise|gruff|proud|curious|tireless|sceptical|generous|frugal|quiet|restless|
    meticulous|absent-minded
adv slowly|gladly|rarely|twice|cheerfully|in silence|by hand|without fuss|at once|with care|almost daily|gratefully|
    reluctantly|by candlelight|on credit|in pairs|from memory|upside down
kinfolk grandmother|uncle|neighbour|brother-in-law|godfather|cousin|aunt|stepson|landlady|widow
body parish council|county fair|historical society|trade union|harbour board|village school|evening class|
    local paper|savings club|women's institute|regional archive|tourist office|small museum|water board|
    insurance company
said said|insisted|admitted|explained|recalled|maintained|joked|conceded|remarked|claimed
coin shillings|crowns|florins|guilders|pence|thalers|ducats|marks
town {syllable}{ending}|{syllable}{ending}|{syllable}{ending}|Upper {syllable}{ending}|{syllable} Bay|
    Little {syllable}{ending}
sur {syllable}{kin}
name {first} {sur}|{first} {sur}|old {sur}|Mrs {sur}|Dr {sur}
year 18{d}{d}|19{d}{d}|17{d}{d}|20{e}{d}
d 0|1|2|3|4|5|6|7|8|9
e 0|1|2
count {num}|{num}|barely {num}|at least {num}|some {num}|more than {num}|{num} hundred|a dozen|{num} or {num}
time before dawn|in late {month}|on market days|after the first {stuff}|every {ord} {weekday}|one {season}|
    during the {season} of {year}|within {num} weeks|until {month} {year}|for {num} years|since {year}|
    around {year}|once the {thing} is in place|on {weekday} evenings|between {month} and {month}|
    by {num} in the morning|long after midnight|throughout {month}|as soon as {weather} sets in|in the year {year}|
    a fortnight later|toward the end of {month}|on the {ord} of {month}|when {weather} comes|at the age of {num}|
    under {weather}
where behind the {building} in {town}|along the road to {town}|near {town}|outside {town}|
    under the roof of the {building}|at the {building}|on the hill above {town}|in a yard off {sur} Street|
    between {town} and {town}|across the river from {town}|in the {building} at {town}|beyond {town}|on {sur} Lane|
    two doors from the {building}|in {town} market|upstairs at the {building}|halfway to {town}|
    in the cellars of {town}|by the {building} wall
why because {stuff} behaves badly in {weather}|since nobody else could {act} {a thing}|
    so that the {part} stays {adj}|for want of {adj} {stuff}|as {sur} had always advised|
    in case the {things} arrive late|to spare the {part} from {weather}|out of respect for {name}|
    because the {body} pays for {stuff}|lest {weather} spoil the {stuff}|since {a adj thing} costs {count} {coin}|
    now that {stuff} comes from {town}|although the {body} objected|while {roles} from {town} looked on|
    whatever the {role} may say|as long as the {stuff} lasts|if only to please the {role}
who {a role}|the {role} from {town}|{name}|{name}, {a mood} {role},|every {role} in {town}|the youngest {role}|
    {name} of {town}|a retired {role}|the {body}|our {role}|my {kinfolk}
whom {a role}|the {role} from {town}|{name}|every {role} in {town}|{name} of {town}|a retired {role}|the {body}|
    my {kinfolk}
what {a adj thing}|the {thing}|the {adj} {things}|{count} {things}|{a thing} with {a adj part}|
    the {part} of {a adj thing}|{a thing} full of {stuff}|{adj} {stuff}|each {thing}|both {things}|
    the {thing} {where}|{sur}'s {thing}
""")

PATTERNS = """
{time} {who2} {acted} {what} {where}.
Nobody in {town} had seen {a adj thing} before {name} {acted} one {time}.
The {part} of {a thing} wears {adv} when {stuff} meets {weather}.
{who} keeps {count} {things} {where}, {why}.
What looks like {a part} turns out to be {adj} {stuff}, {acted} {time}.
Ask {whom} about {stuff} and the answer is always {a adj thing}.
Between the {part} and the {part} lies {stuff}, {acted} {adv} {time}.
{count} {coin} bought {a thing} in {year}; today {a role} asks {count} times that.
Without {stuff} no {thing} would survive {weather} {where}.
"Never {act} {a thing} {time}," {name} {said}, "{why}."
"My {kinfolk} {acted} {things} {adv}," {said} {name} {where}.
There are {count} ways to {act} {what}, and {whom} knows {num}.
{year} was the year when {roles} began to {act} {adj} {things} {where}.
{acting} {what} takes {a mood} hand and {count} hours of {weather}.
The {body} of {town} lent {name} {a thing}, {why}.
Few {roles} agree whether {stuff} or {stuff} makes the better {part}.
If the {part} feels {adj}, {a role} will {act} it {time}.
Only {count} {things} of this kind remain, most of them {where}.
{name} learned to {act} {stuff} from {a mood} {role} {where}.
An inventory of {year} lists {count} {things}, {a adj part} and some {stuff}.
It was {name} who first {acted} {what} with {stuff} {time}.
{where2} stands {a thing} whose {part} was {acted} {time}.
Letters in the {body} mention {a adj thing} that {who} {acted} {adv}.
Every {thing} needs its {part}, and every {part} needs {adj} {stuff}.
{who} would rather {act} {a thing} {adv} than trust {a role} {where}.
Some call it {a adj thing}; in {town} it is simply the {part}.
The trick is to {act} the {part} {adv}, {why}.
For {count} {coin} a day the {roles} of {town} {acted} {what}.
{weather2} is the enemy of {stuff}, so {who} {acts_or} {a thing} {time}.
Although {adj}, the {thing} {where} held its {part} {time}.
A photograph from {year} shows {name} beside {a adj thing} and {count} {things}.
Then came {weather}, and {what} had to be {acted} {where}.
{num2} {things} later, {who} finally {acted} the {adj} {part}.
You can tell {a adj thing} by its {part}: it smells of {stuff} {time}.
The {role} at {town} sells {stuff} by the {part}, {why}.
Visitors to {town} are shown how to {act} {what} {time}.
{who} wrote {count} letters about {stuff} and {acted} {num} {things}.
Rather than {act} {what}, {name} moved to {town} {time}.
It costs {count} {coin} to {act} {what}, {a mood} {role} {said}.
Below the {part} runs a seam of {adj} {stuff}, {count} paces long.
{roles2} still argue about the {thing} that {name} {acted} {where}.
With {weather} outside, the {things} {where} were {acted} {adv}.
In {town} the word for {thing} also means {adj} {stuff}.
{who} found {what} under {count} sacks of {stuff} {where}.
The first {thing} was {adj}, the {ord} {adj}, and the rest {acted} {time}.
Where {stuff} is scarce, {roles} {act} {what} with {stuff}.
A {mood} eye sees at once whether {a part} was {acted} {time}.
{name} paid {count} {coin} for {what} and never {acted} it.
Nothing about {a thing} is accidental, least of all the {adj} {part}.
{time}, {stuff} from {town} reached {roles} as far away as {town}.
Until {name} retired, {things} {where} were {acted} every {weekday}.
The {body} counts {count} {adj} {things}, up from {num} in {year}.
{who} calls the {part} the soul of {a thing}; {name} prefers the {part}.
Should {weather} last, {count} {things} must be {acted} {where}.
On the shelf {where} wait {a part}, {a part} and {a jar} of {stuff}.
Children in {town} {act} {stuff} {adv} {time}, or so {name} {said}.
A {thing} like {sur}'s needs {stuff} {time} and {a role} with {adj} ideas.
Two {roles} can {act} {what} {adv}; one alone needs {count} days.
{stuff2} dries {adv}, which is why {roles} {act} it {where}.
Of all {things}, the {adj} one {where} gave {name} most trouble.
{a2 adj thing} was auctioned {where} for {count} {coin} {time}.
The {ord} rule of {roles}: {act} the {part} before the {part}.
{kinfolk2} and {kinfolk} alike {acted} {things} {where} {time}.
When {name} fell ill, {who} {acted} {what} {time}.
Modern {things} use {stuff}, yet {whom} in {town} swears by {stuff}.
A ledger {where} records {stuff} at {count} {coin} the {part}.
{acting} starts with the {part}, moves to {what} and ends {where}.
For {name}, {a adj thing} is worth more than {count} {adj} {things}.
Please {act} the {things} {adv}, begs a notice {where}.
No two {roles} {act} {stuff} alike; {sur} does it {adv} {time}.
A good {part} outlives {count} {things} and at least one {role}.
Beneath {adj} {stuff} the {part} stays {adj}, even in {weather}.
The road from {town} brought {stuff}, {stuff} and {a mood} {role} {time}.
Half of what {who} {acts_or} {where} ends as {stuff}.
They say {name} could {act} {a thing} {adv} in {weather}.
{sur}'s notebook has {count} pages on {stuff} and one on {a adj thing}.
Once {acted}, {a thing} must rest {where} {time}.
{who} measured {what} {time} and found the {part} too {adj}.
Cheap {stuff} ruined the {things} of {town} {time}.
A committee of {count} {roles} {acted} {what} before {weather} came.
Not the {thing} but its {part} decides how {stuff} ages {where}.
{name} dreams of {a adj thing} with {count} {parts} and no {stuff}.
The loudest sound {where} is {a thing} being {acted} {time}.
{town} lost its last {role} in {year}, {town} kept {num}.
{where2}, {count} volunteers {act} {adj} {things} {time}.
Old {parts} are never thrown out: {name} {acted} them into {things}.
Whether {a thing} counts as {adj} depends on its {part} and on {weather}.
{what2} had waited {where} for someone to {act} it.
The price of {stuff} doubled {time}, and {roles} {acted} less.
Insurance does not cover {a adj thing} that {who} {acted} {adv}.
A film about {name} shows {roles} {acting} {stuff} {where}.
{who} blames {weather}, {name} blames the {stuff}, and the {part} is still {adj}.
How {things} came to {town} is disputed: by {stuff} trade, {name} {said}.
{count2} {adj} {things} hang {where}, {why}.
From {stuff} to finished {part} is a matter of {count} days and {weather}.
Watch {name} {act} {a thing} and {stuff} seems easy.
The smell of {stuff} {where} tells {roles} when to {act} the {part}.
Rain or not, {who} {acts_or} {count} {things} {time}.
{name} once drove to {town} with {a adj thing} and {count} jars of {stuff}.
There is no school for {roles}; one learns {where}, {adv} and {time}.
At {town} they {act} {what} twice, {why}.
Since the {building} burned, {things} have been {acted} {where}.
{a2 part} of {stuff} lasts {count} years, {a part} of {stuff} only {num}.
The {mood} {role} and the {mood} {kinfolk} {acted} {what} together {time}.
Take {stuff}, {count} {parts} and {a thing}, and {act} them {adv}.
{year2} brought {weather}, {year} brought {stuff}, and neither suited the {things}.
{who} has {acted} {count} {things} and broken {num} {parts}.
Tourists photograph the {thing}; {roles} look at its {adj} {part}.
{adj2} {things} sell best {time}, {adj} ones {where}.
The day {name} {acted} {what}, half of {town} came to watch.
Neither {stuff} nor {stuff} will hold {a part} that {weather} has touched.
A museum in {town} offered {count} {coin} for the {adj} {thing}.
{who} sleeps {where} whenever {things} are to be {acted}.
Even {a mood} {role} may {act} the wrong {part} in {weather}.
Along with {stuff}, the ship to {town} carried {count} {things} and {name}.
{name} distrusts {adj} {stuff}, {why}.
As a rule of thumb, {count} {things} need {num} {roles} and {stuff} {time}.
What {town} lacks in {stuff} it makes up in {adj} {things}.
Its {part} came from {town}, its {part} from {a role} {where}.
Slide the {part} under the {thing}, wait for {weather}, then {act} {adv}.
{sur} and {sur} quarrelled {time} over {a adj part}.
The {weekday} group {acts_or} {what} {where} and drinks tea with {name}.
Later {roles} replaced {stuff} with {stuff}, {why}.
A single {thing} may hold {count} {parts}, each {acted} {adv}.
{whom2} can {act} {a thing} in {num} minutes, {adv} if need be.
In {month} the {things} {where} turn {adj} with {stuff}.
Do not confuse {a adj thing} with {a adj thing}: the {part} differs.
""".strip().splitlines()

TITLES = """
The {adj} {thing} of {town}
How {name} {acted} the {part}
{adj2} {stuff} and {a adj thing}
{a2 thing} for {town}
Why {roles} {act} {adj} {things}
{count2} {things} in {weather}
{name} and the {adj} {part}
{stuff2}, {stuff}, {thing}
A {season} with {name} in {town}
What {weather} can do to {stuff}
""".strip().splitlines()

BASIC = {"thing", "stuff", "role", "part", "act", "adj"}


def plural(noun):
    if " of " in noun:
        head, rest = noun.split(" of ", 1)
        return f"{plural(head)} of {rest}"
    for one, many in PLURAL.items():
        if noun.endswith(one):
            return noun[: -len(one)] + many
    if noun.endswith("man"):
        return noun[:-3] + "men"
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def third(verb):
    if verb.endswith(("s", "x", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def past(verb):
    if verb in PAST:
        return PAST[verb]
    if verb in DOUBLED:
        return verb + verb[-1] + "ed"
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def gerund(verb):
    if verb in DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ue")):
        return verb[:-1] + "ing"
    return verb + "ing"


def with_article(words):
    return ("an " if words[0].lower() in "aeiou" and not words.startswith(("one", "uni", "use")) else "a ") + words


class English:
    """Sentences and titles about topics."""

    patterns, titles = PATTERNS, TITLES
    gram, sentence_chars_min = 5, 40

    def __init__(self, dice):
        self.dice, self.said = dice, set()

    def units(self, text):
        return re.findall(r"[a-z0-9]+", text.lower())

    def pick(self, words):
        """One of `words` that the sentence does not have yet, if chance allows."""
        word = next((word for word in (self.dice.one(words) for _ in range(8)) if word not in self.said), words[0])
        self.said.add(word)
        return word

    def slot(self, slot, topic):
        slot = slot.rstrip("2")
        if slot.startswith(("a ", "a2 ")):
            return with_article(" ".join(self.slot(word, topic) for word in slot.split(" ")[1:]))
        if slot == "jar":
            return self.dice.one(["jar", "tin", "bucket", "drawer", "bottle", "bag", "box"])
        own = TOPICS[topic]
        if slot in BASIC:
            return self.pick(own[slot])
        if slot in ("things", "roles", "parts"):
            return plural(self.pick(own[slot[:-1]]))
        forms = {"acted": past, "acting": gerund, "acts_or": third}
        if slot in forms:
            verb, *rest = self.pick(own["act"]).split(" ")
            return " ".join([forms[slot](verb)] + rest)
        return self.filled(self.dice.one(EVERYDAY[slot]), topic)

    def filled(self, pattern, topic):
        return re.sub(r"\{([^}]+)\}", lambda slot: self.slot(slot[1], topic), pattern)

    def sentence(self, pattern, topic):
        self.said.clear()
        text = self.filled(pattern, topic).replace(",,", ",").replace(",.", ".").replace(",;", ";")
        # A nested clause may end in a comma that the pattern has too.
        text = re.sub(r"\s+", " ", text).strip()
        at = 1 if text[0] == '"' else 0
        return text[:at] + text[at].upper() + text[at + 1 :]

    def joined(self, sentences):
        return " ".join(sentences)
