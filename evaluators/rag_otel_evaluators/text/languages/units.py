"""Units, months and words of the clock by name, in five languages."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

_TABLE: Final = """
length metre 1: metre metres meter meters m metro metros mètre mètres metern 米
length foot .3048: foot feet ft pie pies fuß pied pieds 英尺
length inch .0254: inch inches pulgada pulgadas zoll pouce pouces 英寸
length kilometre 1000: kilometre kilometres kilometer kilometers kilometern km kilómetro kilómetros kilomètre \
kilomètres 公里 千米
length mile 1609.34: mile miles milla millas meile meilen 英里
length yard .9144: yard yards yarda yardas
length centimetre .01: centimetre centimetres centimeter centimeters cm centímetro centímetros centimètre \
centimètres 厘米
length millimetre .001: millimetre millimetres millimeter millimeters mm milímetro milímetros millimètre \
millimètres 毫米
mass gram 1: gram grams g gramo gramos gramm gramme grammes gr 克
mass kilogram 1000: kilogram kilograms kg kilo kilos kilogramm kilogramo kilogramos kilogramme kilogrammes 公斤 千克
mass milligram .001: milligram milligrams mg miligramo miligramos milligramm milligramme milligrammes 毫克
mass microgram .000001: microgram micrograms mcg µg microgramo microgramos mikrogramm microgramme microgrammes
mass tonne 1000000: tonne tonnes ton tons tonelada toneladas tonnen 吨
mass pound 453.6: pound pounds lb lbs libra libras pfund livre livres
mass ounce 28.35: ounce ounces oz onza onzas unze unzen
time second 1: second seconds segundo segundos sekunde sekunden seconde secondes sec secs sek seg s 秒
time minute 60: minute minutes minuto minutos minuten min mins 分钟
time hour 3600: hour hours hora horas stunde stunden heure heures h hr hrs std 小时 钟头
time day 86400: day days día días tag tage tagen jour jours 天 日
time week 604800: week weeks semana semanas woche wochen semaine semaines 周 星期
time month 2629800: month months mes meses monat monate monaten mois monats 个月 月
time year 31557600: year years año años jahr jahre jahren ans année années jahres yr yrs 年
time decade 315576000: decade decades década décadas jahrzehnt jahrzehnte jahrzehnten décennie décennies
time century 3155760000: century centuries siglo siglos jahrhundert jahrhunderte jahrhunderten siècle siècles 世纪
volume litre 1: litre litres liter liters litro litros l litern 升
volume millilitre .001: millilitre millilitres milliliter milliliters ml mililitro mililitros 毫升
volume centilitre .01: centilitre centilitres centiliter centiliters cl centilitro centilitros zentiliter
volume teaspoon .005: teaspoon teaspoons tsp cucharadita cucharaditas teelöffel
volume tablespoon .015: tablespoon tablespoons tbsp cucharada cucharadas esslöffel
volume cup .24: cup cups taza tazas tasse tassen tasses
volume pint .568: pint pints pinta pintas pinte pintes
volume gallon 3.785: gallon gallons galón galones gallone gallonen
volume cubic-metre 1000: m³ kubikmeter kubikmetern cbm 立方米
area square-metre .0001: m² qm quadratmeter quadratmetern sqm 平方米
area hectare 1: hectare hectares hektar hectárea hectáreas ha 公顷
area acre .4047: acre acres
area square-kilometre 100: km² quadratkilometer quadratkilometern 平方公里
data kilobyte .001: kilobyte kilobytes kb ko
data megabyte 1: megabyte megabytes mb mo megas
data gigabyte 1000: gigabyte gigabytes gb go gigas
data terabyte 1000000: terabyte terabytes tb
rate megabit 1: megabit megabits mbit mbps
rate gigabit 1000: gigabit gigabits gbit gbps
power watt 1: watt watts w vatio vatios
power kilowatt 1000: kilowatt kilowatts kw kilovatio kilovatios 千瓦
power megawatt 1000000: megawatt megawatts mw megavatio megavatios
energy kilowatthour 1: kwh kilowattstunde kilowattstunden 千瓦时
frequency hertz 1: hertz hz
frequency megahertz 1000000: megahertz mhz
frequency gigahertz 1000000000: gigahertz ghz
temperature celsius 1: celsius °c ℃ 摄氏度
temperature fahrenheit 1: fahrenheit °f
degree degree 1: degree degrees grado grados grad degré degrés ° 度
voltage volt 1: volt volts voltio voltios v
calorie calorie 1: kcal calorie calories caloría calorías kalorien kilokalorien kilocalories
share percent 1: percent % prozent ％ percentage pct
money dollar 1: dollar dollars $ dólar dólares usd 美元
money euro 1: euro euros € eur 欧元
money pound-sterling 1: £ gbp sterling 英镑
money franc 1: franc francs franken franco francos chf
money cent 1: ct cent cents p pence penny céntimo céntimos centavo centavos cts centime centimes rappen
money krone 1: krone kroner kronor krona kronen couronne couronnes corona coronas kr nok dkk sek
money yen 1: yen yens jpy ¥ 日元
money yuan 1: yuan rmb cny renminbi 元
money peso 1: peso pesos
money rupee 1: rupee rupees inr
money zloty 1: zloty zlotys złoty pln
age year-of-age 1: 岁
times time 1: times time vez veces mal fois 次
"""

UNITS: Final[dict[str, tuple[str, str, float]]] = {
    word: (dimension, unit, float(factor))
    for head, listed in (row.split(":") for row in _TABLE.strip().splitlines())
    for dimension, unit, factor in [head.split()]
    for word in listed.split()
}
"""Word -> what it measures, the unit, and how many of the dimension's base unit that is. Money has no fixed rate."""
CONVERTED: Final = words("length mass time volume area data rate power frequency")
"""Dimensions of which an amount may be said in another unit."""
AFTER_FIGURES: Final = words("m g l h w s v p mo go ko sec sek min mal time kr")
"""Units only directly after figures: elsewhere they are other words."""
BEFORE_NUMBER: Final = words("$ € £ ¥ usd eur gbp chf")
"""Currencies that may stand before their amount."""

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan enero januar janvier jänner",
            "february feb febrero februar février",
            "march mar marzo märz mars",
            "april apr abril avril",
            "may mayo mai",
            "june jun junio juni juin",
            "july jul julio juli juillet",
            "august aug agosto août",
            "september sep sept septiembre septembre",
            "october oct octubre oktober octobre",
            "november nov noviembre novembre",
            "december dec diciembre dezember décembre",
        ),
        start=1,
    )
    for name in names.split()
}
RANGES: Final = words("to through until till a al hasta bis à au and y und et or o oder ou – — - 至 到")
"""Between two numbers of which the second names the unit of both: "48 to 60 million"."""
CLOCK_WORDS: Final = {
    **dict.fromkeys(["noon", "midday", "mediodía", "mittags", "midi", "中午", "正午"], 720.0),
    **dict.fromkeys(["midnight", "medianoche", "mitternacht", "minuit", "午夜", "零点"], 0.0),
}
"""A time of day in one word -> minutes after midnight."""
AFTERNOON: Final = words("pm p.m afternoon evening tarde noche nachmittags abends nachmittag abend 下午 晚上 傍晚")
"""What makes three o'clock 15:00."""
MORNING: Final = words("am a.m morning mañana morgens vormittags früh matin 上午 早上 凌晨 清晨")
OCLOCK: Final = words("o'clock uhr h heures 点 am pm a.m p.m")
"""After a number that is a time of day. "7 h" may be an amount of time, too."""
LABELS: Final = words(
    "step steps passage passages page pages chapter figure table section version source document item question number "
    "paso página capítulo schritt seite kapitel étape page chapitre 第"
)
"""Before a number that is a name: "step 4"."""
REPEATED: Final = {
    "once": 1.0,
    "twice": 2.0,
    "thrice": 3.0,
    "einmal": 1.0,
    "zweimal": 2.0,
    "dreimal": 3.0,
    "viermal": 4.0,
}
"""How many times, in one word."""
FREE_OF_CHARGE: Final = words(
    "free kostenlos kostenlose kostenloser kostenloses kostenfrei gratis gratuit gratuite gratuits gratuites "
    "gratuito gratuita gratuitos gratuitas 免费"
)
"""A price of nothing."""
