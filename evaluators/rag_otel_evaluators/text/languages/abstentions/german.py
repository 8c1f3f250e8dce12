"""German words that make up an abstention, by concept (see `concepts`). A star stands for any ending, or
beginning."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "D": """ausschnitt* auszug auszüge auszügen docs doku fragmente* fundstelle* kontext* passage passagen
        schnipsel* suchergebnis* textabschnitt* textausschnitt* textauszug* textauszüge* textgrundlage
        textmaterial textpassage* textschnipsel* textstelle* treffer trefferliste wissensbasis wissensdatenbank""",
    "d": """*abschnitt *abschnitte *abschnitten *akte *akten *anleitung *artikel *artikeln *artikels *auszug
        *auszüge *auszügen *beilage *beitrag *beiträge *beiträgen *bericht *berichte *berichten *blatt *blätter
        *bogen *brief *broschüre *changelog *dokument *dokumentation *dokumente *dokumenten *eintrag *einträge
        *einträgen *essay *foren *forum *glossar *gutachten *heft *interview *interviews *kapitel *kapiteln
        *karteikarte *karteikarten *lebenslauf *lexikon *magazin *mappe *material *materialien *meldung
        *meldungen *notes *notiz *notizen *ordner *porträt *profil *profile *protokoll *protokolle *protokollen
        *quelle *quellen *register *rezept *schrift *schriften *seite *seiten *steckbrief *tabelle *tabellen
        *text *texte *texten *urteil *verlauf *vertrag *verzeichnis *wiki *zeitung *zusammenfassung *übersicht
        absatz abschnitt* absätze* akte akten anhang ankündigung* anlage anlagen anleitung* anzeige* api
        archiv* artikel* aufsatz aufsätze* aufzeichnung* aushang aushang* auskunft aussagen
        bedienungsanleitung* beipackzettel* beitrag beiträge* bericht berichte* beschreibung* bildschirmfoto*
        blatt blätter* broschüre* changelog chat chronik* datei* datenblatt* datenblätter* diagramm*
        dissertation* dokument* dossier* e-mail* eintrag einträge* etikett* exposé* fachbuch* fallakte*
        faltblatt* flyer* folie* folien fußnote* gebrauchsanweisung* grafik* grundlage* gutachten gutachten*
        handbuch* heft* infografik* inhalt* inserat* interview* kapitel* karte* karten katalog* klappentext*
        klausel* klauseln kochbuch* kommentar* landkarte* lebenslauf* lehrbuch* lehrplan* leitfaden* leitlinie*
        leserbrief* lexikon* literatur mail* mails material* meldung* menü merkblatt* merkblätter* mitschnitt*
        mitschrift* mitteilung* nachruf* notes notiz* paragrafen paragraphen pdf* post posts prospekt*
        protokoll* präsentation* publikation* quelle quellen ratgeber* rechnung* referat* rezension* rezept*
        rundschreiben schreiben seite seiten skizze skript* spalte* speisekarte* steckbrief* stellenanzeige*
        studie* tabelle* tagebuch* text texte texten textes thread tutorial* unterlage* urteil* verlauf
        verzeichnis* veröffentlichung* vorlage* vortrag* vorwort webseite* website* zeile* zeilen zettel*
        zusammenfassung*""",
    "b": """autor autoren autorin brief briefe briefen buch erzähler feld felder journalist liste redaktion
        teil verfasser verfasserin""",
    "c": """agb bedingungen hausordnung* mietvertrag* ordnung* police* regelung* richtlinie* satzung*
        versicherung* vertrag*""",
    "S": """ergibt ergeben regelt regeln definiert definieren aufschlüsselt geregelt festlegt auflistet
        befassen aufschluss sagt sagen erwähnt erwähnen erwähne erwähnung nennt nennen benennt spezifiziert
        präzisiert verrät verraten äußert äußern erklärt erklären erläutert erläutern beschreibt beschreiben
        behandelt behandeln thematisiert thematisieren hervor hervorgeht hervorgehen hervorzugehen steht stehen
        stand entnehmen entnommen ersehen ersichtlich auskunft angibt angeben rede wort worte zitiert
        beantwortet beantworten klärt klären ableiten herauslesen ablesen berichtet berichten beziffert
        beziffern offenbart preis schreibt schreiben enthüllt dokumentiert herausfinden darüber dazu hierzu
        davon hiervon darauf""",
    "s": """kennt kennen enthält enthalten gibt geben macht machen findet finden liefert liefern bietet bieten
        taucht auftaucht auftauchen vorkommt kommt kommen vor geht gehen ein her hergibt hergeben führt führen
        auf eingegangen listet lässt lassen zulässt erlaubt ermöglicht hilft helfen deckt zeigt zeigen befasst
        weist sieht liegt verliert verlieren umfasst verzeichnet reicht reichen genügt genügen hält handelt
        informiert informieren weiß wissen dreht beschäftigt taugt erscheint existiert drin drinsteht bereit
        vermerkt sehen schafft""",
    "P": """geregelt festgelegt aufgelistet definiert begegnet erwähnt genannt angegeben spezifiziert
        beschrieben erläutert behandelt thematisiert angesprochen festgehalten vermerkt dokumentiert aufgeführt
        verzeichnet erfasst präzisiert ausgeführt benannt mitgeteilt angeführt niedergeschrieben beziffert
        eingegangen abgedeckt verraten erklärt notiert gelistet""",
    "p": """gegeben enthalten gefunden finden geklärt klar beantwortet gesagt vorhanden verfügbar bekannt
        erkennbar ersichtlich ermittelbar bestimmbar möglich eindeutig deutlich hinterlegt zugänglich
        nachvollziehbar aufzufinden auffindbar herauszulesen abzuleiten feststellbar beantwortbar überliefert
        entscheidbar belegt da drin angaben angabe beantworten entnehmen ableiten""",
    "t": "handelt handeln dreht drehen befasst befassen beschäftigt beschäftigen behandelt behandeln",
    "K": """schließen herauszufinden herauszulesen abzuleiten rekonstruieren befassen begegnet find wissen
        sagen finden gefunden beantworten antworten beantwortet bestimmen ermitteln feststellen herausfinden
        erkennen ersehen entnehmen ableiten ableitbar bestätigen ausschließen beurteilen entscheiden klären
        nennen angeben mitteilen benennen helfen weiterhelfen entdecken entdeckt ausfindig ausmachen ausgemacht
        sehen gesehen ablesen herauslesen rausfinden rauslesen finde sehe weiß sage kenne kennen erkenne
        entdecke herleiten beziffern einschätzen äußern verraten auskunft erschließen dienen geben machen
        belegen verifizieren nachvollziehen stoßen gestoßen auftreiben überprüfen prüfen aussagen erklären
        rausgefunden herausgefunden lesen bieten liefern anbieten erfahren nachschlagen dazu antwort aussage
        festlegen versprechen""",
    "I": "ich wir mir mich uns unser unsere mein meine meinem meiner meinen",
    "Y": "sie du ihnen dir euch ihr",
    "g": """bekommen bereitgestellt einsehen erhalten gegeben geschickt gesendet geteilt gezeigt habe
        hochgeladen mitgegeben mitgeschickt verfügung vorliegen vorliegenden vorliegt weitergeleitet zugesandt
        überlassen übermittelt""",
    "N": """nicht nichts nix kein keine keinen keiner keinem keines keinerlei nirgends nirgendwo weder noch nie
        niemals ohne kaum wenig null nö nein nit""",
    "U": "unmöglich außerstande schwer schwierig überfragt unfähig kaum",
    "L": """ergebnislos schweigt schweigen verschweigt verschweigen ausschweigen stumm fehlanzeige lücke lücken
        unbestimmt ausgespart ausgeklammert unausgesprochen leerstelle stillschweigen wortlos""",
    "M": "ergebnislos ungenannt unerwähnt unbenannt unbeantwortet unausgesprochen unkommentiert",
    "l": """übergangen ausgeblendet vergebens vergeblich ergebnislos fehlt fehlen fehlten fehlend* unklar offen
        ungewiss unbekannt vermissen vermisse lückenhaft unvollständig unzureichend mangelt mangels spart
        sparen klammert auslassen vage dürftig außerhalb jenseits übergeht übergehen unerwähnt mager spärlich
        ausgelassen umsonst erfolglos""",
    "m": "sprengt sprengen",
    "h": "wenig kaum",
    "E": """genug genügend ausreichend ausreichende ausreichenden hinreichend hinreichende reicht reichen
        genügt genügen langt""",
    "F": """anzeichen anhaltspunkte indiz indizien aufschluss information informationen info infos angabe
        angaben auskunft auskünfte hinweis hinweise antwort antworten aussage aussagen erwähnung anhaltspunkt*
        detail details daten einzelheiten erkenntnisse näheres genaueres fakten konkretes kenntnis kenntnisse
        rückschluss rückschlüsse""",
    "f": """teil bestandteil spur beleg belege rede wort sterbenswort sterbenswörtchen silbe anhalt wert zahl
        name datum eintrag einträge zeile bezug stelle passage grundlage erklärung beschreibung stichwort basis
        etwas andeutung stellungnahme verweis passendes brauchbares einschlägiges entsprechendes material satz""",
    "Q": """frage fragen anfrage antwort punkt thema sache aspekt anliegen beantwortung detail angabe
        wissensfrage""",
    "G": """gewagt unseriös spekulieren spekulation spekulationen spekulativ raten mutmaßen mutmaßung
        mutmaßungen vermuten vermutung erfinden rätselraten geraten kaffeesatzleserei""",
    "i": "ahnung schimmer idee kenntnis blassen plan peilung einblick sicher gewissheit möglichkeit",
    "w": "nur könnte wäre reine bloße müsste würde blanke pure bloß",
    "v": "bleibt bleiben lässt lassen gelassen geblieben tappe tappen hält halten blieb bleibe",
    "o": """unklaren bedeckt schuldig offen rahmen unklar ungewiss unbekannt dunkel dunkeln unbeantwortet
        ungeklärt antwort strecke rätsel""",
    "j": "überfragt ratlos fehlanzeige",
    "y": "nur lediglich ausschließlich bloß andere anderes anderen anderem anderer anders etwas",
    "q": """offen drin bricht bedeckt unklaren schuldig rahmen überfragt passen aufschluss vergebens vergeblich
        schimmer dunst sternen schweigen dunkeln""",
    "X": """erforderlich nötig notwendig erhebt erhoben benötigt persönliche personenbezogene personenbezogenen
        verlangt speichert gespeichert weitergegeben verkauft braucht""",
    "R": """zufolge laut sprecher sprecherin sagte erklärte behauptete meinte schrieb stellte bemängelte
        beklagte berichtete gab teilte warnte befand urteilte kritisierte glaubte wusste fanden fand dachte""",
    "T": """er forscher wissenschaftler polizei experten historiker ermittler fachleute ärzte gutachter
        bürgermeister feuerwehr ihr ihre seine sein""",
    "W": """wer wen wem wessen was wann wo woher wohin warum wieso wie wieviel welche welcher welches welchen
        welchem ob wozu womit worin""",
    "C": "wenn falls sofern",
}
"""Letter of a concept -> its words."""
DROPPED: Final = """
    der die das den dem des ein eine einen einem einer eines in im an am auf aus von vom zu zum zur mit bei für
    und oder ist sind wird werden wurde wurden es sich hat haben habe hab war leider auch so aber doch denn da
    hier dort dies diese dieser dieses diesen diesem man kann können könnte konnte lässt überhaupt gar
    bedauerlicherweise anhand nach über um als darin daraus davon dabei eben nun jedoch noch ja sehr genau
    explizit ausdrücklich konkret direkt näher weiter alle allen beide zwei drei vier fünf soweit zurzeit
    derzeit momentan tut leid sorry entschuldigung nur"""
"""Words that carry nothing: they are left out of the row, and tell the language."""
