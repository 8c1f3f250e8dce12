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
        "watt": "watt watts w vatio vatios",
        "kilowatt": "kilowatt kilowatts kw kilovatio kilovatios",
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
        "percent": "percent % prozent ％",
        "dollar": "dollar dollars $ dólar dólares",
        "euro": "euro euros €",
        "franc": "franc francs franken franco francos",
        "yard": "yard yards",
        "hectare": "hectare hectares hektar hectárea hectáreas ha",
        "acre": "acre acres",
        "thousand": "thousand mil tausend mille",
        "million": "million millions millón millones millionen",
        "billion": "billion billions milliarde milliarden milliard milliards",
        "celsius": "celsius",
        "fahrenheit": "fahrenheit",
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
        },
        "time": {
            "second": 1.0,
            "minute": 60.0,
            "hour": 3600.0,
            "day": 86_400.0,
            "week": 604_800.0,
            "month": 2_630_000.0,
            "year": 31_557_600.0,
        },
        "volume": {"litre": 1.0, "millilitre": 1e-3, "gallon": 3.785},
        "area": {"hectare": 1.0, "acre": 0.4047},
        "data": {"megabyte": 1.0, "gigabyte": 1e3, "terabyte": 1e6},
        "power": {"watt": 1.0, "kilowatt": 1e3, "megawatt": 1e6},
        "percent": {"percent": 1.0},
        "clock": {"clock": 1.0},
    }.items()
    for unit, factor in units.items()
}
"""Unit -> what it measures, and how many of the dimension's base unit it is."""
