"""Numbers, months and units by name."""

from __future__ import annotations

from typing import Final

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
        15: "fifteen quince fünfzehn quinze",
        20: "twenty veinte zwanzig vingt",
        30: "thirty treinta dreißig trente",
        40: "forty cuarenta vierzig quarante",
        50: "fifty cincuenta fünfzig cinquante",
        60: "sixty sesenta sechzig soixante",
        100: "hundred cien hundert cent",
        1000: "thousand mil tausend mille",
    }.items()
    for word in words.split()
    if word not in {"once", "sept", "elf", "mil", "cent", "dos"}  # English words, months and units elsewhere
}

UNITS: Final = {
    word: unit
    for unit, words in {
        "metre": "metre metres meter meters m metro metros mètre mètres",
        "foot": "foot feet ft pie pies",
        "inch": "inch inches pulgada pulgadas",
        "kilometre": "kilometre kilometres kilometer kilometers km kilómetro kilómetros kilomètre kilomètres",
        "mile": "mile miles milla millas meile meilen",
        "centimetre": "centimetre centimetres centimeter centimeters cm",
        "millimetre": "millimetre millimetres millimeter millimeters mm",
        "milligram": "milligram milligrams mg miligramo miligramos milligramm",
        "microgram": "microgram micrograms mcg",
        "tonne": "tonne tonnes ton tons",
        "millilitre": "millilitre millilitres milliliter milliliters ml",
        "a.m.": "am",
        "p.m.": "pm",
        "megabyte": "megabyte megabytes mb",
        "gigabyte": "gigabyte gigabytes gb",
        "terabyte": "terabyte terabytes tb",
        "kilowatt": "kilowatt kilowatts kw",
        "megawatt": "megawatt megawatts mw",
        "gram": "gram grams g gramo gramos gramm gramme grammes",
        "kilogram": "kilogram kilograms kg kilo kilos",
        "pound": "pound pounds lb lbs libra libras",
        "ounce": "ounce ounces oz",
        "litre": "litre litres liter liters litro litros",
        "gallon": "gallon gallons",
        "second": "second seconds segundo segundos sekunde sekunden seconde secondes",
        "minute": "minute minutes minuto minutos minuten",
        "hour": "hour hours hora horas stunde stunden heure heures",
        "day": "day days día días tag tage tagen jour jours",
        "week": "week weeks semana semanas woche wochen semaine semaines",
        "month": "month months mes meses monat monate monaten mois",
        "year": "year years año años jahr jahre jahren ans année années",
        "percent": "percent % prozent",
        "dollar": "dollar dollars $ dólar dólares",
        "euro": "euro euros €",
        "thousand": "thousand mil tausend mille",
        "million": "million millions millón millones millionen",
        "billion": "billion billions milliarde milliarden milliard milliards",
        "celsius": "celsius",
        "fahrenheit": "fahrenheit",
    }.items()
    for word in words.split()
}
"""word -> its unit: the same number of another unit is another quantity."""
