"""Settings of films: genres, plots and sentences that go with a register without naming it.

Documents of implied formality have a setting in place of the field ``formality``. No content word here has a
stem of "Formal conversation", "Informal chit-chat" or of ``lexicon.ZERO_SHOT_REGISTER_TEXTS``.
"""

from dataclasses import dataclass
from itertools import product
from typing import List, Tuple

Pair = Tuple[str, str]


@dataclass(frozen=True)
class Setting:
    """Where a film plays.

    Attributes:
        genres: as a film database has them.
        heroes, stories: any of the one with any of the other is a plot.
        people, acts: English and French subjects and predicates, the French ones without agreement; any of
            the one with any of the other is a sentence.
    """

    genres: Tuple[str, ...]
    heroes: Tuple[str, ...]
    stories: Tuple[str, ...]
    people: Tuple[Pair, ...]
    acts: Tuple[Pair, ...]

    @property
    def plots(self) -> List[str]:
        """All plots, in a fixed order."""
        return [f"{hero} {story}" for hero, story in product(self.heroes, self.stories)]


INFORMAL_SETTINGS = (
    Setting(
        ("Comedy, Romance", "Family"),
        ("A crazy surfer", "A clumsy dad", "A cheeky girl from the city"),
        (
            "spends a wild summer holiday at the beach",
            "gets sunburnt and falls in love on an island",
            "parties on the sand with a bunch of tourists",
        ),
        (("the surfer", "le surfeur"), ("the tourist", "le touriste"), ("my sister", "ma sœur")),
        (
            ("ate ice cream on the beach", "a mangé une glace sur la plage"),
            ("made a sandcastle", "a fait un château de sable"),
            ("splashed in the waves", "a barboté dans les vagues"),
            ("got a sunburn", "a pris un coup de soleil"),
        ),
    ),
    Setting(
        ("Comedy, Family", "Comedy"),
        ("A shy teenager", "A high school kid", "A cheerleader"),
        (
            "falls for the coolest kid in class",
            "skips school to go to a gig",
            "throws a wild party while mum and dad are away",
        ),
        (
            ("the teenager", "l'adolescent"),
            ("the new kid", "le nouveau"),
            ("the cheerleader", "la pom-pom girl"),
        ),
        (
            ("skipped class", "a séché les cours"),
            ("took a silly selfie", "a pris un selfie idiot"),
            ("copied my homework", "a copié mes devoirs"),
            ("kissed everyone at the party", "a embrassé tout le monde à la fête"),
        ),
    ),
    Setting(
        ("Comedy", "Comedy, Crime"),
        ("A jolly drunk", "A barman", "An old drinker"),
        (
            "gets into trouble at the pub",
            "wakes up drunk in a stranger's bed",
            "bets all his beer on a game of darts",
        ),
        (("the barman", "le barman"), ("the darts player", "le joueur"), ("the drunk", "l'ivrogne")),
        (
            ("ordered another beer", "a commandé une autre bière"),
            ("threw darts at the wall", "a lancé des fléchettes sur le mur"),
            ("spilled the lager", "a renversé la blonde"),
            ("ate all the peanuts", "a mangé toutes les cacahuètes"),
        ),
    ),
    Setting(
        ("Animation, Family", "Adventure, Family"),
        ("A naughty little boy", "A funny grandma", "A clumsy daddy"),
        (
            "adopts a puppy that chews everything",
            "makes a mess of the kitchen",
            "hides from the babysitter under the bed",
        ),
        (("grandma", "mamie"), ("daddy", "papa"), ("the baby", "le bébé")),
        (
            ("chased the dog", "a poursuivi le chien"),
            ("made pancakes", "a fait des crêpes"),
            ("hid the toys", "a caché les jouets"),
            ("threw the pillows", "a lancé les oreillers"),
        ),
    ),
    Setting(
        ("Comedy, Music", "Music, Romance"),
        ("A broke rapper", "A guitarist with long hair", "A rowdy drummer"),
        (
            "dreams of a gig in the big city",
            "parties too hard on tour",
            "rocks the garage with the guys",
        ),
        (("the guitarist", "le guitariste"), ("the rapper", "le rappeur"), ("the drummer", "le batteur")),
        (
            ("cranked up the music", "a monté le son"),
            ("crashed on the couch", "a dormi sur le canapé"),
            ("rocked the garage", "a mis le feu au garage"),
            ("partied like crazy", "a fait la fête comme un fou"),
        ),
    ),
    Setting(
        ("Comedy, Sport", "Action, Comedy"),
        ("A skater", "A cocky goalie", "The worst kid in the gang"),
        (
            "shows off at the skate park",
            "steals the mascot of a rival gang",
            "pulls pranks in the locker room",
        ),
        (("the skater", "le skateur"), ("the goalie", "le gardien"), ("the whole gang", "toute la bande")),
        (
            ("broke the skateboard", "a cassé le skate"),
            ("tried a cool trick", "a tenté une figure géniale"),
            ("chugged a soda", "a vidé un soda"),
            ("kicked my butt", "a botté mes fesses"),
        ),
    ),
    Setting(
        ("Adventure, Comedy", "Adventure, Romance"),
        ("A student in a rusty van", "A hitchhiker", "A penniless backpacker"),
        (
            "goes on a crazy road trip",
            "gets lost on the way to a festival",
            "tells ghost stories by the campfire",
        ),
        (
            ("the hitchhiker", "l'auto-stoppeur"),
            ("the camper", "le campeur"),
            ("the backpacker", "le routard"),
        ),
        (
            ("slept in the van", "a dormi dans la camionnette"),
            ("grilled sausages by the campfire", "a grillé des saucisses au feu de camp"),
            ("got the tent wet", "a mouillé la tente"),
            ("ate the last marshmallow", "a mangé la dernière guimauve"),
        ),
    ),
    Setting(
        ("Animation, Comedy", "Comedy, Romance"),
        ("A messy roommate", "A lazy gamer", "A nerd"),
        (
            "eats pizza and plays video games all day",
            "never washes the dishes",
            "hooks up with the girl next door",
        ),
        (("my roommate", "mon coloc"), ("the gamer", "le gamer"), ("the nerd", "le geek")),
        (
            ("ordered pizza", "a commandé une pizza"),
            ("played video games", "a joué aux jeux vidéo"),
            ("left dirty socks on the floor", "a laissé des chaussettes sales par terre"),
            ("burped at the table", "a roté à table"),
        ),
    ),
)
FORMAL_SETTINGS = (
    Setting(
        ("Crime, Drama", "Drama, Mystery"),
        ("An honest judge", "A young lawyer", "A stubborn prosecutor"),
        (
            "must decide a murder trial",
            "pleads before the supreme court",
            "appeals against an unjust sentence",
        ),
        (("the judge", "le juge"), ("the lawyer", "l'avocat"), ("the prosecutor", "le procureur")),
        (
            ("opened the trial", "a ouvert le procès"),
            ("examined the evidence", "a examiné les preuves"),
            ("announced the verdict", "a annoncé le verdict"),
            ("questioned the witness", "a interrogé le témoin"),
        ),
    ),
    Setting(
        ("Drama, History", "Thriller, Politics"),
        ("An ambitious minister", "The prime minister", "A civil servant"),
        (
            "negotiates a budget with parliament",
            "investigates corruption in the government",
            "prepares a reform of the constitution",
        ),
        (("the minister", "le ministre"), ("the senator", "le sénateur"), ("the committee", "le comité")),
        (
            ("presented the budget", "a présenté le budget"),
            ("amended the law", "a amendé la loi"),
            ("consulted parliament", "a consulté le parlement"),
            ("received the delegation", "a reçu la délégation"),
        ),
    ),
    Setting(
        ("History, War", "Biography, Drama"),
        ("An ambassador", "A retired general", "A diplomat"),
        (
            "tries to prevent a war between two nations",
            "represents his country at a summit",
            "welcomes a foreign president",
        ),
        (("the ambassador", "l'ambassadeur"), ("the consul", "le consul"), ("the general", "le général")),
        (
            ("ratified the agreement", "a ratifié l'accord"),
            ("welcomed the president", "a accueilli le président"),
            ("attended the banquet", "a assisté au banquet"),
            ("delivered the note of protest", "a remis la note de protestation"),
        ),
    ),
    Setting(
        ("Drama", "Documentary"),
        ("An unemployed engineer", "A secretary", "A modest clerk"),
        (
            "applies for a position at an insurance company",
            "is invited to an interview by the director",
            "is examined for a senior post",
        ),
        (
            ("the recruiter", "le recruteur"),
            ("the director", "le directeur"),
            ("the applicant", "le candidat"),
        ),
        (
            ("reviewed the application", "a étudié la candidature"),
            ("presented the qualifications", "a présenté les diplômes"),
            ("offered the position", "a proposé le poste"),
            ("described the salary", "a décrit le salaire"),
        ),
    ),
    Setting(
        ("Biography, History", "Drama, Romance"),
        ("A loyal butler", "A young queen", "A widowed duchess"),
        (
            "serves the empire in times of crisis",
            "receives an aristocratic guest at the castle",
            "mourns the late emperor",
        ),
        (("the queen", "la reine"), ("the duke", "le duc"), ("the butler", "le majordome")),
        (
            ("announced the guests", "a annoncé les invités"),
            ("granted an audience", "a accordé une audience"),
            ("served tea in the drawing room", "a servi le thé au salon"),
            ("honoured the throne", "a honoré le trône"),
        ),
    ),
    Setting(
        ("Drama, Thriller", "Biography"),
        ("A chairman", "An accountant", "A wealthy investor"),
        (
            "discovers irregularities in the annual report",
            "negotiates the merger of two companies",
            "faces the shareholders",
        ),
        (
            ("the chairman", "le président"),
            ("the accountant", "le comptable"),
            ("the investor", "l'investisseur"),
        ),
        (
            ("approved the merger", "a approuvé la fusion"),
            ("presented the annual report", "a présenté le rapport annuel"),
            ("appointed the treasurer", "a nommé le trésorier"),
            ("adjourned the session", "a levé la séance"),
        ),
    ),
    Setting(
        ("Documentary, History", "Drama, Mystery"),
        ("A philosopher", "An elderly scholar", "The dean of a university"),
        (
            "presents a discovery to the academy",
            "defends a theory before the faculty",
            "is honoured with a medal",
        ),
        (("the philosopher", "le philosophe"), ("the dean", "le doyen"), ("the scholar", "le savant")),
        (
            ("gave the lecture", "a donné la conférence"),
            ("awarded the diploma", "a remis le diplôme"),
            ("cited the article", "a cité l'article"),
            ("published the treatise", "a publié le traité"),
        ),
    ),
    Setting(
        ("Drama, History", "Crime, Mystery"),
        ("A notary", "A banker", "The executor of an estate"),
        (
            "opens the testament of a count",
            "certifies a disputed contract",
            "advises a widow about her inheritance",
        ),
        (("the notary", "le notaire"), ("the executor", "l'exécuteur"), ("the banker", "le banquier")),
        (
            ("opened the testament", "a ouvert le testament"),
            ("certified the contract", "a certifié le contrat"),
            ("transferred the estate", "a transféré le domaine"),
            ("granted the loan", "a accordé le prêt"),
        ),
    ),
)
SETTINGS = (INFORMAL_SETTINGS, FORMAL_SETTINGS)  # by register
