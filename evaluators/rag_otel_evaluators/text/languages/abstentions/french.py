"""French words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "D": "contexte* corpus doc docs extrait extraits fragment fragments passage passages éléments",
    "d": """affiche* agenda* annexe* annonce* api archive* arrêt arrêté article articles audition* avis base
        billet* biographie* blog brochure* bulletin* cahier* capture* carnet* catalogue* changelog chapitre
        chapitre* chronique* chronologie* circulaire* clause* colonne* commentaire* communiqué* compte
        consigne* constat* contenu contenus courriel* cv diagramme* diapositive* dictionnaire* directive*
        document documentation documents dossier dossiers dépliant* déposition* dépêche* encadré* encart*
        encyclopédie* entretien* entrée essai* exposé* facture* feuille* fiche fiches fichier fichier* fil fils
        fonds forum* glossaire* guide guides index infographie* interview itinéraire* journal jugement* lettre
        lignes littérature livret* légende* magazine* mail mails manuel manuel* manuels manuscrit* matériel
        menu* message* mode mémo* mémoire* note notes notice* nécrologie* ordonnance* page pages papier papiers
        paragraphe* pdf pdf* pièce pièces plaquette* portrait* presse procès procès-verbal programme*
        prospectus protocole* préface publication* questionnaire* quotidien* rapport rapports recette*
        registre* release rendu* reportage* revue reçu roman résultats résumé* schéma* section sections site
        sondage* source sources sous-titres support supports synthèse texte textes thèse* tract* transcription*
        tribune* tutoriel* témoignage* verbal vidéo* web wiki écrit écrits éditorial* énoncé* étiquette* étude*""",
    "b": """auteur auteure auteurs autrice champ données journaliste lettre lettres livre narrateur partie
        rédacteur tableau""",
    "c": "assurance bail conditions contrat* convention garantie police* politique* règlement* statuts",
    "S": """énumère énumèrent définit définissent liste listent ventile règle souffle confirme confirment
        infirme infirment va dit disent dire dise mentionne mentionnent précise précisent spécifie spécifient
        indique indiquent explique expliquent explicite explicitent révèle révèlent aborde abordent évoque
        évoquent évoquer parle parlent cite citent décrit décrivent détaille détaillent traite traitent figure
        figurent renseigne renseignent nomme nomment répond répondent stipule stipulent éclaire éclairent
        ressort ressortent dévoile dévoilent mot soufflent rapporte rapportent consigne signale signalent
        touche énonce énoncent informe informent divulgue divulguent note notent communique communiquent
        développe développent attarde attardent penche penchent étend étendent question clarifie tranche
        tranchent relate relatent apprend apprennent""",
    "s": """connaît connaissent contient contiennent inclut incluent donne donnent fournit fournissent offre
        offrent apparaît apparait apparaissent permet permettent comporte comportent comprend comprennent
        trouve trouvent fait font apporte apportent va vont entre entrent suffit suffisent existe existent
        montre montrent recèle recèlent porte portent laisse laissent concerne concernent couvre couvrent aide
        aident propose proposent prévoit présente présentent dispose tire déduit déduire sait sert servent
        livre livrent""",
    "P": """mentionné* précisé* indiqué* spécifié* cité* évoqué* abordé* traité* décrit* détaillé* expliqué*
        renseigné* stipulé* explicité* signalé* consigné* documenté* énoncé* dévoilé* révélé* nommé* rapporté*
        communiqué* relevé*""",
    "p": """donné donnée fourni fournie clair claire clairs disponible disponibles trouvé trouvée inclus
        incluse contenu présent présente répertorié* déduit déduite déterminé déterminée établi établie connu
        connue explicite possible dit dite écrit écrite tranché tranchée résolu accessible évident tirer
        couvert couverte inféré""",
    "t": "traite traitent porte portent parle parlent concerne concernent",
    "K": """sait trancher recherche définir sais savoir dire répondre déterminer trouver trouvé trouvée trouve
        connaître établir préciser confirmer infirmer identifier déduire indiquer renseigner aider éclairer
        affirmer conclure vérifier vu vois voir relevé repéré déceler repérer localiser prononcer donner
        fournir fournis estimer évaluer juger deviner extraire tirer pu parviens apporter satisfaire obtenir
        découvrir rencontré tombé décelé identifié obtenu informer répond réponse certifier garantir avancer
        parler calculer expliquer communiquer citer inventer servir orienter proposer offrir mettre lire
        reconstituer retrouver retrouvé remonter dégager""",
    "I": "je j' moi mon ma mes nous notre nos me m' jai jpeux jsais",
    "Y": "vous tu votre vos te t'",
    "J": """sais saurais peux puis pourrais ai dispose disposons trouve parviens vois suis connais avons
        pouvons savons saurions possède arrive trouvons tiens ignore""",
    "g": """communiqué confié disposition disposé donné donnés envoyé envoyée fourni fournie fournis joint
        mains partagé remis remises reçu soumis soumise sous transmis transmise yeux""",
    "N": "dalle ne n' pas aucun aucune rien jamais ni guère sans nulle nul non point peu zéro pas-",
    "U": "impossible impossibles incapable difficile malaisé compliqué empêche empêchent",
    "L": """muet muette muets muettes silence silencieux silencieuse tait taisent inexpliqué lacune lacunes
        omission omettent omet mutisme mutiques mutique indéterminé indéterminée""",
    "l": """escamote escamotent tait introuvable introuvables inconnu manque manquent manquant manquante absent
        absente absents absentes absence défaut faute omis omise insuffisant* flou floue vague ambigu inconnue
        incomplet incomplète ignore ignorent occulte occultent élude éludent passe passent lacunaire incertain
        incertaine hors dépasse dépassent imprécis imprécise laconique chiche exclu exclut néglige négligent
        oublie oublient échappe maigre maigres limite limités sort côté""",
    "h": "peu guère",
    "E": "assez suffisant suffisants suffisante suffisantes suffisamment suffit suffisent",
    "F": """information informations renseignement renseignements détail détails mention donnée données réponse
        réponses indication indications précision précisions info infos éclaircissement éclairage élément
        éléments""",
    "f": """correspondance résultat résultats dalle référence trace indice mot base preuve allusion valeur date
        nom chiffre entrée explication ligne rubrique passage phrase quoi chose syllabe évocation""",
    "Q": "question questions réponse réponses demande point sujet interrogation aspect thème détail",
    "G": """hasardeux hasardeuse hasardeuses aventureux spéculer spéculation spéculations spéculatif deviner
        conjecture conjectures supposer supposition suppositions inventer hypothèse devinette extrapoler
        extrapolation hasarder""",
    "i": "langue idée certain certaine sûr sûre connaissance moyen moindre",
    "w": "pure relèverait serait simple que qu' pourrais ferais toute",
    "v": "laisse reste restent laissent demeure demeurent passe passent garde gardent",
    "o": """suspens impasse réponse ouverte ouvert silence floue flou ombre mystère inconnue inconnu côté faim
        énigme blanc""",
    "j": "ignore ignorons incapable",
    "y": "seulement uniquement autre autres ailleurs exclusivement simplement limitent bornent",
    "q": """ouverte ouvert ouvertes dedans arrête arrêtent rapidement dessus hasardeuse langue impasse suspens
        moindre mystère mot introuvable blanc bredouille inconnu inconnue sèche""",
    "X": """exigé exigée demandé demandée requis requise nécessaire personnelle personnelles collecte recueille
        facturé partage conserve vend""",
    "R": """selon porte-parole déclaré affirmé assuré constaté expliqua déclara affirma reconnut reconnu jugea
        jugé dénonça avoué savait pensait croyait répondit""",
    "T": "elle elles chercheurs scientifiques experts police historiens enquêteurs son sa ses maire leur",
    "W": "qui quoi quand où pourquoi comment combien quel quelle quels quelles lequel laquelle si",
    "C": "si lorsque s'",
}
"""Letter of a concept -> its words."""
DROPPED: Final = """
    y a ont est sont ils le la les l' un une des de du d' à au aux en par pour avec et ou été être était se s'
    ce c' cet cette ces cela ça dans sur il on très bien aussi mais donc car comme si dont qui quel quelle
    lequel laquelle concernant malheureusement désolé désolée hélas regrette regret là ici explicitement
    précisément expressément clairement trois deux quatre cinq tous toutes ceux celui plus tout vraiment
    toutefois cependant ayant avoir"""
"""Words that carry nothing: they are left out of the row, and tell the language."""
