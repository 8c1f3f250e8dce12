"""Hand-written German pairs (format: see data_en.py)."""

DATA = r"""
# staubsauger
P: Der Staubsauger Wirbo 500 fasst 2,5 Liter Staub und wiegt 6,4 kg. Bei voller Leistung reicht der Akku 35 Minuten, im Sparmodus 70. Der Filter wird alle sechs Monate gewaschen und muss danach 24 Stunden trocknen. Saugen Sie niemals Asche oder Flüssigkeiten auf.
P: Garantie: drei Jahre auf den Motor, zwei Jahre auf das Gehäuse, sechs Monate auf den Akku. Schäden durch feuchten Schmutz sind ausgenommen. Bei längerer Lagerung kann der Akku an Kapazität verlieren. Die Rechnung und die Verpackung sind vorzulegen.
table_cell | Wie lange gilt die Garantie auf das Gehäuse? | Für das Gehäuse haftet der Hersteller [[zwei||drei]] Jahre.
unit | Wie viel Staub passt hinein? | Im Behälter finden 2,5 [[Liter||Kilogramm]] Staub Platz.
hedge | Leidet der Akku, wenn das Gerät lange steht? | Langes Liegen [[schwächt möglicherweise||schwächt in jedem Fall]] den Akku.
comparison | Wann hält der Akku länger durch? | Im Sparmodus läuft das Gerät [[länger||kürzer]] als bei voller Leistung.
conversion | Wie lange muss der Filter trocknen? | Nach dem Waschen braucht der Filter [[einen Tag||zwei Tage]] zum Trocknen.
negation | Muss ich den Karton aufheben? | Im Garantiefall zeigen Sie den Kaufbeleg. Den Karton brauchen Sie [[ebenfalls||nicht]].

# rueckgabe
P: Ungetragene Kleidung nehmen wir binnen 30 Tagen zurück, Schuhe binnen 14 Tagen und nur im Originalkarton. Unterwäsche ist vom Umtausch ausgeschlossen. Die Erstattung erfolgt auf das Konto, von dem gezahlt wurde, und zwar spätestens zehn Tage nach Eingang der Ware im Lager Hagen.
P: Das Rücksendeetikett kostet 3,90 Euro und wird vom Betrag abgezogen; Inhaber der Stammkarte zahlen nichts. Die Versandkosten der Bestellung erstatten wir nur, wenn die ganze Bestellung zurückkommt. In den Filialen Ulm und Trier kann man auch persönlich umtauschen.
arithmetic | Ich schicke ein Hemd für 33,90 Euro zurück und habe keine Stammkarte. Was bekomme ich? | Ihnen werden [[30,00||31,90]] Euro überwiesen.
scope | Für wen ist die Rücksendung gratis? | Umsonst zurückschicken dürfen [[Kunden mit Stammkarte||alle Kunden]].
condition | Bekomme ich die Versandkosten wieder? | Das Porto gibt es zurück, [[sofern nichts von der Bestellung behalten wird||auch wenn ein Teil der Bestellung behalten wird]].
list_member | In welchen Städten kann ich im Laden umtauschen? | Vor Ort geht das in Trier und [[Ulm||Hagen]].
multi_hop | Ich habe eine Stammkarte. Wie lange kann ich Stiefel zurückgeben, und was kostet das? | Schuhwerk darf man [[zwei Wochen||30 Tage]] lang zurückschicken. Für das Etikett zahlen Sie nichts.
paraphrase | Kann ich Slips zurückgeben? | [[Solche Wäschestücke gehen nicht retour||Unterwäsche nehmen wir binnen 14 Tagen zurück]].

# urlaub
P: Beschäftigte der Kranich GmbH haben 28 Tage Urlaub, ab dem 50. Lebensjahr 30 Tage. Im ersten halben Jahr darf höchstens die Hälfte genommen werden. Anträge genehmigt die Teamleitung; der Betriebsrat wird nur informiert. Resturlaub verfällt am 31. März, außer bei längerer Krankheit.
P: Für einen Umzug gibt es einen freien Tag, für die eigene Hochzeit zwei. Auszubildende nehmen ihren Urlaub in den Berufsschulferien. Heiligabend und Silvester zählen jeweils als halber Arbeitstag. Wer im Schichtdienst arbeitet, erhält drei Zusatztage.
role | Wer entscheidet über meinen Antrag? | Die Entscheidung trifft [[die Teamleitung||der Betriebsrat]].
date | Bis wann muss ich Resturlaub nehmen? | Übrig gebliebene Tage kann man bis Ende [[März||Dezember]] nehmen.
arithmetic | Ich bin 52 und arbeite im Schichtdienst. Wie viele Urlaubstage habe ich? | Zusammen kommen Sie auf [[33||30]] Tage.
quantifier | Wie viel Urlaub darf ich in den ersten sechs Monaten nehmen? | In dieser Zeit steht Ihnen [[maximal die Hälfte||bereits der ganze Urlaub]] offen.
number | Wie viele freie Tage gibt es zur Hochzeit? | Zur eigenen Hochzeit bekommt man [[zwei||drei]] Tage frei.
scope | Wer ist an die Schulferien gebunden? | An die Ferien der Berufsschule halten müssen sich [[die Auszubildenden||alle Beschäftigten]].

# faehre
P: Die Fähre von Norddeich-Süd zur Insel Osterhall verkehrt von April bis Oktober täglich um 7:30, 11:00 und 16:45 Uhr; ab Osterhall um 9:10, 13:15 und 18:30 Uhr. Die Überfahrt dauert 55 Minuten. Hunde fahren kostenlos mit und sind auch im Salon erlaubt.
P: Im Winter fährt das Schiff nur dienstags, donnerstags und samstags. Ab Windstärke 9 ruht der Betrieb; das gibt die Reederei bis 6 Uhr bekannt. Fahrräder kosten 5 Euro, Autos 32 Euro. Alle Fahrten werden mit dem Elektroschiff Möwe durchgeführt.
table_cell | Wann geht im Juli das letzte Schiff von der Insel? | Zuletzt legt das Schiff in Osterhall um [[18:30||16:45]] Uhr ab.
list_member | An welchen Tagen kommt man im Januar hinüber? | Im Januar besteht dienstags, [[donnerstags||freitags]] und samstags eine Verbindung.
direction_word | Wann erfahre ich, ob die Fähre wegen Sturm ausfällt? | Die Reederei meldet Ausfälle [[vor||nach]] sechs Uhr früh.
arithmetic | Wann bin ich mit der Fähre um 11:00 Uhr auf der Insel? | Die Elf-Uhr-Fähre ist um [[11:55||11:45]] Uhr drüben.
negation | Darf mein Hund in den Salon? | Ihr Hund reist umsonst. Der Aufenthalt im Salon ist ihm [[gestattet||verwehrt]].
quantifier | Wird die Strecke elektrisch bedient? | Elektrisch fährt man auf [[jeder Überfahrt||nur manchen Fahrten]].

# tropfen
P: Nasofrei Tropfen: Erwachsene geben bis zu dreimal täglich zwei Tropfen in jedes Nasenloch, höchstens sieben Tage lang. Für Kinder unter sechs Jahren ist das Mittel nicht geeignet. Nach dem Öffnen ist die Flasche zwölf Wochen haltbar. Nicht über 25 Grad lagern.
P: Nebenwirkungen. Häufig: Brennen, trockene Schleimhaut. Gelegentlich: Nasenbluten. Selten: Herzklopfen, Schlafstörungen. Das Mittel kann den Blutdruck erhöhen. Bei grünem Star fragen Sie vorher Ihre Ärztin. Eine Wirkung auf die Fahrtüchtigkeit ist nicht bekannt.
table_cell | Wie oft kommt Nasenbluten vor? | Nasenbluten wird als [[gelegentliche||häufige]] Nebenwirkung geführt.
arithmetic | Wie viele Tropfen sind das höchstens pro Tag und Nasenloch? | Je Nasenloch sind es am Tag maximal [[sechs||vier]] Tropfen.
conversion | Wie lange darf ich es nehmen? | Angewendet werden darf das Mittel [[eine Woche||zwei Wochen]] lang.
direction_word | Bei welcher Temperatur lagere ich die Flasche? | Die Flasche bleibt bei Temperaturen [[unter||über]] 25 Grad.
hedge | Steigt davon der Blutdruck? | Der Blutdruck steigt [[unter Umständen||bei jedem Menschen]].
condition | Muss ich vorher zum Arzt? | Vorher ärztlichen Rat holen sollte man, [[wenn man grünen Star hat||wenn man älter als sechs ist]].

# brunnen
P: Die Stadt Altenroda lässt den Rolandbrunnen ab dem 2. Mai sanieren. Den Auftrag über 310.000 Euro erhielt die Firma Steinmetz Kolb; die Firma Granitwerk Jahn lag 45.000 Euro darüber. Ein Drittel zahlt das Land. Die Arbeiten sollen bis Mitte September dauern.
P: Stadträtin Vera Nolte hatte vorgeschlagen, den Brunnen zu versetzen; Baurat Holger Thies lehnte das ab. „Ist der Roland überhaupt echt?“, fragte das Tageblatt am Samstag. Nach Auskunft des Museums ist die Figur eine Kopie von 1931, das Original steht im Rathaus.
name | Welche Firma bekam den Auftrag? | Saniert wird der Brunnen von [[Kolb||Jahn]].
arithmetic | Wie hoch war das andere Angebot? | Das unterlegene Angebot belief sich auf [[355.000||310.000]] Euro.
role | Wer wollte den Brunnen versetzen? | Die Versetzung regte [[Nolte an, und Thies||Thies an, und Nolte]] war dagegen.
question_or_quote | Ist die Figur auf dem Brunnen das Original? | Auf dem Brunnen steht [[eine Nachbildung||das Original, wie das Museum mitteilt]].
number_format | Was kostet die Sanierung? | Für den Brunnen werden [[0,31 Millionen||3,1 Millionen]] Euro ausgegeben.
hedge | Wann ist der Brunnen fertig? | Ein Ende der Arbeiten ist für Mitte September [[vorgesehen||garantiert]].

# klavier
P: Der Klavierbauer August Lohmann gründete seine Werkstatt 1889 in Celle. 1907 trat sein Schwager Ernst Timm ein, der die Flügel einführte. Nach einem Streit gründete Timm 1921 in Uelzen eine eigene Firma. Lohmanns Tochter Hedwig leitete den Betrieb von 1934 bis 1961.
P: In den besten Jahren baute Lohmann 640 Klaviere im Jahr, zuletzt nur noch 55. 1978 kaufte die japanische Gruppe Onda den Namen; das Gebäude ging an die Stadt. Etwa die Hälfte der alten Instrumente steht heute in Skandinavien.
order | Was geschah zuerst: Timms Eintritt oder die Flügel? | [[Nach||Vor]] Timms Eintritt kamen die ersten Flügel aus der Werkstatt.
date | Wann machte sich Timm selbstständig? | Timm eröffnete [[1921||1907]] einen eigenen Betrieb.
name | In welcher Stadt hatte Timm seine eigene Firma? | Sein eigener Betrieb lag in [[Uelzen||Celle]].
multi_hop | Führte Hedwig den Betrieb noch, als der Name nach Japan verkauft wurde? | Beim Verkauf des Namens war Hedwig [[nicht mehr||noch immer]] an der Spitze.
recombination | Wer bekam 1978 was? | [[Onda erwarb den Namen und die Stadt das Gebäude||Die Stadt erwarb den Namen und Onda das Gebäude]].
quantifier | Wo befinden sich die alten Instrumente? | Nach Skandinavien gelangte [[ungefähr jedes zweite||jedes einzelne]] der alten Instrumente.

# igel
P: Forscher der Universität Kiel statteten 52 Igel mit Sendern aus. Die meisten Tiere legten pro Nacht weniger als zwei Kilometer zurück, nur einige Männchen mehr. Der Rekord lag bei 4,3 km. In Gärten ohne Zäune fanden die Tiere mehr Nahrung als auf Feldern.
P: Die Gruppe vermutet, dass Mähroboter nachts viele Tiere verletzen; untersucht wurde das nicht. Elf Igel starben im Straßenverkehr, drei verhungerten. Bezahlt hat die Studie eine Stiftung, nicht das Land. Der Winterschlaf begann im Mittel am 9. November.
quantifier | Wie weit liefen die Igel pro Nacht? | Unter zwei Kilometern blieb [[der Großteil||die Gesamtheit]] der Tiere.
hedge | Verletzen Mähroboter die Igel? | Dass Mähroboter viele Igel verletzen, [[nimmt die Gruppe an||hat die Gruppe nachgewiesen]].
number | Wie viele der Igel verhungerten? | Den Hungertod fanden [[drei||elf]] Igel.
comparison | Wo gab es mehr zu fressen? | Das Futterangebot war auf Feldern [[geringer||größer]] als in offenen Gärten.
role | Wer bezahlte die Studie? | Das Geld kam [[von einer Stiftung||vom Land]].
number_format | Wie weit war die längste Strecke? | Die längste nächtliche Strecke betrug [[4.300||43.000]] Meter.

# stollen
P: Für einen Stollen braucht man 500 g Mehl, 40 g Hefe, 200 ml Milch, 250 g Butter und 300 g Rosinen. Der Vorteig ruht 30 Minuten, der fertige Teig noch einmal zwei Stunden. Erst nach dem Ruhen werden die Rosinen untergeknetet. Backzeit: 55 Minuten bei 175 Grad.
P: Gleich nach dem Backen wird der Stollen mit Butter bestrichen und mit Zucker bestäubt. Marzipan ist nicht nötig. Am besten schmeckt er nach drei Wochen; luftdicht verpackt hält er bis zu acht. Im Kühlschrank sollte man ihn nicht aufbewahren. Orangeat kann man durch Aprikosen ersetzen.
order | Wann kommen die Rosinen hinein? | Die Rosinen kommen hinein, [[nachdem||bevor]] der Teig geruht hat.
unit | Wie viel Milch brauche ich? | Die Milchmenge beträgt 200 [[Milliliter||Liter]].
list_member | Was gehört in den Teig? | Unverzichtbar sind Mehl, Hefe, Milch, Butter und [[Rosinen||Marzipan]].
negation | Gehört der Stollen in den Kühlschrank? | Luftdicht verpackt hält er bis zu acht Wochen. Der Kühlschrank ist dafür [[ungeeignet||geeignet]].
arithmetic | Wie lange ruht der Teig insgesamt? | Beide Ruhezeiten ergeben zusammen [[150||120]] Minuten.
paraphrase | Wann schmeckt der Stollen am besten? | [[Wer rund zwanzig Tage Geduld hat, genießt ihn auf dem Höhepunkt||Am besten schmeckt er gleich nach dem Backen, mit Butter bestrichen]].

# carsharing
P: Bei Rollmobil zahlt man 0,29 Euro je Kilometer und 2,50 Euro je Stunde; nachts von 22 bis 6 Uhr entfällt der Stundenpreis. Fahrer müssen seit mindestens einem Jahr den Führerschein haben. Die Selbstbeteiligung beträgt 800 Euro und lässt sich für 9 Euro im Monat auf 150 Euro senken.
P: Autos dürfen auf jedem öffentlichen Parkplatz in Kassel abgestellt werden, Transporter nur an der Station. Tanken geht mit der Karte im Handschuhfach. Fahrten nach Dänemark und Österreich sind erlaubt, nach Polen nur mit Genehmigung. Rauchen kostet 100 Euro.
condition | Darf ich mit dem Auto nach Polen? | Eine Reise nach Polen geht, [[sofern Rollmobil zustimmt||ohne dass Rollmobil zustimmen muss]].
scope | Wo stelle ich einen Transporter ab? | Transporter gehören [[an die Station||auf irgendeinen öffentlichen Parkplatz]].
arithmetic | Was kosten drei Stunden und 100 km am Tag? | Für diese Fahrt fallen [[36,50||39,00]] Euro an.
direction_word | Wie ändert sich die Selbstbeteiligung durch die 9 Euro im Monat? | Durch den Zuschlag [[sinkt||steigt]] der eigene Anteil am Schaden.
number | Seit wann muss ich den Führerschein haben? | Der Führerschein muss wenigstens [[ein Jahr||neun Jahre]] alt sein.
recombination | Wohin darf ich ohne Genehmigung fahren? | [[Österreich ist frei, Polen nur mit Erlaubnis||Polen ist frei, Österreich nur mit Erlaubnis]].

# theater
P: Am 8. November hat „Salz“ von Mira Contzen im Theater am Wall Premiere. Regie führt Jakob Ahlers, das Bühnenbild stammt von Lea Winter. Erzählt wird von einem Apotheker, der seine Schwester bei der Polizei anzeigt. Der Abend dauert 110 Minuten und hat keine Pause.
P: Karten kosten 14 bis 36 Euro; Studierende zahlen mittwochs die Hälfte. Die Kritikerin der Landeszeitung nennt Contzen „die wichtigste Stimme des Landes“. Einige Vorstellungen werden in Gebärdensprache übersetzt. Contzen schrieb das Stück in Triest, wo sie vor ihrem Umzug nach Bremen gelebt hatte.
role | Wer zeigt im Stück wen an? | Im Stück meldet [[der Apotheker seine Schwester||die Schwester den Apotheker]] der Polizei.
conversion | Wie lange dauert der Abend? | Die Aufführung nimmt [[eine Stunde und 50 Minuten||zwei Stunden und zehn Minuten]] in Anspruch.
question_or_quote | Ist Contzen die wichtigste Stimme des Landes? | Dass Contzen die wichtigste Stimme ist, [[meint eine Kritikerin||steht fest]].
order | Wo wohnte Contzen früher? | In Triest wohnte Contzen [[vor||nach]] ihrer Bremer Zeit.
quantifier | Welche Vorstellungen haben Gebärdensprache? | Gedolmetscht wird bei [[einem Teil der||allen]] Vorstellungen.
recombination | Wer macht Regie und Bühnenbild? | [[Ahlers inszeniert, und Winter baut die Bühne||Winter inszeniert, und Ahlers baut die Bühne]].

# cloud
P: Wolkenfach hebt gelöschte Dateien im Tarif Solo 14 Tage auf, im Tarif Büro 120 Tage. Dateien über 15 GB lassen sich im Browser und mit dem Programm für den Rechner hochladen. Freigaben laufen nach 48 Stunden ab, falls der Besitzer nichts anderes einstellt.
P: Einen Ordner können bis zu 40 Personen teilen; löschen kann ihn allein, wer ihn angelegt hat. Verlorene Passwörter kann der Kundendienst nicht wiederherstellen. Geprüft und bestätigt ist, dass die Störung vom März auf einen Angriff zurückgeht. Die Server stehen in Finnland und Island.
table_cell | Wie lange sind gelöschte Dateien im Tarif Büro noch da? | Im Tarif Büro sind sie nach [[120||14]] Tagen endgültig weg.
conversion | Wie viele Tage gilt eine Freigabe normalerweise? | Ohne andere Einstellung gilt eine Freigabe [[zwei||vier]] Tage.
role | Wer kann einen geteilten Ordner löschen? | Entfernen kann ihn nur [[der Ersteller||der Kundendienst]].
condition | Wie lade ich 20 GB hoch? | Das gelingt, [[auch wenn man nur den Browser hat||nur wenn man das Programm für den Rechner hat]].
hedge | War die Störung im März ein Angriff? | Dass ein Angriff dahintersteckt, ist [[gesichert||noch ungeklärt]].
list_member | In welchen Ländern stehen die Server? | Die Rechner befinden sich in Finnland und [[Island||Irland]].

# berg
P: Am Hochgrat wurden im Winter 1999 sieben Häuser von einer Lawine zerstört; Tote gab es nicht. Die Lawine von 1954 war kleiner, forderte aber vier Opfer. Seit 2003 schützt eine Mauer das Dorf. Lawinenwart Toni Gruber hält ein ähnliches Ereignis in diesem Winter für unwahrscheinlich.
P: Der Osthang ist oberhalb von 1.700 Metern gesperrt. Die Falkenhütte liegt auf 1.850 Metern am Osthang, die Seehütte auf 1.500 Metern. Ein Leser will wissen: „Lösen Rufe Lawinen aus?“ Gruber antwortet, das sei ein Märchen.
comparison | Welche Lawine war größer? | Die spätere Lawine war [[größer||kleiner]] als die von 1954.
question_or_quote | Lösen Rufe Lawinen aus? | Dass Rufen Lawinen auslöst, ist [[laut Gruber eine Legende||laut Gruber eine Tatsache]].
multi_hop | Kann ich zur Falkenhütte gehen? | Die Falkenhütte liegt [[im gesperrten Gebiet||außerhalb des gesperrten Gebiets]].
direction_word | Welcher Teil des Osthangs ist zu? | Gesperrt ist, was [[höher||tiefer]] als 1.700 Meter liegt.
negation | Starb 1999 jemand? | Die Lawine von 1999 zerstörte Häuser. Ums Leben kam dabei [[niemand||jemand]].
date | Seit wann gibt es die Schutzmauer? | Die Mauer steht seit [[2003||1999]].

# rudern
P: Ergebnis des Herbstrennens über 6 km:\nPlatz | Boot | Verein | Zeit\n1 | Adler | RC Werder | 21:40\n2 | Hecht | Havelruderer | 22:05\n3 | Biber | RC Werder | 22:31\n4 | Komet | SV Spree | 23:10
P: Der Hecht führte bis zur Brücke, dann zog der Adler vorbei. Steuerfrau Nele Arndt vom Adler dankte Trainer Paul Rüdiger, der früher selbst im Hecht saß. In der Gesamtwertung führt der Hecht mit zwei Punkten vor dem Adler. „Wir holen den Titel“, sagte Arndt.
table_cell | Für welchen Verein fährt der Biber? | Der Biber startet für [[RC Werder||SV Spree]].
arithmetic | Wie groß war der Abstand zwischen Platz 1 und 2? | Zwischen den beiden schnellsten Booten lagen [[25||26]] Sekunden.
order | Wer führte zuerst? | Vor der Brücke lag [[der Hecht vor dem Adler||der Adler vor dem Hecht]].
question_or_quote | Hat der Adler den Titel? | Nele Arndt [[rechnet mit dem||errang den]] Titel.
name | Wer trainiert die Leute vom Adler? | Das Training des Adlers leitet [[Rüdiger||Arndt]].
unit | Wie lang war das Rennen? | Gerudert wurde über sechs [[Kilometer||Meilen]].

# stadtarchiv
P: Das Stadtarchiv Burgwede wurde MDCCCXLIX eingerichtet. Es besitzt 1,8 Mio. Blatt, das älteste vom 1312-10-04. Bis Ende 2022 waren zweihundertvierzigtausend Seiten im Netz. Die Regale messen 2,7 km. Ein Dutzend Freiwillige liest alte Kirchenbücher.
P: Geöffnet ist dienstags und donnerstags von 9 bis 16 Uhr. Pro Tag werden sechs Akten ausgegeben. Eine Kopie kostet 0,30 Euro. Abschnitt IX der Ordnung regelt das Fotografieren, Abschnitt XI die Gebühren.
number_format | In welchem Jahr entstand das Archiv? | Eingerichtet wurde das Archiv [[1849||1869]].
number_format | Von wann ist das älteste Blatt? | Das älteste Blatt wurde am [[4. Oktober||10. April]] 1312 geschrieben.
number_format | Wie viele Seiten waren Ende 2022 im Netz? | Im Netz standen damals [[240.000||24.000]] Seiten.
number_format | Welcher Abschnitt regelt das Fotografieren? | Um Fotos geht es im [[neunten||elften]] Abschnitt.
unit | Wie lang sind die Regale? | Die Regale kommen auf 2,7 [[Kilometer||Meter]].
number | Wie viele Akten bekomme ich am Tag? | Täglich können Sie [[sechs||neun]] Akten einsehen.

# gasthof
P: Der Gasthof Zur Linde wurde 1958 von den Schwestern Ida und Martha Pohl eröffnet. Ida kochte, Martha stand am Tresen. Als Martha 1979 nach Kanada ging, übernahm Idas Sohn Bernd den Ausschank. 1994 verkaufte Bernd an seine Köchin Tereza Novak, die 2008 sechs Gästezimmer anbaute.
P: Berühmt ist der Gasthof für den Hechtkuchen, den es nur freitags gibt. Manche Rezepte stammen noch von Ida. Montags ist geschlossen, im Februar ganz. Ein Zimmer kostet 62 Euro, mit Frühstück 74. Kegelbahn und Biergarten gehören der Gemeinde.
role | An wen verkaufte Bernd? | Den Gasthof gab [[Bernd an Tereza||Tereza an Bernd]] weiter.
name | Wer stand anfangs am Tresen? | Den Ausschank besorgte zuerst [[Martha||Bernd]].
arithmetic | Was kostet das Frühstück? | Das Frühstück schlägt mit [[12||62]] Euro zu Buche.
date | Wann kamen die Gästezimmer dazu? | Zimmer gibt es seit [[2008||1994]].
scope | Was gehört der Gemeinde? | Im Besitz der Gemeinde ist [[neben der Kegelbahn der Biergarten||der gesamte Gasthof]].
multi_hop | Wer ist die Frau, von der manche Rezepte stammen? | Die Frau, von der sie stammen, ist Bernds [[Mutter||Köchin]].

# versicherung
P: Die Radversicherung Speiche zahlt bei Diebstahl den Neupreis bis 4.000 Euro, wenn das Rad angeschlossen war. Schäden durch Stürze sind bis 600 Euro versichert, Verschleiß gar nicht. Der Diebstahl ist binnen drei Tagen der Polizei und binnen sieben Tagen uns zu melden.
P: Der Beitrag beträgt 84 Euro im Jahr; wer drei Jahre keinen Schaden hat, zahlt ein Viertel weniger. Der Schutz gilt in ganz Europa, auch für Mieträder aus Deutschland. Gekündigt werden kann mit einer Frist von einem Monat. Räder von Kurieren nehmen wir nicht auf.
condition | Zahlt Speiche, wenn mein Rad gestohlen wird? | Den Neupreis gibt es, [[vorausgesetzt, das Rad war festgemacht||ob das Rad festgemacht war oder nicht]].
arithmetic | Was zahle ich nach drei schadenfreien Jahren? | Der Jahresbeitrag liegt dann bei [[63||84]] Euro.
scope | Wo sind Mieträder versichert? | Für gemietete Räder besteht Schutz [[europaweit||nur in Deutschland]].
negation | Ist Verschleiß versichert? | Stürze sind bis 600 Euro gedeckt. Abnutzung ist es [[keineswegs||gleichfalls]].
comparison | Welche Meldefrist ist kürzer? | Bei der Polizei muss man sich [[schneller||später]] melden als bei der Versicherung.
paraphrase | Ich fahre beruflich Pakete mit dem Rad aus. Kann ich es versichern? | [[Für Zusteller steht dieser Vertrag nicht offen||Räder von Kurieren nehmen wir bis 4.000 Euro auf]].

# garten
P: Dicke Bohnen sät man im März fünf Zentimeter tief. Sie keimen nach etwa zwei Wochen und vertragen leichten Frost. Gegossen wird wenig, vor der Blüte fast gar nicht. Gegen Blattläuse hilft es ausnahmslos, die Spitzen auszubrechen. Geerntet wird von unten nach oben.
P: „Stimmt es, dass man nach dem Mond säen muss?“, fragt eine Leserin. Gärtnermeister Uwe Brandt hat zehn Jahre lang verglichen und keinen Unterschied gefunden. Eine andere Leserin bezweifelt, dass Kaffeesatz gegen Schnecken hilft; Brandt hat es geprüft und hält die Wirkung für belegt.
question_or_quote | Muss man nach dem Mond säen? | Der Mond spielt [[nach Brandts Vergleichen keine Rolle||nach Brandts Vergleichen eine Rolle]] für die Saat.
question_or_quote | Hilft Kaffeesatz gegen Schnecken? | Dass Kaffeesatz Schnecken fernhält, [[hat Brandt festgestellt||wird von Brandt bezweifelt]].
unit | Wie tief sät man die Bohnen? | Die Samen kommen fünf [[Zentimeter||Millimeter]] tief in die Erde.
hedge | Hilft das Ausbrechen der Spitzen gegen Läuse? | Wer die Spitzen entfernt, wird die Läuse [[jedes Mal||meist, aber nicht immer]] los.
direction_word | In welcher Richtung wird geerntet? | Beim Pflücken arbeitet man sich [[nach oben||nach unten]] vor.
paraphrase | Was ist bei Kälte? | [[Ein bisschen Minusgrade schaden den Pflanzen nicht||Die Bohnen vertragen keinen leichten Frost]].

# museum
P: Eintritt ins Uhrenmuseum: Erwachsene 9 Euro, Schüler 4 Euro, Kinder unter sechs frei. Die Familienkarte für zwei Erwachsene und beliebig viele Kinder kostet 19 Euro. Jeden ersten Freitag im Monat zahlt niemand. Die Turmführung kostet 3 Euro extra und ist erst ab zwölf Jahren erlaubt.
P: Die Kuckucksuhr von 1780 schenkte die Familie Faller, die Taschenuhr des Grafen kaufte das Museum 1966 in Basel. Alle Uhren im Saal 2 gehen noch. Saal 3 ist bis Ostern geschlossen. Fotografieren ist mit und ohne Blitz gestattet.
recombination | Wie kamen Kuckucksuhr und Taschenuhr ins Museum? | [[Die Kuckucksuhr war ein Geschenk, die Taschenuhr ein Kauf||Die Taschenuhr war ein Geschenk, die Kuckucksuhr ein Kauf]].
quantifier | Gehen die Uhren in Saal 2? | In Saal 2 läuft [[jede||nur ein Teil]] der Uhren noch.
condition | Darf ich fotografieren? | Bilder sind erlaubt, [[auch wenn der Blitz leuchtet||aber nur bei ausgeschaltetem Blitz]].
multi_hop | Ich bin Schüler, elf Jahre alt. Was zahle ich, und darf ich auf den Turm? | Der Eintritt kostet Sie vier Euro. Auf den Turm dürfen Sie [[noch nicht||schon]].
list_member | Wer kommt immer kostenlos hinein? | Keinen Eintritt zahlen jederzeit [[Kinder unter sechs||Schüler]].
paraphrase | Wann ist der Eintritt für alle frei? | [[Einmal monatlich braucht keiner Geld für die Kasse||Jeden Freitag im Monat zahlt niemand]].

# see
P: Von 2009 bis 2019 untersuchten Biologen den Lankower See. Die Sichttiefe stieg von 1,2 auf 2,9 Meter. Vier der sechs Muschelarten nahmen zu, eine ab, eine blieb gleich. Der Zander verschwand 2016. Das Wasser war am Ende 1,1 Grad wärmer.
P: Die bessere Sicht geht auf die neue Kläranlage zurück. Der Rückgang der Hechte könnte mit den Kormoranen zusammenhängen. Medikamentenreste wurden nicht gemessen. Der See ist 85 Hektar groß, der benachbarte Glambecksee nur halb so groß. 2029 wird erneut gezählt.
direction_word | Wie änderte sich die Sichttiefe? | Die Sicht unter Wasser wurde [[besser||schlechter]].
quantifier | Wie ging es den Muscheln? | Zugenommen haben [[die meisten||alle]] Muschelarten.
hedge | Sind die Kormorane schuld am Rückgang der Hechte? | Die Kormorane [[haben damit eventuell||haben damit nachweislich]] zu tun.
unit | Wie groß ist der Lankower See? | Der See bedeckt 85 [[Hektar||Quadratkilometer]].
number | Um wie viel Grad wurde das Wasser wärmer? | Das Wasser erwärmte sich um [[1,1||2,9]] Grad.
comparison | Welcher See ist größer? | Der Glambecksee ist [[kleiner||größer]] als der Lankower See.

# lehre
P: Im ersten Lehrjahr zahlt die Tischlerei Borg 780 Euro, im zweiten 870, im dritten 990. An zwei Tagen in der Woche ist Berufsschule, montags und mittwochs. Mit guten Noten kann man um ein halbes Jahr verkürzen. Sicherheitsschuhe stellt der Betrieb, Werkzeug nicht.
P: Bewerbungen nimmt Meisterin Anke Borg bis zum 30. Juni an. Verlangt werden ein Führerschein und ein Praktikum von einer Woche. Von den letzten neun Lehrlingen blieben acht. Den Bau von Treppen lernt man erst im dritten Jahr, Fenster schon im zweiten.
conversion | Um wie viele Monate kann ich die Lehre abkürzen? | Gute Noten ersparen Ihnen [[sechs||drei]] Monate.
list_member | An welchen Tagen ist Schule? | Die Schultage sind Montag und [[Mittwoch||Donnerstag]].
negation | Brauche ich einen Führerschein? | Ein Praktikum gehört dazu. Ein Führerschein [[ist Pflicht||ist verzichtbar]].
order | Was lernt man früher, Fenster oder Treppen? | [[Fenster kommen vor Treppen||Treppen kommen vor Fenstern]] an die Reihe.
table_cell | Was verdient man im dritten Jahr? | Das letzte Lehrjahr bringt monatlich [[990||870]] Euro.
date | Bis wann kann ich mich bewerben? | Bewerbungsschluss ist Ende [[Juni||Juli]].

# hausordnung
P: Hausordnung Lindenhof: Ruhe gilt von 22 bis 6 Uhr und mittags von 13 bis 15 Uhr. Grillen ist im Hof und auf den Balkonen erlaubt. Die Treppe reinigen die Mieter im Wechsel, den Keller der Hausmeister. Fahrräder gehören in den Schuppen, Kinderwagen dürfen im Flur stehen.
P: Die Waschmaschine kostet 1,20 Euro je Waschgang, der Trockner 80 Cent. Haustiere außer Kleintieren brauchen die Zustimmung der Verwaltung. Wer länger als vier Wochen verreist, hinterlegt einen Schlüssel bei Frau Sommer; bei Herrn Ilic meldet man Schäden.
name | Bei wem melde ich einen Schaden? | Für Schäden ist [[Herr Ilic||Frau Sommer]] zuständig.
scope | Wo darf ich grillen? | Gegrillt werden darf [[auch auf dem Balkon||nur im Hof]].
recombination | Wer putzt was? | [[Die Mieter putzen die Treppe, der Hausmeister den Keller||Der Hausmeister putzt die Treppe, die Mieter den Keller]].
number | Wie viele Stunden dauert die Mittagsruhe? | Mittags muss man [[zwei||drei]] Stunden leise sein.
multi_hop | Ich verreise fünf Wochen. Wer bekommt den Schlüssel, und wohin kommt mein Rad? | Den Schlüssel erhält Frau Sommer. Das Rad kommt in den [[Schuppen||Flur]].
direction_word | Ab welcher Reisedauer muss ich den Schlüssel abgeben? | Den Schlüssel hinterlegt man bei Reisen von [[mehr||weniger]] als vier Wochen.
"""
