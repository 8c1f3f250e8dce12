"""One further true sentence a block, added to some answers (the same in both twins)."""

SHARED = {
    "en": """
kettle: The kettle turns itself off at boiling point.
returns: The money arrives on the payment method that was used for the order.
leave: Temporary staff get no more than the law provides.
ferry: The crossing takes not quite an hour.
doloran: Children below the age of twelve should not take it.
bridge: Walkers can use the Mill Lane crossing for the time being.
brewer: More than three hundred people worked there at its best time.
bats: The bats were tracked with small transmitters.
loaf: It stays fresh for roughly a week in a clay pot.
ratelimit: When a key goes over the limit, the server replies with status 429.
library: Books are lent for four weeks.
museum: The simulator costs two pounds on top.
dishwashers: The best grade went to the Corda X.
marathon: Walkers set out at half past seven.
dogcover: The contract can be ended at one month's notice.
volcano: Guided tours set off on the western side.
council: Two independent members did not take sides in the vote.
solar: The panels are cleaned once a year.
hotel: Guests can check in from three in the afternoon.
gym: Visitors without a membership pay eight euros a day.
release: The new version needs at least Android 11.
trial: Nobody died during the trial.
match: The next game is on 9 November.
carhire: Whoever drives must be at least 21.
water: People can fetch water from a tanker at the chapel.
orchestra: The orchestra once toured Japan.
bees: A queen can lay two thousand eggs a day in early summer.
account: A second card costs ten pounds a year.
permit: A permit is issued within eight working days.
expedition: The party left Hobart in March 1911.
sync: Selective sync has to be switched on by hand.
moss: A lawn needs two or three years to become a moss garden.
ebike: The bike itself weighs 23 kg.
lighthouse: There are 197 steps up the tower.
theatre: A dozen performances are planned.
warehouse: Fire drills come without warning, twice a year.
lawsuit: The tanker had lost diesel off Point Lanner.
river: The water grew warmer during those ten years.
election: A recount confirmed the result.
trainee: A school-leaving certificate is needed.
tea: The shop in question stocks 48 kinds of tea.
garden_centre: Annuals are sold without a guarantee.
archive: Part of the stock burned in 1945.
stadium: Guests from outside sit in section E.
railcard: On night trains the Coastcard is of no use.
compost: The heap should be turned every six weeks.
glider: The long flight began and ended in Aalen.
clinic: The surgery closes on Wednesday afternoons.
bakery: One loaf of the saffron bread costs 3.80 euros.
desert: Nights can be frosty there.
allotments: Water is not available in winter.
observatory: Visitors can come on clear Friday nights.
broadband: The router can also be bought for 99 pounds.
newtown: The railway line has been closed since 1967.
""",
    "es": """
cafetera: La máquina se apaga sola pasado un rato.
biblioteca: Cada lector puede llevarse hasta seis libros.
vacaciones: Quien se casa recibe quince días naturales.
tren: El billete de ida y vuelta vale catorce euros.
jarabe: Antes de usarlo hay que agitar el frasco.
puente: El cierre empieza el 3 de septiembre.
bodega: La bodega nació en Toro en 1903.
cigueñas: El estudio abarcó cuatro años.
gazpacho: Las cantidades son para seis comensales.
alquiler: El conductor debe haber cumplido los 23.
teatro: La compañía se formó en Getafe.
nube: En junio hubo una caída de tres horas.
volcan: Desde abril la tierra tiembla más.
ciclismo: La etapa de mañana mide 168 km.
archivo: Las estanterías se hallan en un antiguo convento.
panaderia: La torta de calabaza se vende solo en otoño y parte del invierno.
seguro: Los menores de 14 años van gratis en la póliza de sus padres.
huerto: Las habas brotan en unas dos semanas.
museo: La tercera sala no se puede visitar hasta 2026.
lago: En 2028 se hará otro recuento.
api: El entorno de pruebas se vacía todos los lunes.
molino: La rueda mide cuatro metros.
fiestas: Los perros asustados tienen sitio en la protectora.
teletrabajo: El ordenador lo pone la empresa.
""",
    "de": """
staubsauger: Asche darf man damit nicht aufsaugen.
rueckgabe: Das Geld kommt auf das Konto zurück, von dem gezahlt wurde.
urlaub: Heiligabend zählt als halber Arbeitstag.
faehre: Ein Auto kostet 32 Euro.
tropfen: Kinder unter sechs sollen das Mittel nicht bekommen.
brunnen: Das Land beteiligt sich mit einem Drittel.
klavier: Gegründet wurde die Werkstatt 1889.
igel: In den Winterschlaf gingen die Tiere im Schnitt Anfang November.
stollen: Statt Orangeat passen auch Aprikosen.
carsharing: Wer raucht, zahlt hundert Euro.
theater: Eine Pause gibt es nicht.
cloud: Bis zu vierzig Leute können sich einen Ordner teilen.
berg: Der Wächter rechnet diesen Winter nicht mit einer großen Lawine.
rudern: In der Gesamtwertung liegt der Hecht vorn.
stadtarchiv: Eine Kopie kostet dreißig Cent.
gasthof: Im Februar bleibt das Haus zu.
versicherung: Der Vertrag lässt sich mit einem Monat Frist kündigen.
garten: Die Saat keimt nach rund zwei Wochen.
museum: Die Führung auf den Turm kostet drei Euro zusätzlich.
see: Im Jahr 2029 soll wieder gezählt werden.
lehre: Einen Teil der Woche sitzt man in der Berufsschule.
hausordnung: Nachtruhe herrscht ab zehn Uhr abends.
weihnachtsmarkt: Glühwein ist auch alkoholfrei zu haben.
wetterstation: Die Station kommt inzwischen ohne Personal aus.
""",
    "fr": """
machine_a_laver: Le filtre se nettoie tous les deux mois.
piscine: Les shorts de bain ne sont pas admis.
conges: Le congé principal compte au moins douze jours.
bac: La traversée dure moins d'une demi-heure.
sirop: Le traitement ne doit pas durer plus de cinq jours.
halle: Durant le chantier, le marché se tient place des Tilleuls.
faiencerie: L'entreprise est née à Nevrac en 1876.
loutres: Les animaux portaient des émetteurs.
clafoutis: Les prunes peuvent remplacer les cerises.
location: Le deuxième conducteur ne coûte rien.
theatre: Le mardi, la place est à moitié prix.
nuage: L'assistance ne sait pas retrouver les mots de passe.
avalanche: Tissot ne s'attend pas à une grande avalanche cet hiver.
regate: Au général, la Sterne reste en tête.
archives: Des bénévoles s'occupent des plans.
auberge: En janvier, la maison reste fermée.
assurance: Un mois de préavis suffit pour résilier.
potager: Les graines lèvent au bout de deux semaines.
musee: L'atelier se paie cinq euros en sus.
etang: L'écrevisse a disparu de l'étang de Brissac.
apprentissage: Presque tous les apprentis sont restés dans l'entreprise.
moulin: On peut le visiter le samedi à la belle saison.
copropriete: Le silence est de mise après 22 h.
marche: Les sacs en plastique y sont bannis depuis 2017.
randonnee: Le dernier bus repart à 19 h 20.
""",
    "zh": """
电饭煲: 内胆不能放进洗碗机。
退货: 退款会回到原来付款的账户。
高铁: 六岁以下的孩子不用买票。
年假: 请病假要有医院的证明。
止咳糖浆: 六岁以下的孩子不能喝。
古桥: 封桥期间可以走下游的新桥。
酱园: 现在还能见到这个品牌。
候鸟: 研究用的是定位器。
月饼: 月饼密封好能放十天左右。
租车: 车里不许抽烟。
话剧: 学生星期三看戏半价。
网盘: 客服找不回忘掉的密码。
雪崩: 巡山员觉得今冬不太会有大雪崩。
龙舟: 总积分目前是金鳞号领先。
档案馆: 有志愿者在帮忙整理族谱。
面馆: 二月里店不开门。
电动车保险: 想退保得提前一个月说。
种豆: 大约两个星期就能出苗。
钟表馆: 三号厅春节以前不开。
湖泊: 2028年还要再查一次。
学徒: 去年的学徒几乎都留下来了。
小区: 晚上十点以后要安静。
水磨坊: 旧磨盘如今在县博物馆。
茶山: 夏天不采茶。
气象站: 1998年以后站里没有人值守。
""",
}


def shared(language: str, block: str) -> str:
    """The further sentence of a block, or an empty text."""
    for line in SHARED[language].strip().splitlines():
        name, text = line.split(": ", 1)
        if name == block:
            return text
    return ""
