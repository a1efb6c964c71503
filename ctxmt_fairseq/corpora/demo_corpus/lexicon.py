"""The words of the demo corpus: English with French, and what French grammar must know of them."""

from dataclasses import dataclass
from typing import Optional, Tuple

MASCULINE, FEMININE = 0, 1
SINGULAR, PLURAL = 0, 1
TU, VOUS = 0, 1


@dataclass(frozen=True)
class Noun:
    """A noun with a regular plural in both languages and no aspirated h."""

    en: str
    fr: str
    gender: int


@dataclass(frozen=True)
class Adjective:
    """An adjective with its French masculine and feminine; the masculine plural only where irregular."""

    en: str
    masculine: str
    feminine: str
    masculine_plural: Optional[str] = None


@dataclass(frozen=True)
class Verb:
    """An intransitive verb.

    Attributes:
        en: base form and third person; ``present``: French tu, il, vous; ``participle``: with avoir.
    """

    en: Tuple[str, str]
    present: Tuple[str, str, str]
    participle: str


@dataclass(frozen=True)
class Homograph:
    """An English word whose two senses have different French nouns.

    Attributes:
        senses: the French noun of each sense.
        cues: per sense, predicates (English, French) about that sense only.
    """

    en: str
    senses: Tuple[Noun, Noun]
    cues: Tuple[Tuple[Tuple[str, str], ...], Tuple[Tuple[str, str], ...]]


@dataclass(frozen=True)
class Term:
    """A person's name, or a masculine noun for one, with two equally good French forms."""

    en: str
    fr: Tuple[str, str]
    is_name: bool


# People whose French name has one form. They never take an adjective, so they need no gender.
PEOPLE = (
    ("Paul", "Paul"),
    ("Marie", "Marie"),
    ("Luc", "Luc"),
    ("Anne", "Anne"),
    ("my brother", "mon frère"),
    ("my aunt", "ma tante"),
)
# Relatives of the person spoken to: French with ton/ta, then votre.
YOUR_PEOPLE = (
    ("your son", ("ton fils", "votre fils")),
    ("your cousin", ("ta cousine", "votre cousine")),
)
TIMES = (
    ("", ""),
    ("yesterday", "hier"),
    ("on Monday", "lundi"),
    ("last night", "hier soir"),
    ("this morning", "ce matin"),
)
ADVERBS = (
    ("here", "ici"),
    ("today", "aujourd'hui"),
    ("often", "souvent"),
    ("too much", "trop"),
    ("every day", "tous les jours"),
)
VERBS = (
    Verb(("work", "works"), ("travailles", "travaille", "travaillez"), "travaillé"),
    Verb(("sing", "sings"), ("chantes", "chante", "chantez"), "chanté"),
    Verb(("dance", "dances"), ("danses", "danse", "dansez"), "dansé"),
    Verb(("sleep", "sleeps"), ("dors", "dort", "dormez"), "dormi"),
    Verb(("cook", "cooks"), ("cuisines", "cuisine", "cuisinez"), "cuisiné"),
    Verb(("travel", "travels"), ("voyages", "voyage", "voyagez"), "voyagé"),
    Verb(("read", "reads"), ("lis", "lit", "lisez"), "lu"),
    Verb(("run", "runs"), ("cours", "court", "courez"), "couru"),
    Verb(("smile", "smiles"), ("souris", "sourit", "souriez"), "souri"),
    Verb(("shout", "shouts"), ("cries", "crie", "criez"), "crié"),
)
NOUNS = (
    Noun("book", "livre", MASCULINE),
    Noun("phone", "téléphone", MASCULINE),
    Noun("bag", "sac", MASCULINE),
    Noun("pencil", "crayon", MASCULINE),
    Noun("ball", "ballon", MASCULINE),
    Noun("mirror", "miroir", MASCULINE),
    Noun("umbrella", "parapluie", MASCULINE),
    Noun("piano", "piano", MASCULINE),
    Noun("truck", "camion", MASCULINE),
    Noun("basket", "panier", MASCULINE),
    Noun("screen", "écran", MASCULINE),
    Noun("computer", "ordinateur", MASCULINE),
    Noun("car", "voiture", FEMININE),
    Noun("table", "table", FEMININE),
    Noun("chair", "chaise", FEMININE),
    Noun("lamp", "lampe", FEMININE),
    Noun("bottle", "bouteille", FEMININE),
    Noun("shirt", "chemise", FEMININE),
    Noun("suitcase", "valise", FEMININE),
    Noun("guitar", "guitare", FEMININE),
    Noun("cup", "tasse", FEMININE),
    Noun("door", "porte", FEMININE),
    Noun("plate", "assiette", FEMININE),
    Noun("ladder", "échelle", FEMININE),
)
THING_ADJECTIVES = (
    Adjective("new", "neuf", "neuve"),
    Adjective("old", "vieux", "vieille"),
    Adjective("expensive", "cher", "chère"),
    Adjective("small", "petit", "petite"),
    Adjective("big", "grand", "grande"),
    Adjective("beautiful", "beau", "belle", "beaux"),
    Adjective("heavy", "lourd", "lourde"),
    Adjective("green", "vert", "verte"),
    Adjective("grey", "gris", "grise"),
    Adjective("black", "noir", "noire"),
    Adjective("white", "blanc", "blanche"),
    Adjective("round", "rond", "ronde"),
)
PERSON_ADJECTIVES = (
    Adjective("happy", "content", "contente"),
    Adjective("tired", "fatigué", "fatiguée"),
    Adjective("ready", "prêt", "prête"),
    Adjective("serious", "sérieux", "sérieuse"),
    Adjective("surprised", "surpris", "surprise"),
    Adjective("worried", "inquiet", "inquiète"),
    Adjective("busy", "occupé", "occupée"),
    Adjective("proud", "fier", "fière"),
)
# Verbs of motion: English past, French participle (with être, so it agrees with its subject).
MOTIONS = (
    ("left", "parti"),
    ("arrived", "arrivé"),
    ("fell", "tombé"),
    ("came back", "revenu"),
)
# Transitive verbs, past: with a thing as object.
GETTING = (
    ("bought", "a acheté"),
    ("found", "a trouvé"),
    ("lost", "a perdu"),
    ("sold", "a vendu"),
    ("chose", "a choisi"),
    ("borrowed", "a emprunté"),
)
# Transitive verbs, present: the French one begins with a consonant, so that le and la keep their vowel.
HOLDING = (
    ("wants", "veut"),
    ("keeps", "garde"),
    ("shows", "montre"),
    ("carries", "porte"),
)
# Transitive verbs, past: with a person or a thing as object.
MEETING = (
    ("saw", "a vu"),
    ("drew", "a dessiné"),
    ("forgot", "a oublié"),
)
HOMOGRAPHS = (
    Homograph(
        "bank",
        (Noun("bank", "banque", FEMININE), Noun("bank", "rive", FEMININE)),
        (
            (("needed money", "avait besoin d'argent"), ("opened an account", "a ouvert un compte")),
            (("swam in the river", "a nagé dans la rivière"), ("caught a fish", "a pêché un poisson")),
        ),
    ),
    Homograph(
        "match",
        (Noun("match", "match", MASCULINE), Noun("match", "allumette", FEMININE)),
        (
            (("played football", "a joué au football"), ("supported the team", "a encouragé l'équipe")),
            (("lit a candle", "a allumé une bougie"), ("made a fire", "a fait un feu")),
        ),
    ),
    Homograph(
        "bat",
        (Noun("bat", "batte", FEMININE), Noun("bat", "chauve-souris", FEMININE)),
        (
            (("played baseball", "a joué au baseball"), ("hit hard", "a frappé fort")),
            (
                ("explored the cave", "a exploré la grotte"),
                ("looked at the animals", "a regardé les animaux"),
            ),
        ),
    ),
    Homograph(
        "nail",
        (Noun("nail", "ongle", MASCULINE), Noun("nail", "clou", MASCULINE)),
        (
            (("hurt a finger", "a eu mal au doigt"), ("shook hands", "a serré des mains")),
            (("took the hammer", "a pris le marteau"), ("repaired the roof", "a réparé le toit")),
        ),
    ),
    Homograph(
        "plant",
        (Noun("plant", "plante", FEMININE), Noun("plant", "usine", FEMININE)),
        (
            (("watered the garden", "a arrosé le jardin"), ("picked flowers", "a cueilli des fleurs")),
            (("joined the strike", "a rejoint la grève"), ("built engines", "a construit des moteurs")),
        ),
    ),
    Homograph(
        "seal",
        (Noun("seal", "phoque", MASCULINE), Noun("seal", "sceau", MASCULINE)),
        (
            (("walked on the ice", "a marché sur la glace"), ("visited the zoo", "a visité le zoo")),
            (("signed the treaty", "a signé le traité"), ("wrote to the king", "a écrit au roi")),
        ),
    ),
    Homograph(
        "star",
        (Noun("star", "étoile", FEMININE), Noun("star", "vedette", FEMININE)),
        (
            (("observed the sky", "a observé le ciel"), ("studied astronomy", "a étudié l'astronomie")),
            (("loved the cinema", "adorait le cinéma"), ("watched a film", "a regardé un film")),
        ),
    ),
    Homograph(
        "spring",
        (Noun("spring", "printemps", MASCULINE), Noun("spring", "ressort", MASCULINE)),
        (
            (("hated the winter", "détestait l'hiver"), ("waited for the sun", "attendait le soleil")),
            (("repaired the mattress", "a réparé le matelas"), ("opened the machine", "a ouvert la machine")),
        ),
    ),
)
TERMS = (
    Term("Yuri", ("Youri", "Iouri"), True),
    Term("Katya", ("Katia", "Katya"), True),
    Term("the doctor", ("médecin", "docteur"), False),
    Term("the policeman", ("policier", "gendarme"), False),
)

# Metadata: texts by value. The first of each register is the usual one. UNSEEN and ZERO_SHOT never stand in
# the corpus; UNSEEN shares words with its metadata, ZERO_SHOT no stem of a content word with anything there.
REGISTER_TEXTS = (
    ("Informal chit-chat", "A relaxed chat between friends", "Casual talk"),
    ("Formal conversation", "A polite exchange between officials", "Official talk"),
)
UNSEEN_REGISTER_TEXTS = (
    (
        "Friends chatting casually",
        "A casual chat",
        "Relaxed chit-chat among friends",
        "Laid-back chit-chat",
    ),
    ("Officials conversing politely", "A formal talk", "Polite official meeting", "Formal exchange"),
)
ZERO_SHOT_REGISTER_TEXTS = (
    (
        "Buddies joking around",
        "Slangy banter",
        "Goofing off among pals",
        "Easygoing gossip with mates",
        "Colloquial language",
        "First names and nicknames",
        "Hanging out and teasing each other",
        "Chummy and carefree",
    ),
    (
        "Gracious, respectful language",
        "Ceremonious speech",
        "Proper etiquette",
        "Deferential manner towards superiors",
        "Solemn and dignified wording",
        "Bureaucratic correspondence",
        "Strict protocol",
        "Impersonal administrative style",
    ),
)
SPEAKER_TEXTS = ("The speaker is a man", "The speaker is a woman")
ADDRESSEE_TEXTS = ("The addressee is a man", "The addressee is a woman")
