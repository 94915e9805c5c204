"""Writes computed-*.json and stems.json beside this file by running the reference packages.

Python 3.11 with, exactly:
    rapidfuzz==3.14.6 sacrebleu==2.6.0 nltk==3.10.4 rouge-score==0.1.2 scikit-learn==1.9.1 regex==2026.11.9
No data of NLTK is needed: METEOR gets a WordNet that knows no synonym. Run oxfmt over the files afterwards.
"""

import json
import random
from pathlib import Path

import regex
from nltk.stem.porter import PorterStemmer
from nltk.translate.gleu_score import sentence_gleu
from nltk.translate.meteor_score import single_meteor_score
from rapidfuzz import fuzz
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

HERE = Path(__file__).parent
SOURCE = (
    "computed by vectors/make.py: rapidfuzz 3.14.6 (fuzz.ratio / 100), sacrebleu 2.6.0 (sentence_bleu / 100), "
    "nltk 3.10.4 (sentence_gleu, single_meteor_score without synonyms; words of sacrebleu's tokenizer 13a), "
    "rouge-score 0.1.2 (F1, no stemmer), scikit-learn 1.9.1 (CountVectorizer, cosine_similarity)"
)
ROUGE = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_3": "rouge3", "rouge_4": "rouge4", "rouge_5": "rouge5"}
ROUGE["rouge_l"] = "rougeL"

ENGLISH = """The parcel left the depot at seven and reached the customer before noon.
Our refund policy allows returns within 30 days; after that, store credit is offered.
The patient's temperature fell to 37.2 degrees, so the nurse stopped the treatment.
Add two eggs, a cup of flour and a pinch of salt, then stir until the batter is smooth.
I don't think it's going to rain, but we've packed the umbrellas anyway.
Paris is the capital of France.
The committee rejected the proposal because its costs were not properly estimated.
She said, "Turn left at the church," and walked away without another word.
Revenue grew 12.5% to $1,204,300 in the third quarter, driven by subscriptions.
To be or not to be, that is the question; to be is what it is.
The quick brown foxes were jumping over the lazy dogs, and the dogs were sleeping.
He is running late: he ran yesterday, he runs every day, he will run tomorrow.
Please restart the router, wait for a minute (or two), and try connecting again.
The function returns a list of tuples [(1, 'a'), (2, 'b')] or raises ValueError.
State-of-the-art models are trained on well-known, openly-licensed collections.
Nobody expected the rehearsals to finish early; everybody was relieved when they did.""".split("\n")

OTHER = """Der Merkantilismus förderte Handel und Verkehr, größtenteils über Zölle und Maßnahmen.
Le château était fermé; l'élève n'a pas trouvé où entrer, hélas !
El niño comió piñas y después durmió la siesta. ¿Quién lo despertó?
Быстрая коричневая лиса перепрыгнула через ленивую собаку.
Η γρήγορη αλεπού πηδά πάνω από τον τεμπέλη σκύλο, ΟΔΥΣΣΕΥΣ.
İstanbul'da ışıklar sönünce ISPARTA'ya doğru yola çıktık.
敏捷的棕色狐狸跳过了懒狗。今天天气很好,我们去公园吧。
素早い茶色の狐はのろまな犬を飛び越える。カタカナとひらがな。
빠른 갈색 여우가 게으른 개를 뛰어넘는다.
الثعلب البني السريع يقفز فوق الكلب الكسول.
השועל החום המהיר קופץ מעל הכלב העצלן.
तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।
สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ
Great job 👍🏽👍🏽 see you 😀 tomorrow 👩‍👩‍👧‍👦 at 5 🕔!
cafe\u0301 na\u00efve nai\u0308ve fiance\u0301e \ufb01ne \u2460\u00bd\u00b2 x\u2082
a\u00a0b\u2003c\u3000d\u200be\ufefff\u0085g\x1ch\u2028i\tj\x0bk""".split("\n")

EDGES = [
    ("", ""), ("", "word"), ("word", ""), (" ", " "), ("\n\n", "\t"), ("a", "a"), ("a", "b"), ("A", "a"), ("5", "5"),
    ("5", "7"), ("word", "word"), ("word", "words"), ("Word", "word"), ("two words", "two words"), ("!!!", "!!!"),
    ("?", "!"), ("...", "."), ("the the the the the the the", "the cat is on the mat"), ("the " * 40, "the " * 7),
    ("a b c d e f g", "g f e d c b a"), ("abcdefg", "gfedcba"), ("yes", "Yes."), ("Yes", "yes, of course"),
    ("no", "yes"), ("42", "42.0"), ("3.14", "3,14"), ("1,000.50", "1000.50"), ("10-20", "10 - 20"), ("-5", "- 5"),
    ("U.S.A.", "USA"), ("e.g. this", "eg this"), ("&quot;x&quot; &amp; y", '"x" & y'), ("&amp;lt;", "&lt; <"),
    ("hyphen-\nated", "hyphenated"), ("ends with dash-\n", "ends with dash-"), ("<skipped>gone", "gone"),
    ("line\nbreak here", "line break here"), ("  spaces   around  ", "spaces around"), ("tab\tand\nline", "tab and line"),
    ("a_b c_d", "a b c d"), ("x" * 31, "x" * 32), ("ab" * 31, "ba" * 31), ("x" * 62 + "y", "y" + "x" * 62),
    ("a" * 65, "a" + chr(256) + "a" * 63), ("abc" * 50, "acb" * 50), ("{\"a\": 1}", "{\"a\":1}"), ("[1,2,3]", "[1, 2, 3]"),
    ("def f(x):\n    return x + 1\n", "def f(y):\n    return y + 1\n"), ("SELECT * FROM t;", "select * from t"),
    ("https://example.com/a?b=c&d=e", "https://example.com/a"), ("me@example.com", "you@example.com"),
    ("100%", "100 %"), ("$5", "5 $"), ("'quoted'", "quoted"), ("don't", "do n't"), ("rock'n'roll", "rock n roll"),
    ("\u0130", "i\u0307"), ("\u212a", "k"), ("\u00df", "ss"), ("\u03a3", "\u03c2"), ("\U0001f600", "\U0001f600"),
    ("\U0001f600\U0001f601", "\U0001f601\U0001f600"), ("\U0001f600.\U0001f600,", "\U0001f600 . \U0001f600 ,"),
    ("running runs ran", "run runner running"), ("dies died dying", "die dies died"), ("happy happily", "happiness happy"),
    ("relational rational", "relate ration"), ("skies news", "sky new"), ("yyyy yay", "yay yyyy"), ("a a a", "a a"),
]  # fmt: skip


def mutate(rng, text, words):
    """Another text that shares some words and some order with this one."""
    parts = text.split()
    for _ in range(rng.randint(0, 6)):
        change, at = rng.randrange(9), rng.randrange(len(parts))
        if change == 0 and len(parts) > 1:
            parts.pop(at)
        elif change == 1:
            parts.insert(at, rng.choice(words))
        elif change == 2:
            parts[at] = rng.choice(words)
        elif change == 3:
            parts.insert(at, parts[at])
        elif change == 4:
            parts[at] = rng.choice([parts[at].upper(), parts[at].lower(), parts[at].capitalize()])
        elif change == 5:
            parts[at] = rng.choice([parts[at] + "s", parts[at] + "ing", parts[at][:-1] or "x", parts[at] + ","])
        elif change == 6:
            parts = parts[at:] + parts[:at]
        elif change == 7:
            to = rng.randrange(len(parts))
            parts[at], parts[to] = parts[to], parts[at]
        else:
            parts = parts[: at + 1]
    return " ".join(parts)


def varied(seed, texts, count):
    rng = random.Random(seed)
    words = [word for text in texts for word in text.split()]
    made = []
    for index in range(count):
        text = texts[index % len(texts)]
        other = rng.choice(texts) if rng.random() < 0.1 else text
        made.append((mutate(rng, other, words), text))
    return made


def few_words(seed, count):
    """Long texts over few words: many repeats, many equal runs."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        words = rng.sample(["go", "going", "goes", "stop", "stops", "a", "the", ".", "hope", "hoped", "hoping"], 5)
        made.append(tuple(" ".join(rng.choices(words, k=rng.randint(1, 45))) for _ in range(2)))
    return made


class NoSynonyms:
    def synsets(self, _word):
        return []


def cosine(left, right):
    cut = lambda text: regex.findall(r"[\p{L}\p{M}\p{N}_]+", text)
    counter = CountVectorizer(tokenizer=cut, token_pattern=None, lowercase=True)
    try:
        return float(cosine_similarity(*counter.fit_transform([left, right]))[0][0])
    except ValueError:  # neither text has a word
        return 0.0


def scores(left, right):
    cut = lambda text: Tokenizer13a()(text.rstrip()).split()
    rouge = RougeScorer(list(ROUGE.values())).score(right, left)
    return {
        "cosine": cosine(left, right),
        "fuzzy_match": fuzz.ratio(left, right) / 100,
        "bleu": BLEU(effective_order=True).sentence_score(left, [right]).score / 100,
        "gleu": sentence_gleu([cut(right)], cut(left)),
        "meteor": single_meteor_score(cut(right), cut(left), wordnet=NoSynonyms()),
    } | {metric: float(rouge[name].fmeasure) for metric, name in ROUGE.items()}


def write(name, source, vectors):
    lines = ",\n".join(json.dumps(vector, ensure_ascii=True) for vector in vectors)
    text = f'{{\n"kind": "computed",\n"source": {json.dumps(source)},\n"vectors": [\n{lines}\n]\n}}\n'
    (HERE / name).write_text(text)


def short(value):
    return float(f"{value:.12g}")


def pairs(name, texts):
    vectors = []
    for left, right in texts:
        expected = {metric: short(score) for metric, score in scores(left, right).items()}
        vectors.append({"input": left, "reference": right, "expected": expected})
    write(name, SOURCE, vectors)


def stems():
    roots = """happ enjo relat condition ration vale hesit digit conform radic differ vile analog vietnam predic oper feudal
        decis hope callous form sensit sensib triplic electr good reviv allow infer airlin gyroscop adjust defens irrit
        replac depend adopt homolog commun activ angular effect bowdler prob ceas control rol yay syzyg fl d l t agr
        pl mot conflat troubl siz hop tan fal his fiz fil theo geo archaeo full hopeful z\u00fcg na\u00efv""".split()
    endings = """ s es ed ing y ies ied eed er ation ational tional alli ally fulli fully logi logy bli bly izer ization
        iveness ement ion sion tion ll lled e ate icate ical ness ous ousli""".split(" ")
    endings = [ending.strip() for ending in endings]
    known = "sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed"
    stemmer = PorterStemmer()
    words = known.split() + ["a", "as", "is", "ing", "bed", "yyyy", "yyying"] + sorted({root + ending for root in roots for ending in endings if random.Random(root + ending).random() < 0.5})
    source = "computed by vectors/make.py: nltk 3.10.4, PorterStemmer() in its default mode"
    write("stems.json", source, [[word, stemmer.stem(word)] for word in words])


pairs("computed-english.json", varied(1, ENGLISH, 160))
pairs("computed-unicode.json", varied(2, OTHER, 96))
pairs("computed-edges.json", EDGES)
pairs("computed-repeats.json", few_words(3, 60))
stems()
