"""Numbers, months and units by name."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

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

WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays lunes montag montags lundi",
            "tuesday tuesdays martes dienstag dienstags mardi",
            "wednesday wednesdays miércoles mittwoch mittwochs mercredi",
            "thursday thursdays jueves donnerstag donnerstags jeudi",
            "friday fridays viernes freitag freitags vendredi",
            "saturday saturdays sábado sábados samstag samstags samedi",
            "sunday sundays domingo domingos sonntag sonntags dimanche",
        ),
        start=1,
    )
    for name in names.split()
}

ROUGHLY: Final = words(
    "about around approximately roughly nearly almost just some circa approx "
    "unos unas casi cerca aproximadamente alrededor rund etwa ungefähr knapp fast zirka ca "
    "environ presque près quelque "
    "约 近 差"
)
"""Before a number that is not exact."""
MEASURING: Final = words(
    "cost costs costing pay pays paid price priced take takes took last lasts lasted weigh weighs measure measures "
    "amount amounts cuesta cuestan paga pagan pagar dura duran vale valen pesa mide "
    "kostet kosten dauert dauern beträgt wiegt misst zahlt zahlen "
    "coûte coûtent paie paient payer dure durent vaut valent pèse mesure"
)
"""Verbs that say what number it is, and nothing of what it is the number of."""
FREE_OF_CHARGE: Final = words(
    "free kostenlos kostenlose kostenloser kostenloses kostenfrei gratis gratuit gratuite gratuits gratuites "
    "gratuito gratuita gratuitos gratuitas"
)
"""A price of nothing."""
ADVERBS_OF_PERIODS: Final = {
    word: period
    for period, listed in {
        "day": "daily diario diaria diarios diarias diariamente täglich quotidien quotidienne quotidiennement",
        "week": "weekly semanal semanales semanalmente wöchentlich hebdomadaire",
        "month": "monthly mensual mensuales mensualmente monatlich mensuel mensuelle mensuels",
        "year": "yearly annual annually anual anuales anualmente jährlich annuel annuelle annuels",
    }.items()
    for word in listed.split()
}
"""Word -> how often."""
RANGES: Final = frozenset(["to", "through", "thru", "until", "till", "a", "al", "hasta", "bis", "à", "au", "至", "到"])
"""Between the first and the last: "Monday to Friday", "48 to 60 million"."""

NUMBER_WORDS: Final = {
    word: value
    for value, words in {
        2: "two dos zwei deux",
        3: "three tres drei trois",
        4: "four cuatro vier quatre",
        5: "five cinco fünf cinq",
        6: "six seis sechs",
        7: "seven siete sieben sept",
        8: "eight ocho acht huit",
        9: "nine nueve neun",
        10: "ten diez zehn dix",
        11: "eleven once elf onze",
        12: "twelve doce zwölf douze",
        13: "thirteen trece dreizehn treize",
        14: "fourteen catorce vierzehn quatorze",
        15: "fifteen quince fünfzehn quinze",
        16: "sixteen dieciséis sechzehn seize",
        17: "seventeen diecisiete siebzehn",
        18: "eighteen dieciocho achtzehn",
        19: "nineteen diecinueve neunzehn",
        20: "twenty veinte zwanzig vingt",
        30: "thirty treinta dreißig trente",
        40: "forty cuarenta vierzig quarante",
        50: "fifty cincuenta fünfzig cinquante",
        60: "sixty sesenta sechzig soixante",
        70: "seventy setenta siebzig",
        80: "eighty ochenta achtzig",
        90: "ninety noventa neunzig",
        100: "hundred cien hundert cent",
        1000: "thousand mil tausend mille",
    }.items()
    for word in words.split()
    if word not in {"once", "sept", "elf", "mil", "cent", "dos"}  # English words, months and units elsewhere
}

UNITS: Final = {
    word: unit
    for unit, words in {
        "metre": "metre metres meter meters m metro metros mètre mètres metern",
        "foot": "foot feet ft pie pies fuß pied pieds",
        "inch": "inch inches pulgada pulgadas zoll pouce pouces",
        "kilometre": "kilometre kilometres kilometer kilometers kilometern km kilómetro kilómetros "
        "kilomètre kilomètres",
        "mile": "mile miles milla millas meile meilen",
        "centimetre": "centimetre centimetres centimeter centimeters cm centímetro centímetros centimètre centimètres",
        "millimetre": "millimetre millimetres millimeter millimeters mm milímetro milímetros millimètre millimètres",
        "milligram": "milligram milligrams mg miligramo miligramos milligramm milligramme milligrammes",
        "microgram": "microgram micrograms mcg µg microgramo microgramos mikrogramm microgramme microgrammes",
        "tonne": "tonne tonnes ton tons tonelada toneladas tonnen",
        "millilitre": "millilitre millilitres milliliter milliliters ml mililitro mililitros",
        "centilitre": "centilitre centilitres centiliter centiliters cl centilitro centilitros zentiliter",
        "decilitre": "decilitre decilitres deciliter deciliters dl decilitro decilitros deziliter décilitre décilitres",
        "teaspoon": "teaspoon teaspoons tsp cucharadita cucharaditas teelöffel tl",
        "tablespoon": "tablespoon tablespoons tbsp cucharada cucharadas esslöffel",
        "cup": "cup cups taza tazas tasse tassen tasses",
        "kilobyte": "kilobyte kilobytes kb ko kilooctet kilooctets",
        "megabyte": "megabyte megabytes mb mo megas mégaoctet mégaoctets",
        "gigabyte": "gigabyte gigabytes gb go gigas gigaoctet gigaoctets",
        "terabyte": "terabyte terabytes tb téraoctet téraoctets",
        "kilobit": "kilobit kilobits kbit kbps",
        "megabit": "megabit megabits mbit mbps",
        "gigabit": "gigabit gigabits gbit gbps",
        "watt": "watt watts w vatio vatios",
        "kilowatt": "kilowatt kilowatts kw kilovatio kilovatios",
        "megawatt": "megawatt megawatts mw megavatio megavatios",
        "gigawatt": "gigawatt gigawatts gw",
        "kilowatthour": "kwh kilowattstunde kilowattstunden",
        "megawatthour": "mwh megawattstunde megawattstunden",
        "volt": "volt volts voltio voltios",
        "ampere": "ampere amperes amp amps amperio amperios ampère ampères",
        "hertz": "hertz hz",
        "kilohertz": "kilohertz khz",
        "megahertz": "megahertz mhz",
        "gigahertz": "gigahertz ghz",
        "decibel": "decibel decibels db dezibel decibelios décibel décibels",
        "bar": "bar bares bars",
        "calorie": "kcal calorie calories caloría calorías kalorien kilokalorien kilocalories",
        "gram": "gram grams g gramo gramos gramm gramme grammes gr",
        "kilogram": "kilogram kilograms kg kilo kilos kilogramm kilogramo kilogramos kilogramme kilogrammes",
        "pound": "pound pounds lb lbs libra libras pfund livre livres £ gbp",
        "ounce": "ounce ounces oz onza onzas unze unzen",
        "stone": "stone stones",
        "litre": "litre litres liter liters litro litros l litern",
        "gallon": "gallon gallons galón galones gallone gallonen",
        "pint": "pint pints pinta pintas pinte pintes",
        "second": "second seconds segundo segundos sekunde sekunden seconde secondes sec secs sek seg",
        "minute": "minute minutes minuto minutos minuten min mins",
        "hour": "hour hours hora horas stunde stunden heure heures h hr hrs std",
        "day": "day days día días tag tage tagen jour jours",
        "week": "week weeks semana semanas woche wochen semaine semaines",
        "fortnight": "fortnight fortnights quincena quincenas",
        "month": "month months mes meses monat monate monaten mois monats",
        "year": "year years año años jahr jahre jahren ans année années jahres yr yrs",
        "decade": "decade decades década décadas jahrzehnt jahrzehnte jahrzehnten décennie décennies",
        "century": "century centuries siglo siglos jahrhundert jahrhunderte jahrhunderten siècle siècles",
        "percent": "percent % prozent ％ percentage pct",
        "dollar": "dollar dollars $ dólar dólares usd",
        "euro": "euro euros € eur",
        "franc": "franc francs franken franco francos chf",
        "cent": "ct cent cents p pence penny céntimo céntimos centavo centavos cts centime centimes rappen",
        "krone": "krone kroner kronor krona kronen couronne couronnes corona coronas kr nok dkk",
        "yen": "yen yens jpy",
        "yuan": "yuan rmb cny renminbi",
        "peso": "peso pesos",
        "rupee": "rupee rupees inr",
        "zloty": "zloty zlotys złoty pln",
        "square metre": "m² qm quadratmeter quadratmetern sqm m2",
        "square kilometre": "km² quadratkilometer quadratkilometern",
        "square foot": "sqft",
        "cubic metre": "m³ kubikmeter kubikmetern cbm",
        "yard": "yard yards yarda yardas",
        "hectare": "hectare hectares hektar hectárea hectáreas ha",
        "acre": "acre acres",
        "thousand": "thousand mil tausend mille",
        "million": "million millions millón millones millionen",
        "billion": "billion billions milliarde milliarden milliard milliards",
        "celsius": "celsius",
        "fahrenheit": "fahrenheit",
        "degree": "degree degrees grado grados grad degré degrés",
        "time": "times veces mal fois",
        "knot": "knot knots nudos knoten nœuds",
    }.items()
    for word in words.split()
}
"""word -> its unit: the same number of another unit is another quantity."""

DIMENSIONS: Final = {
    unit: (dimension, factor)
    for dimension, units in {
        "length": {
            "metre": 1.0,
            "kilometre": 1e3,
            "centimetre": 1e-2,
            "millimetre": 1e-3,
            "foot": 0.3048,
            "inch": 0.0254,
            "mile": 1609.34,
            "yard": 0.9144,
        },
        "mass": {
            "gram": 1.0,
            "kilogram": 1e3,
            "milligram": 1e-3,
            "microgram": 1e-6,
            "tonne": 1e6,
            "pound": 453.6,
            "ounce": 28.35,
            "stone": 6350.0,
        },
        "time": {
            "second": 1.0,
            "minute": 60.0,
            "hour": 3600.0,
            "day": 86_400.0,
            "week": 604_800.0,
            "fortnight": 1_209_600.0,
            "month": 2_630_000.0,
            "year": 31_557_600.0,
            "decade": 315_576_000.0,
            "century": 3_155_760_000.0,
        },
        "volume": {
            "litre": 1.0,
            "millilitre": 1e-3,
            "centilitre": 1e-2,
            "decilitre": 0.1,
            "teaspoon": 5e-3,
            "tablespoon": 15e-3,
            "cup": 0.24,
            "pint": 0.568,
            "gallon": 3.785,
            "cubic metre": 1e3,
        },
        "area": {
            "hectare": 1.0,
            "acre": 0.4047,
            "square metre": 1e-4,
            "square kilometre": 100.0,
            "square foot": 9.29e-6,
            "square mile": 259.0,
        },
        "data": {"kilobyte": 1e-3, "megabyte": 1.0, "gigabyte": 1e3, "terabyte": 1e6},
        "data rate": {"kilobit": 1e-3, "megabit": 1.0, "gigabit": 1e3},
        "power": {"watt": 1.0, "kilowatt": 1e3, "megawatt": 1e6, "gigawatt": 1e9},
        "energy": {"kilowatthour": 1.0, "megawatthour": 1e3},
        "frequency": {"hertz": 1.0, "kilohertz": 1e3, "megahertz": 1e6, "gigahertz": 1e9},
        "percent": {"percent": 1.0},
        "clock": {"clock": 1.0},
    }.items()
    for unit, factor in units.items()
}
"""Unit -> what it measures, and how many of the dimension's base unit it is."""

SQUARE: Final = words("square cuadrado cuadrados carré carrés quadrat sq")
CUBIC: Final = words("cubic cúbico cúbicos cube cubes")
"""Before or after a unit of length."""

CLOCK_WORDS: Final = {
    word: minutes
    for minutes, words in {
        720.0: "noon midday mediodía mittags midi 中午 正午",
        0.0: "midnight medianoche mitternacht minuit 午夜 零点",
    }.items()
    for word in words.split()
}
"""A time of day in one word -> minutes after midnight."""
AFTERNOON: Final = words(
    "pm afternoon evening tarde noche nachmittags abends nachmittag abend soir après 下午 晚上 傍晚"
)
"""What makes three o'clock 15:00."""
MORNING: Final = words("am morning mañana morgens vormittags früh matin 上午 早上 凌晨 清晨")
