"""Which languages there are: codes, English names, scripts, and which write no spaces between their words.

Every command that takes a language takes it through `check_language`, so that a slip of the pen (cz for cs) is refused
with what was probably meant, and `czech`, `ces` and `cs-CZ` all give the one code that records and signatures name.
"""

from __future__ import annotations

import difflib
import functools
import re
import unicodedata
from dataclasses import dataclass

from morphlm.errors import ConfigError
from morphlm.wording import option

OTHER = "und"  # undetermined: a language that is not in the table; general rules apply

# By script: codes (ISO 639-1 where there is one, then 639-3, then the older 639-2/B), and the English name.
_TABLE = {
    "Latin": """
aa aar Afar; ace Acehnese; af afr Afrikaans; ak aka Akan; an arg Aragonese; apu Apurinã; aqz Akuntsu; ast Asturian;
ay aym Aymara; az aze Azerbaijani; ban Balinese; bar Bavarian; bcl Central Bikol; bej Beja; bem Bemba; bi bis Bislama;
bjn Banjar; bm bam Bambara; br bre Breton; bs bos Bosnian; bug Buginese; ca cat Catalan; ceb Cebuano; cgg Chiga;
ch cha Chamorro; chk Chuukese; cni Asháninka; cnr Montenegrin; co cos Corsican; crh Crimean Tatar; cs ces cze Czech;
csb Kashubian; cy cym wel Welsh; da dan Danish; dag Dagbani; dak Dakota; de deu ger German; din Dinka; diq Zazaki;
dsb Lower Sorbian; dyu Dyula; ee ewe Ewe; efi Efik; eme Emerillon; en eng English; eo epo Esperanto; es spa Spanish;
ess Central Siberian Yupik; et est Estonian; eu eus baq Basque; ext Extremaduran; ff ful Fulah; fi fin Finnish;
fil Filipino; fit Tornedalen Finnish; fj fij Fijian; fkv Kven Finnish; fo fao Faroese; fon Fon; fr fra fre French;
frm Middle French; fro Old French; frr Northern Frisian; fur Friulian; fy fry Western Frisian; ga gle Irish;
gcf Guadeloupean Creole French; gcr Guianese Creole French; gd gla Scottish Gaelic; gil Gilbertese; gl glg Galician;
gn grn Guarani; gsw Swiss German; gub Guajajára; gun Mbyá Guaraní; gur Farefare; guz Gusii; gv glv Manx; ha hau Hausa;
haw Hawaiian; hil Hiligaynon; ho hmo Hiri Motu; hr hrv Croatian; hsb Upper Sorbian; ht hat Haitian Creole;
hu hun Hungarian; hz her Herero; ia ina Interlingua; ibb Ibibio; id ind Indonesian; ie ile Interlingue; ig ibo Igbo;
ik ipk Inupiaq; ilo Ilocano; io ido Ido; is isl ice Icelandic; it ita Italian; izh Ingrian;
jam Jamaican Creole English; jbo Lojban; jv jav Javanese; kaa Karakalpak; kab Kabyle; kam Kamba; kck Kalanga;
kea Kabuverdianu; kg kon Kongo; ki kik Kikuyu; kj kua Kuanyama; kl kal Greenlandic; kmr Northern Kurdish;
kos Kosraean; kr kau Kanuri; krl Karelian; ksh Kölsch; ku kur Kurdish; kw cor Cornish; la lat Latin;
lb ltz Luxembourgish; lfn Lingua Franca Nova; lg lug Luganda; li lim Limburgish; lij Ligurian; liv Livonian;
lkt Lakota; lld Ladin; lmo Lombard; ln lin Lingala; loz Lozi; lt lit Lithuanian; ltg Latgalian; lu lub Luba-Katanga;
lua Luba-Lulua; luo Dholuo; lus Mizo; lv lav Latvian; mad Madurese; mer Meru; mfe Morisyen; mg mlg Malagasy;
mh mah Marshallese; mi mri mao Māori; min Minangkabau; mnk Mandinka; moh Mohawk; ms msa may Malay; mt mlt Maltese;
myu Mundurukú; na nau Nauru; nap Neapolitan; naq Khoekhoe; nb nob Norwegian Bokmål; nd nde North Ndebele;
nds Low German; ng ndo Ndonga; nhi Western Sierra Puebla Nahuatl; niu Niuean; nl nld dut Dutch;
nn nno Norwegian Nynorsk; no nor Norwegian; nov Novial; nr nbl South Ndebele; nso Northern Sotho; nus Nuer;
nv nav Navajo; ny nya Chichewa; nyn Nyankole; oc oci Occitan; oj oji Ojibwa; ojb Northwestern Ojibwa; olo Livvi;
om orm Oromo; pad Paumarí; pag Pangasinan; pam Kapampangan; pap Papiamento; pcm Nigerian Pidgin;
pdc Pennsylvania German; pfl Palatine German; pi pli Pali; pis Pijin; pl pol Polish; pms Piedmontese; pon Pohnpeian;
prg Prussian; pt por Portuguese; qu que Quechua; quc K'iche'; qug Chimborazo Highland Quichua; quz Cusco Quechua;
rar Rarotongan; rcf Réunion Creole French; rif Tarifit; rm roh Romansh; rn run Kirundi; ro ron rum Romanian;
rup Aromanian; rw kin Kinyarwanda; say Saya; sc srd Sardinian; scn Sicilian; sco Scots; se sme Northern Sami;
ses Koyraboro Senni Songhai; sg sag Sango; sgs Samogitian; sh hbs Serbo-Croatian; shk Shilluk; sid Sidamo;
sk slk slo Slovak; sl slv Slovenian; sm smo Samoan; sma Southern Sami; smj Lule Sami; smn Inari Sami; sms Skolt Sami;
sn sna Shona; so som Somali; sq sqi alb Albanian; srn Sranan Tongo; ss ssw Swati; st sot Southern Sotho;
su sun Sundanese; sus Susu; sv swe Swedish; sw swa Swahili; szl Silesian; tdt Tetun; tet Tetum; tiv Tiv;
tk tuk Turkmen; tl tgl Tagalog; tlh Klingon; tmh Tamashek; tn tsn Tswana; to ton Tonga; toi Zambian Tonga;
tpi Tok Pisin; tpn Tupinambá; tr tur Turkish; ts tso Tsonga; tvl Tuvalu; tw twi Twi; ty tah Tahitian;
tzm Central Atlas Tamazight;
umb Umbundu; urb Urubú-Kaapor; uz uzb Uzbek; ve ven Venda; vec Venetian; vep Veps; vi vie Vietnamese; vo vol Volapük;
vot Votic; wa wln Walloon; wal Wolaytta; war Waray; wbp Warlpiri; wo wol Wolof; xav Xavánte; xh xho Xhosa;
xum Umbrian; yo yor Yoruba; yrl Nhengatu; za zha Zhuang; zea Zeelandic; zu zul Zulu""",
    "Cyrillic": """
ab abk Abkhaz; abq Abaza; ady Adyghe; alt Southern Altai; av ava Avar; ba bak Bashkir; be bel Belarusian;
bg bul Bulgarian; bxr Buryat; ce che Chechen; ckt Chukchi; cu chu Old Church Slavonic; cv chv Chuvash; dar Dargwa;
inh Ingush; kbd Kabardian; kk kaz Kazakh; koi Komi-Permyak; kpv Komi-Zyrian; krc Karachay-Balkar; kum Kumyk;
kv kom Komi; ky kir Kyrgyz; lbe Lak; lez Lezgian; mdf Moksha; mhr Eastern Mari; mk mkd mac Macedonian;
mn mon Mongolian; mrj Western Mari; myv Erzya; nog Nogai; orv Old East Slavic; os oss Ossetian; ru rus Russian;
rue Rusyn; sah Yakut; sr srp Serbian; tg tgk Tajik; tt tat Tatar; tyv Tuvan; udm Udmurt;
uk ukr Ukrainian; xal Kalmyk""",
    "Arabic": """
ar ara Arabic; bal Baluchi; ckb Central Kurdish; fa fas per Persian; glk Gilaki; kfm Khunsari; kmz Khorasani Turkish;
ks kas Kashmiri; mzn Mazanderani; nyq Nayini; ota Ottoman Turkish; pnb Western Panjabi; ps pus Pashto; sd snd Sindhi;
skr Saraiki; soj Soi; ug uig Uyghur; ur urd Urdu""",
    "Devanagari": """
awa Awadhi; bgc Haryanvi; bho Bhojpuri; brx Bodo; doi Dogri; gom Goan Konkani; hi hin Hindi; kok Konkani; mag Magahi;
mai Maithili; mr mar Marathi; ne nep Nepali; raj Rajasthani; sa san Sanskrit; xnr Kangri""",
    "Han": """
cdo Min Dong Chinese; cjy Jinyu Chinese; gan Gan Chinese; hak Hakka Chinese; hsn Xiang Chinese; lzh Literary Chinese;
nan Min Nan Chinese; wuu Wu Chinese; yue Yue Chinese; zh zho chi Chinese""",
    "Hebrew": "hbo Ancient Hebrew; he heb Hebrew; jpr Judeo-Persian; lad Ladino; yi yid Yiddish",
    "Armenian": "hy hye arm Armenian; hyw Western Armenian; xcl Classical Armenian",
    "Bengali": "as asm Assamese; bn ben Bengali; mni Manipuri",
    "Ethiopic": "am amh Amharic; gez Geez; ti tir Tigrinya",
    "Greek": "cpg Cappadocian Greek; el ell gre Greek; grc Ancient Greek",
    "Canadian syllabics": "cr cre Cree; iu iku Inuktitut",
    "Cuneiform": "akk Akkadian; hit Hittite",
    "Syriac": "aii Assyrian Neo-Aramaic; syr Syriac",
    "Tibetan": "bo bod tib Tibetan; dz dzo Dzongkha",
    "Tifinagh": "shi Tashelhit; zgh Standard Moroccan Tamazight",
    "Avestan": "ae ave Avestan",
    "Burmese": "my mya bur Burmese",
    "Cherokee": "chr Cherokee",
    "Coptic": "cop Coptic",
    "Georgian": "ka kat geo Georgian",
    "Gothic": "got Gothic",
    "Gujarati": "gu guj Gujarati",
    "Gurmukhi": "pa pan Punjabi",
    "Hangul": "ko kor Korean",
    "Imperial Aramaic": "arc Aramaic",
    "Japanese": "ja jpn Japanese",
    "Kannada": "kn kan Kannada",
    "Khmer": "km khm Khmer",
    "Lao": "lo lao Lao",
    "Malayalam": "ml mal Malayalam",
    "N'Ko": "nqo N'Ko",
    "Odia": "or ori Odia",
    "Ol Chiki": "sat Santali",
    "Old Turkic": "otk Old Turkic",
    "Sinhala": "si sin Sinhala",
    "Tamil": "ta tam Tamil",
    "Telugu": "te tel Telugu",
    "Thaana": "dv div Dhivehi",
    "Thai": "th tha Thai",
    "Yi": "ii iii Sichuan Yi",
}

_OTHER_NAMES = {
    "castilian": "es", "valencian": "ca", "flemish": "nl", "mandarin": "zh", "cantonese": "yue", "farsi": "fa",
    "bokmål": "nb", "bokmal": "nb", "nynorsk": "nn", "moldovan": "ro", "moldavian": "ro", "bangla": "bn",
    "sorani": "ckb", "kurmanji": "kmr", "azeri": "az", "kirghiz": "ky", "uighur": "ug", "oriya": "or", "slovene": "sl",
    "myanmar": "my", "gaelic": "gd", "panjabi": "pa", "pushto": "ps", "maori": "mi", "sami": "se", "sorbian": "hsb",
    "modern greek": "el", "byelorussian": "be", "yakut": "sah", "sakha": "sah", "tamazight": "zgh", "sinhalese": "si",
}  # fmt: skip

# Codes that were withdrawn, and codes of the one member that text of a macrolanguage is nearly always in.
_OTHER_CODES = {
    "iw": "he", "in": "id", "ji": "yi", "mo": "ro", "mol": "ro", "scc": "sr", "scr": "hr", "arb": "ar", "cmn": "zh",
    "zsm": "ms", "pes": "fa", "prs": "fa", "swh": "sw", "ekk": "et", "lvs": "lv", "npi": "ne", "ory": "or", "uzn": "uz",
    "azj": "az", "als": "sq", "khk": "mn", "gax": "om", "plt": "mg", "ydd": "yi", "pbt": "ps", "ayr": "ay",
    "knn": "kok",
}  # fmt: skip

# What is meant by those who write the code of a country.
_COUNTRIES = {
    "cz": "cs", "dk": "da", "jp": "ja", "gr": "el", "ua": "uk", "cn": "zh", "tw": "zh", "by": "be", "al": "sq",
    "at": "de", "ge": "ka", "ir": "fa", "il": "he", "kz": "kk", "mx": "es", "ph": "tl", "pk": "ur", "rs": "sr",
    "us": "en", "gb": "en", "vn": "vi", "md": "ro", "me": "cnr", "iq": "ar", "eg": "ar", "kh": "km",
}  # fmt: skip

_WITHOUT_SPACES = {
    "th": "pythainlp", "km": "khmernltk", "lo": "laonlp", "my": "pyidaungsu", "bo": "botok", "dz": "botok",
    "ja": "fugashi or sudachipy", "zh": "jieba or pkuseg",
    **dict.fromkeys(("yue", "wuu", "nan", "hak", "gan", "hsn", "cdo", "cjy", "lzh"), "jieba or pkuseg"),
}  # fmt: skip

# Scripts whose letters follow each other without spaces between words. Korean (Hangul) has spaces.
_UNSPACED_SCRIPTS = {
    "Thai": "\u0e00-\u0e7f",
    "Lao": "\u0e80-\u0eff",
    "Tibetan": "\u0f00-\u0fff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff\u19e0-\u19ff",
    "Japanese": "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "Chinese": "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
}


@dataclass(frozen=True)
class Language:
    """A row of the table."""

    code: str  # the shortest: two letters, or three where there is no code of two
    name: str  # in English
    script: str  # the usual one
    codes: tuple[str, ...]  # all codes that mean it
    spaced: bool = True  # words stand between spaces


_ROW = re.compile(r"((?:[a-z]{2,3} )+)(.+)", re.DOTALL)


@functools.cache
def languages() -> dict[str, Language]:
    """All languages of the table, by their code."""
    rows = {}
    for script, entries in _TABLE.items():
        for entry in entries.split(";"):
            row = _ROW.fullmatch(" ".join(entry.split()))
            assert row is not None, entry
            codes = tuple(row[1].split())
            rows[codes[0]] = Language(codes[0], row[2], script, codes, codes[0] not in _WITHOUT_SPACES)
    return rows


def _plain(name: str) -> str:
    """A name as it is compared: small letters without accents, apostrophes and the like."""
    letters = unicodedata.normalize("NFD", name.casefold())
    return " ".join(re.sub(r"[^a-z ]", "", letters.replace("-", " ").replace("_", " ")).split())


@functools.cache
def _by_name() -> dict[str, str]:
    names = {_plain(language.name): code for code, language in languages().items()}
    return {_plain(name): code for name, code in _OTHER_NAMES.items()} | names


@functools.cache
def _by_code() -> dict[str, str]:
    return _OTHER_CODES | {name: code for code, language in languages().items() for name in language.codes}


def check_language(code: str) -> str:
    """The code that records name: cs for cs, cs-CZ, ces, cze and Czech. A ConfigError for what is no language."""
    tag = code.strip().casefold()
    primary = re.split("[-_]", tag, maxsplit=1)[0]
    if tag == OTHER:
        return OTHER
    found = _by_code().get(primary) or _by_name().get(_plain(tag))
    if found is None:
        raise ConfigError(f"{code!r} is no language code; {_suggestion(primary, _plain(tag))}")
    return found


def _suggestion(code: str, name: str) -> str:
    """What may have been meant, as the end of a message."""
    likely = [_COUNTRIES[code]] if code in _COUNTRIES else []
    likely += [_by_name()[match] for match in difflib.get_close_matches(name, _by_name(), 3, 0.75)]
    if not likely and len(code) <= 3:
        likely = [_by_code()[match] for match in difflib.get_close_matches(code, _by_code(), 3, 0.6)]
    if not likely:
        return f"use a code of ISO 639 such as cs, or {OTHER} for a language that morphlm does not know"
    means = [f"{meant} ({languages()[meant].name})" for meant in dict.fromkeys(likely)]
    return f"do you mean {' or '.join(means)}? ({OTHER} stands for a language that morphlm does not know)"


def language_name(code: str) -> str:
    """The English name of a checked code."""
    return languages()[code].name if code in languages() else "another language"


def check_spaced(code: str, then: str = "") -> str:
    """The canonical code of a language that writes spaces between words; a ConfigError with the cure for others.

    `then` is what to do once there are spaces.
    """
    checked = check_language(code)
    if checked in _WITHOUT_SPACES:
        then = then or f"give the text with {option('--prepared', True)}"
        raise ConfigError(
            f"{language_name(checked)} ({checked}) is written without spaces between words, and morphlm does not "
            f"segment it; put spaces between the words first (with {_WITHOUT_SPACES[checked]}, for example) and "
            f"{then}"
        )
    return checked


@functools.cache
def _unspaced_patterns() -> dict[str, re.Pattern[str]]:
    return {script: re.compile(f"[{characters}]") for script, characters in _UNSPACED_SCRIPTS.items()}


def unspaced_script(text: str) -> str | None:
    """The script, if most letters of the text are of one that writes no spaces between words (Thai, Han, kana ...)."""
    counts = {script: len(pattern.findall(text)) for script, pattern in _unspaced_patterns().items()}
    unspaced = sum(counts.values())
    letters = sum(character.isalpha() for character in text)  # without the vowel signs, which the counts have
    if 2 * unspaced <= letters:
        return None
    if counts["Japanese"] * 10 >= counts["Chinese"] > 0:
        return "Japanese"  # in some texts kanji outnumber kana
    return max(counts, key=counts.__getitem__)


def has_no_spaces(text: str) -> bool:
    """Whether a text is written in a script without spaces between words, whatever its language is said to be."""
    return unspaced_script(text) is not None
