"""French words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

WORDS = {
    "t": """traite traitent porte portent parle parlent concerne concernent""",
    "q": """dedans arrête arrêtent rapidement dessus hasardeuse langue impasse suspens moindre mystère mot introuvable blanc bredouille inconnu inconnue sèche""",
    "b": """tableau livre partie champ données""",
    "C": """si lorsque s'""",
    "W": """qui quoi quand où pourquoi comment combien quel quelle quels quelles lequel laquelle si""",
    "h": """peu guère""",
    "w": """pure relèverait serait simple que qu' pourrais ferais toute""",
    "g": """envoyé envoyée transmis transmise fourni fournis fournie fournis donné donnés remis remises communiqué partagé reçu sous mains disposition disposé confié joint soumis soumise yeux""",
    "Y": """vous tu votre vos te t'""",
    "D": """doc contexte* passage passages extrait extraits fragment fragments corpus docs éléments""",
    "d": """tutoriel* nécrologie* essai* éditorial* chronologie* exposé* mémoire* thèse* carnet* agenda* cahier* protocole* ordonnance* constat* tribune* manuscrit* encadré* encart* clause* paragraphe* changelog api wiki glossaire* forum* fil fils témoignage* procès verbal avis affiche* étiquette* facture* reçu diapositive* capture* colonne* jugement* arrêt arrêté circulaire* portrait* préface légende* questionnaire* encyclopédie* dictionnaire* itinéraire* programme* presse quotidien* magazine* blog billet* vidéo* sous-titres commentaire* sondage* déposition* audition* dépêche* chapitre manuel* release interview cv biographie* exposé* synthèse mémo* consigne* fichier tract* roman lettre document documents documentation texte textes source sources article articles manuel manuels guide guides
        brochure* dépliant* notice* page pages fichier* rapport rapports compte rendu* dossier dossiers fiche fiches archive* registre*
        matériel support supports note notes chapitre* section sections paragraphe* catalogue* annexe* mode
        étude* entretien* courriel* mail mails message* site web publication* chronique* base littérature transcription*
        contenu contenus pdf* résumé* feuille* livret* procès-verbal pièce pièces écrit écrits recette* prospectus bulletin*
        communiqué* liste* index biographie* papier papiers journal lignes résultats
        plaquette* reportage* entrée fonds revue""",
    "c": "contrat* police* règlement* politique* conditions convention bail garantie assurance statuts",
    "N": """dalle ne n' pas aucun aucune rien jamais ni guère sans nulle nul non point peu zéro pas-""",
    "S": """souffle confirme confirment infirme infirment va dit disent dire dise disent mentionne mentionnent précise précisent spécifie spécifient indique indiquent explique
        expliquent explicite explicitent révèle révèlent aborde abordent évoque évoquent évoquer parle parlent cite citent
        décrit décrivent détaille détaillent traite traitent figure figurent renseigne renseignent nomme nomment répond répondent
        stipule stipulent éclaire éclairent ressort ressortent dévoile dévoilent mot souffle soufflent rapporte
        rapportent consigne signale signalent touche énonce énoncent informe informent divulgue divulguent note notent
        communique communiquent développe développent attarde attardent penche penchent étend étendent question clarifie
        tranche tranchent relate relatent apprend apprennent""",
    "s": """connaît connaissent contient contiennent inclut incluent donne donnent fournit fournissent offre offrent apparaît apparait apparaissent
        permet permettent comporte comportent comprend comprennent trouve trouvent fait font apporte apportent va vont entre
        entrent suffit suffisent existe existent montre montrent recèle recèlent porte portent laisse
        laissent concerne concernent couvre couvrent aide aident propose proposent prévoit présente présentent dispose
        tire déduit déduire sait sert servent livre livrent""",
    "P": """mentionné* précisé* indiqué* spécifié* cité* évoqué* abordé* traité* décrit* détaillé* expliqué* renseigné*
        stipulé* explicité* signalé* consigné* documenté* énoncé* dévoilé* révélé* nommé* rapporté* communiqué* relevé*""",
    "p": """donné donnée fourni fournie clair claire clairs disponible disponibles trouvé trouvée inclus incluse contenu présent
        présente répertorié* déduit déduite déterminé déterminée établi établie connu connue explicite possible dit dite écrit écrite
        tranché tranchée résolu accessible évident tirer couvert couverte inféré""",
    "K": """trancher trancher recherche définir sais savoir dire répondre déterminer trouver trouvé trouvée trouve connaître établir préciser confirmer infirmer identifier
        déduire indiquer renseigner aider éclairer affirmer conclure vérifier vu vois voir relevé repéré déceler repérer
        localiser prononcer donner fournir fournis estimer évaluer juger deviner extraire tirer pu parviens trancher deviner
        apporter satisfaire obtenir découvrir rencontré tombé décelé identifié obtenu informer répond réponse certifier
        garantir avancer parler calculer expliquer communiquer citer inventer servir savoir orienter proposer offrir mettre
        lire reconstituer retrouver retrouvé remonter dégager""",
    "I": "je j' moi mon ma mes nous notre nos me m' jai jpeux jsais",
    "J": """donne sais saurais peux puis pourrais ai dispose disposons trouve parviens vois suis connais avons pouvons savons saurions
        possède arrive trouvons tiens ignore""",
    "U": "impossible impossibles incapable difficile malaisé compliqué empêche empêchent",
    "L": """muet muette muets muettes silence silencieux silencieuse tait taisent inexpliqué lacune lacunes omission omettent omet
        mutisme mutiques mutique indéterminé indéterminée""",
    "l": """introuvable introuvables inconnu manque manquent manquant manquante absent absente absents absentes absence défaut faute omis omise insuffisant* flou floue
        vague ambigu inconnu inconnue incomplet incomplète ignore ignorent occulte occultent élude éludent passe passent
        lacunaire incertain incertaine hors dépasse dépassent imprécis imprécise laconique chiche exclu exclut néglige
        négligent oublie oublient fait échappe maigre maigres limite limités vide vides sort côté""",
    "F": """information informations renseignement renseignements détail détails mention donnée données réponse réponses indication
        indications précision précisions info infos éclaircissement éclairage élément éléments""",
    "f": """dalle référence trace indice mot base preuve allusion valeur date nom chiffre entrée explication ligne rubrique passage
        phrase quoi chose syllabe évocation""",
    "Q": "question questions réponse réponses demande point sujet interrogation aspect thème détail",
    "E": "assez suffisant suffisants suffisante suffisantes suffisamment suffit suffisent",
    "G": "hasardeux hasardeuse hasardeuses aventureux spéculer spéculation spéculations spéculatif deviner conjecture conjectures supposer supposition suppositions inventer hypothèse devinette extrapoler extrapolation hasarder",
    "i": "langue idée certain certaine sûr sûre connaissance accès moyen mesure moindre",
    "v": "laisse reste restent laisse laissent demeure demeurent passe passent garde gardent",
    "o": "suspens impasse réponse suspens ouverte ouvert silence floue flou ombre mystère inconnue inconnu côté faim énigme blanc",
    "y": "seulement uniquement autre autres ailleurs exclusivement simplement limitent bornent",
    "X": """exigé exigée demandé demandée requis requise nécessaire personnelle personnelles collecte recueille facturé partage
        conserve vend""",
    "R": """selon porte-parole déclaré affirmé assuré constaté expliqua déclara affirma reconnut reconnu jugea jugé dénonça avoué savait pensait
        croyait répondit""",
    "T": "elle elles chercheurs scientifiques experts police historiens enquêteurs son sa ses maire leur",
    "j": "ignore ignorons sèche incapable",
}
DROPPED = """y a ont est sont ils le la les l' un une des de du d' à au aux en par pour avec et ou est sont été être était se s' ce c' cet cette
    ces cela ça dans sur il on y très bien aussi mais donc car comme si dont qui quel quelle lequel laquelle concernant
    malheureusement désolé désolée hélas regrette regret là ici cela explicitement précisément expressément clairement
    trois deux quatre cinq tous toutes ceux celui plus tout vraiment toutefois cependant ayant avoir"""
