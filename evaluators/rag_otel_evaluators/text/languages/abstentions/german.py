"""German words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

WORDS = {
    "t": """handelt handeln dreht drehen befasst befassen beschäftigt beschäftigen behandelt behandeln""",
    "q": """drin bricht bedeckt unklaren schuldig rahmen überfragt passen aufschluss vergebens vergeblich schimmer dunst sternen schweigen dunkeln""",
    "b": """buch liste feld felder teil""",
    "M": """ergebnislos ungenannt unerwähnt unbenannt unbeantwortet unausgesprochen unkommentiert""",
    "m": """sprengt sprengen""",
    "C": """wenn falls sofern """,
    "W": """wer wen wem wessen was wann wo woher wohin warum wieso wie wieviel welche welcher welches welchen welchem ob wozu womit worin""",
    "h": """wenig kaum""",
    "w": """nur könnte wäre reine bloße müsste würde blanke pure bloß""",
    "g": """geschickt gegeben gesendet vorliegt vorliegen vorliegenden bereitgestellt überlassen übermittelt mitgeschickt erhalten bekommen zugesandt hochgeladen gezeigt einsehen verfügung habe mitgegeben geteilt weitergeleitet""",
    "Y": """sie du ihnen dir euch ihr""",
    "D": """doku docs kontext* textstelle* passage passagen auszug auszüge auszügen textauszug* textauszüge* ausschnitt* textausschnitt*
        textschnipsel* schnipsel* fragmente* wissensdatenbank wissensbasis suchergebnis* textabschnitt* textpassage*
        textmaterial treffer trefferliste docs fundstelle* textgrundlage""",
    "d": """handbuch* lehrbuch* fachbuch* kochbuch* tagebuch* nachruf* leserbrief* *essay aufsatz aufsätze* vortrag* referat* dissertation* tutorial* chronik* fallakte* gutachten* *heft *bogen *brief *karteikarte *karteikarten *ordner *verlauf *zusammenfassung *dokumentation *vertrag *bericht *berichte *berichten *kapitel *kapiteln *beilage *beitrag *beiträge *beiträgen *mappe *notes notes *artikel *artikels *artikeln *protokoll *protokolle *protokollen *schrift *schriften *text *texte *texten *seite *seiten *blatt *blätter *dokument *dokumente *dokumenten *anleitung *übersicht *tabelle *tabellen *notiz *notizen *meldung *meldungen *broschüre *auszug *auszüge *auszügen *akte *akten *lebenslauf *rezept *register *abschnitt *abschnitte *abschnitten *material *materialien *quelle *quellen *eintrag *einträge *einträgen *gutachten *urteil *verzeichnis *profil *profile *glossar *lexikon *zeitung *magazin *interview *interviews *porträt *steckbrief *changelog *wiki *forum *foren
  paragrafen paragraphen klausel* klauseln aussagen aushang mitschrift* api changelog lebenslauf* mitschnitt* skizze etikett* rechnung* folie* folien präsentation* bildschirmfoto* spalte* zeile* fußnote* vorwort klappentext* lehrplan* stellenanzeige* exposé* gutachten urteil* kommentar* nachruf* chat verlauf post posts thread dokument* unterlage* text texte texten textes quelle quellen artikel* beitrag beiträge* handbuch* anleitung*
        gebrauchsanweisung* bedienungsanleitung* broschüre* prospekt* seite seiten datei* akte akten bericht berichte*
        protokoll* material* abschnitt* kapitel* absatz absätze* tabelle* notiz* merkblatt* merkblätter* datenblatt*
        datenblätter* beipackzettel* faltblatt* flyer* eintrag einträge* webseite* website* archiv* leitfaden* ratgeber*
        aufzeichnung* verzeichnis* katalog* studie* mail* mails e-mail* meldung* vorlage* grundlage* auskunft
        literatur zusammenfassung* inhalt* publikation* veröffentlichung* skript* heft* schreiben anhang anlage anlagen
        rezept* beschreibung* blatt blätter* zettel* pdf* interview* chronik* mitteilung* rundschreiben aushang
        zeilen dossier* rezension* lexikon* steckbrief*""",
    "c": "vertrag* mietvertrag* police* versicherung* richtlinie* regelung* bedingungen agb hausordnung* satzung* ordnung*",
    "N": """nicht nichts nix kein keine keinen keiner keinem keines keinerlei nirgends nirgendwo weder noch nie niemals
        ohne kaum wenig null nö nein nit""",
    "S": """befassen aufschluss sagt sagen erwähnt erwähnen erwähne erwähnung nennt nennen benennt spezifiziert präzisiert verrät verraten
        äußert äußern erklärt erklären erläutert erläutern beschreibt beschreiben behandelt behandeln thematisiert
        thematisieren hervor hervorgeht hervorgehen hervorzugehen steht stehen stand entnehmen entnommen ersehen ersichtlich
        auskunft angibt angeben rede wort worte zitiert beantwortet beantworten klärt klären ableiten herauslesen
        ablesen berichtet berichten beziffert beziffern offenbart preis schreibt schreiben enthüllt dokumentiert
        herausfinden darüber dazu hierzu davon hiervon darauf""",
    "s": """kennt kennen enthält enthalten gibt geben macht machen findet finden liefert liefern bietet bieten taucht auftaucht auftauchen
        vorkommt kommt kommen vor geht gehen ein her hergibt hergeben hergibt führt führen auf eingegangen listet
        lässt lassen zulässt erlaubt ermöglicht hilft helfen deckt zeigt zeigen befasst weist sieht liegt verliert
        verlieren umfasst verzeichnet reicht reichen genügt genügen hält handelt informiert informieren weiß wissen
        dreht beschäftigt taugt erscheint existiert drin drinsteht bereit vermerkt sehen schafft""",
    "P": """begegnet erwähnt genannt angegeben spezifiziert beschrieben erläutert behandelt thematisiert angesprochen festgehalten
        vermerkt dokumentiert aufgeführt verzeichnet erfasst präzisiert ausgeführt benannt mitgeteilt angeführt
        niedergeschrieben beziffert eingegangen abgedeckt verraten erklärt notiert gelistet""",
    "p": """gegeben enthalten gefunden finden geklärt klar beantwortet gesagt vorhanden verfügbar bekannt erkennbar
        ersichtlich ermittelbar bestimmbar möglich eindeutig deutlich hinterlegt zugänglich nachvollziehbar aufzufinden
        auffindbar herauszulesen abzuleiten feststellbar beantwortbar überliefert entscheidbar belegt da drin
        angaben angabe beantworten entnehmen ableiten""",
    "K": """rekonstruieren befassen begegnet find wissen sagen finden gefunden beantworten antworten beantwortet bestimmen ermitteln feststellen herausfinden
        erkennen ersehen entnehmen ableiten ableitbar schließen bestätigen ausschließen beurteilen entscheiden klären
        nennen angeben mitteilen benennen helfen weiterhelfen entdecken entdeckt ausfindig ausmachen ausgemacht sehen
        gesehen ablesen herauslesen rausfinden rauslesen ausmachen finde sehe weiß sage kenne kennen erkenne entdecke
        herleiten beziffern einschätzen äußern verraten auskunft erschließen dienen geben machen belegen verifizieren
        rekonstruieren nachvollziehen stoßen gestoßen auftreiben überprüfen prüfen aussagen erklären rausgefunden
        herausgefunden lesen bieten liefern anbieten erfahren nachschlagen dazu antwort aussage festlegen versprechen""",
    "I": "ich wir mir mich uns unser unsere mein meine meinem meiner meinen",
    "U": "unmöglich außerstande schwer schwierig überfragt unfähig kaum",
    "L": """ergebnislos schweigt schweigen verschweigt verschweigen ausschweigen stumm 
        fehlanzeige lücke lücken unbestimmt ausgespart ausgeklammert unausgesprochen leerstelle stillschweigen
        wortlos""",
    "l": """übergangen ausgeblendet vergebens vergeblich ergebnislos fehlt fehlen fehlten fehlend* unklar offen ungewiss unbekannt vermissen vermisse lückenhaft unvollständig
        unzureichend mangelt mangels spart sparen klammert auslassen vage dürftig außerhalb jenseits übergeht
        übergehen unerwähnt mager spärlich vergeblich vergebens ausgelassen umsonst erfolglos""",
    "F": """anzeichen anhaltspunkte indiz indizien aufschluss information informationen info infos angabe angaben auskunft auskünfte hinweis hinweise antwort antworten aussage
        aussagen erwähnung anhaltspunkt* detail details daten einzelheiten erkenntnisse näheres genaueres aufschluss
        fakten konkretes kenntnis kenntnisse rückschluss rückschlüsse""",
    "f": """spur beleg belege rede wort sterbenswort sterbenswörtchen silbe anhalt wert zahl name datum eintrag einträge zeile
        bezug stelle passage grundlage erklärung beschreibung stichwort basis etwas andeutung stellungnahme verweis passendes
        brauchbares einschlägiges entsprechendes material satz""",
    "Q": "frage fragen anfrage antwort punkt thema sache aspekt anliegen beantwortung detail angabe wissensfrage",
    "E": "genug genügend ausreichend ausreichende ausreichenden hinreichend hinreichende reicht reichen genügt genügen langt",
    "G": "gewagt unseriös spekulieren spekulation spekulationen spekulativ raten mutmaßen mutmaßung mutmaßungen vermuten vermutung erfinden rätselraten geraten kaffeesatzleserei",
    "i": "ahnung schimmer idee kenntnis blassen plan peilung zugriff einblick sicher gewissheit möglichkeit",
    "v": "bleibt bleibt bleiben lässt lassen gelassen geblieben tappe tappen hält halten blieb bleibe",
    "o": "unklaren bedeckt schuldig offen rahmen offen unklar ungewiss unbekannt dunkel dunkeln unbeantwortet ungeklärt bedeckt antwort schuldig strecke rätsel",
    "y": "nur lediglich ausschließlich bloß andere anderes anderen anderem anderer anders etwas",
    "X": """erforderlich nötig notwendig erhebt erhoben benötigt persönliche personenbezogene personenbezogenen verlangt
        speichert gespeichert weitergegeben verkauft braucht""",
    "R": """zufolge laut sprecher sprecherin sagte erklärte behauptete meinte schrieb stellte bemängelte beklagte berichtete gab teilte warnte befand urteilte
        kritisierte glaubte wusste fanden fand dachte""",
    "T": """er forscher wissenschaftler polizei experten historiker ermittler fachleute ärzte gutachter bürgermeister feuerwehr
        ihr ihre seine sein""",
    "j": "überfragt ratlos fehlanzeige",
}
DROPPED = """der die das den dem des ein eine einen einem einer eines in im an am auf aus von vom zu zum zur mit bei für und oder ist
    sind wird werden wurde wurden es sich hat haben habe hab war leider auch so aber doch denn da hier dort dies diese dieser
    dieses diesen diesem man kann können könnte konnte lässt überhaupt gar bedauerlicherweise anhand nach über um als darin
    daraus davon dabei eben nun jedoch noch ja sehr genau explizit ausdrücklich konkret direkt näher weiter alle allen beide
    zwei drei vier fünf soweit zurzeit derzeit momentan tut leid sorry entschuldigung nur"""
