"""Japanese prose by a grammar, in the manner of `english`; units are characters, and no ten in a row are repeated."""

import re

from maker import words

WORDS = words.parsed("""
thing 水車|灯台|茶碗|提灯|和紙|味噌樽|風鈴|竹籠|櫛|鉄瓶|漁船|染物|石垣|太鼓|下駄|醤油蔵|刀掛け|硯|箪笥|炭窯|花火|
    蒔絵|火鉢|琴|屏風
stuff 漆|藍|麹|灰|炭|竹|桐|海塩|米糠|蜜蝋|松脂|絹糸|粘土|柿渋|砂鉄|杉皮|にかわ|麻|苔|湧き水
role 職人|船頭|杜氏|庭師|指物師|漁師|染師|番人|住職|大工|陶工|研ぎ師|行商人|教師|郵便局長|女将|見習い|炭焼き
family 佐伯|三枝|長峰|榊原|水無瀬|柏木|野々村|真壁|早瀬|小笠原|鷹野|千種|有馬|冬木|八重樫|月岡
place 山あいの村|入り江の町|峠の茶屋|旧街道|川沿いの工房|北の漁港|城下町|島の南岸|温泉宿の裏手|神社の境内|
    棚田のほとり|運河の岸|朝市|谷の集落|古い駅舎|盆地の外れ
time 雪解けの頃|梅雨の前|夜明け前|祭りの翌日|霜が降りる朝|盆の終わり|大正の末|戦後まもなく|満月の晩|収穫の後|
    冬至の週|三年に一度|百年ほど前|昼下がり|台風の去った日|春先
adj 丈夫な|色の深い|素朴な|見事な|ひび割れた|軽い|珍しい|煤けた|滑らかな|重たい|頑固な|小ぶりな|朱色の|年代物の|
    冷たい|香り高い|不揃いな|艶のある
num 二|三|四|五|六|七|八|十二|十五|二十|三十|四十|六十|八十
act 磨く|直す|運ぶ|選ぶ|並べる|乾かす|試す|描く|数える|預かる|譲る|温める|削る|包む|重ねる|仕上げる
did 磨いた|直した|運んだ|選んだ|並べた|乾かした|試した|描いた|数えた|預かった|譲った|温めた|削った|包んだ|重ねた|
    仕上げた
how ゆっくり|黙って|何度も|素手で|手早く|丁寧に|ひとりで|夜通し|惜しみなく|念入りに|口笛を吹きながら|笑いながら
why 湿気を嫌う|値が上がった|後継ぎがいない|火を恐れる|雨が続いた|客が絶えない|道が細い|風向きが変わる|
    記録が残らない|潮が早い|音が響く|手間がかかる
""")

PATTERNS = """
{time}、{family}さんは{place}で{adj}{thing}を{how}{did}。
{place}に残る{thing}は、{stuff}と{stuff}を{num}度も{act}ことで知られる。
{role}の{family}は、{why}からこそ{thing}を{how}{act}のだと語る。
{adj}{stuff}がなければ{thing}は{num}年ともたない、と{place}の{role}は言う。
{num}人の{role}が{time}に集まり、{thing}と{thing}を{did}。
古い帳面には、{family}家が{stuff}を{num}俵{did}と{time}の日付で書かれている。
{thing}の良し悪しは{stuff}で決まると{role}たちは{place}で教わる。
{why}ため、{time}には{role}が{how}{thing}を{act}。
{family}の祖父は{place}から{adj}{thing}を{num}里も{how}{did}。
今では{thing}を{act}{role}は{num}人しかいないが、{place}には{adj}{stuff}がまだある。
{stuff}の匂いがすると、{role}は{time}でも手を止めて{thing}を見に行く。
{adj}{thing}より{adj}{thing}を好む{role}が{place}には多い。
もし{why}なら、{stuff}を{how}{act}ほかに道はない。
{family}さんの{thing}は{num}円で売られ、{time}に{place}へ戻ってきた。
子どもたちは{place}で{stuff}を{did}後、{role}に{thing}の話をせがむ。
写真には{family}と{adj}{thing}、それに{num}個の{thing}が写っている。
{thing}を{act}には{stuff}が{num}貫、{role}が{num}人要る。
{role}は{stuff}を信じ、女房は{stuff}を信じ、{thing}は{time}に{how}割れた。
{place}の{role}に聞くと、{thing}は{why}ので{how}{act}そうだ。
{time}の市では、{adj}{stuff}が{thing}の{num}倍の値をつけた。
{family}という{role}が{thing}を初めて{did}のは{time}だった。
誰も{act}ことのなかった{thing}を、{family}は{place}で{how}{did}。
{stuff}は{num}日寝かせ、{stuff}は{time}に混ぜるのが{place}の流儀だ。
{why}と知りながら、{role}たちは{adj}{thing}を{how}{did}。
博物館は{place}の{thing}を{num}点、{family}家から{did}。
{how}{act}うちに、{stuff}は{adj}{thing}の色になる。
{family}と{family}は、{stuff}の扱いをめぐって{time}に仲違いした。
{place}では{thing}のことを、{adj}{stuff}と呼ぶ{role}もいる。
{num}年前の{time}、{thing}は{role}の手で{place}へ移された。
この{adj}{thing}を{act}時、{role}は必ず{stuff}を懐に入れた。
""".strip().splitlines()

TITLES = """
{place}の{adj}{thing}
{family}さんと{thing}
{stuff}を{act}{role}
{time}の{thing}
{thing}、{stuff}、{role}
""".strip().splitlines()


class Japanese:
    """Sentences and titles."""

    patterns, titles = PATTERNS, TITLES
    gram, sentence_chars_min = 10, 24

    def __init__(self, dice):
        self.dice = dice

    def units(self, text):
        return [character for character in text if character not in "、。"]

    def sentence(self, pattern, _topic):
        return re.sub(r"\{(\w+)\}", lambda slot: self.dice.one(WORDS[slot[1]]), pattern)

    def joined(self, sentences):
        return "".join(sentences)
