"""Further hand-written pairs in Spanish, German, French and Chinese, with longer answers (format: see data_en.py)."""

ES = r"""
# fiestas
P: Las fiestas de Villarrubio duran del 11 al 16 de agosto. El pregón lo lee este año la nadadora Candela Prieto; el anterior lo leyó el cocinero Asier Goñi. El pasacalles sale a las 19:00 de la plaza y termina en el río. Hay dos conciertos gratuitos, el viernes y el domingo; el del sábado cuesta 10 euros.
P: La verbena se prohibió entre 1936 y 1948. La carroza más pesada lleva 1.800 kilos de flores. Participan ocho peñas, dos más que el año pasado. Las calles del centro se cortan al tráfico desde las 17:00, salvo para vecinos con garaje. Los perros asustados por los petardos pueden dejarse en la protectora.
name | ¿Quién lee el pregón este año? | Las fiestas empiezan el 11 de agosto. El pregón corre a cargo de [[Candela Prieto||Asier Goñi]].
number | ¿Cuántas peñas participan? | Este año hay más peñas que el anterior. En total son [[ocho||diez]].
scope | ¿Qué conciertos son gratis? | No se paga nada por [[dos de los conciertos||ninguno de los conciertos]]. Duran las fiestas hasta el 16 de agosto.
recombination | ¿De dónde sale el pasacalles? | El desfile [[arranca en la plaza y acaba en el río||arranca en el río y acaba en la plaza]].
comparison | ¿Hubo más peñas el año pasado? | El año pasado participaron [[menos||más]] peñas que este.
unit | ¿Cuántas flores lleva la carroza más pesada? | La mayor de las carrozas carga 1.800 [[kilos||toneladas]] de flores.
conversion | ¿Cuánto pesan en toneladas las flores de esa carroza? | Sus flores pesan [[1,8||18]] toneladas.

# teletrabajo
P: En Grupo Miralles se puede teletrabajar dos días por semana, tres si se vive a más de 50 kilómetros. La empresa presta el ordenador y paga 35 euros al mes por la luz y la conexión. Los becarios no pueden teletrabajar durante los dos primeros meses. Los martes todo el mundo acude a la oficina.
P: La solicitud se envía al responsable directo con una semana de antelación. El acuerdo se revisa cada seis meses y cualquiera de las partes puede anularlo. Según una encuesta interna, el 64 por ciento rinde igual en casa, el 27 por ciento más y el 9 por ciento menos. La silla corre por cuenta del empleado.
number | Vivo a 70 km. ¿Cuántos días puedo teletrabajar? | A esa distancia puede quedarse en casa [[tres||cuatro]] días por semana.
paraphrase | ¿Quién paga la silla? | [[El asiento sale del bolsillo del trabajador||La empresa paga la silla y la luz]].
table_cell | ¿Qué parte de la plantilla dice rendir más en casa? | En la encuesta, dijo rendir más el [[27||64]] por ciento.
date | ¿Qué día de la semana hay que ir a la oficina? | Hay un día fijo en el que nadie teletrabaja. Es el [[martes||viernes]].
role | ¿Quién puede anular el acuerdo? | Puede ponerle fin [[tanto la empresa como el empleado||la empresa, pero no el empleado]].
comparison | ¿Son más los que rinden más o los que rinden menos en casa? | Los que rinden más en casa son [[más numerosos||menos numerosos]] que los que rinden menos.
"""

DE = r"""
# weihnachtsmarkt
P: Der Weihnachtsmarkt in Hohenbruch beginnt am 29. November und endet am 22. Dezember. Von den 46 Buden verkaufen 12 Speisen; im Vorjahr waren es insgesamt 51 Buden. Der Becher kostet 4 Euro Pfand. Sonntags singt um 16 Uhr der Kirchenchor, freitags um 18 Uhr der Shantychor. Die Eisbahn öffnet täglich um 11 Uhr.
P: Geleitet wird der Markt seit 2018 von Birte Lorenz; ihr Vorgänger Gerd Hansen kümmert sich jetzt um die Krippe. Den Baum, 14 Meter hoch, stiftete die Försterei. Glühwein gibt es auch ohne Alkohol. Hunde sind auf dem Markt an der Leine zu führen und auf der Eisbahn verboten.
name | Wer leitet den Markt? | Der Markt endet am 22. Dezember. Die Leitung hat [[Birte Lorenz||Gerd Hansen]].
comparison | Gab es im Vorjahr mehr Buden? | Im Vorjahr war die Zahl der Buden [[höher||niedriger]].
recombination | Welcher Chor singt wann? | [[Freitags tritt der Shantychor auf, sonntags der Kirchenchor||Sonntags tritt der Shantychor auf, freitags der Kirchenchor]].
date | Wann beginnt der Markt? | Los geht es Ende [[November||Dezember]]. Die Eisbahn öffnet jeden Tag um elf.
paraphrase | Muss ich für den Becher bezahlen? | [[Man hinterlegt ein paar Euro dafür||Der Becher kostet kein Pfand]].
conversion | Wie hoch ist der Baum in Zentimetern? | Der gestiftete Baum misst [[1.400||140]] Zentimeter.
comparison | Verkaufen mehr Buden Speisen oder andere Dinge? | Essen gibt es an [[weniger||mehr]] Buden als andere Waren.

# wetterstation
P: Die Wetterstation auf dem Rabenkopf wurde 1924 vom Lehrer Konrad Bleich eingerichtet und 1951 vom Staat übernommen. Gemessen wird alle zehn Minuten. Die höchste Temperatur, 33,8 Grad, trat am 7. August 2018 auf, die niedrigste, minus 27,4 Grad, im Februar 1929. Seit 1996 arbeitet die Station ohne Personal.
P: Die letzte Beobachterin, Friederike Strobl, schrieb ein Buch über ihre 19 Jahre auf dem Berg. Darin heißt es, der Blitz habe den Mast elfmal getroffen. Die Hütte daneben ist bewirtschaftet, außer im April. Zuerst kam der Weg dorthin, dann, 1933, die Seilbahn. Der Schnee blieb 2021 bis zum 3. Juni liegen.
order | Was gab es zuerst, die Seilbahn oder den Weg? | Die Seilbahn kam [[nach||vor]] dem Weg. Die Station ist noch älter als sie.
name | Wer richtete die Station ein? | Die Station ist von 1924. Eingerichtet hat sie [[Bleich||Strobl]].
number | Wie viele Jahre war Strobl auf dem Berg? | Auf dem Berg verbrachte Strobl [[19||29]] Jahre. Sie schrieb darüber ein Buch.
date | Wann wurde die niedrigste Temperatur gemessen? | Am kältesten war es im [[Februar||August]] 1929.
paraphrase | Wann bekommt man in der Hütte nichts zu essen? | [[Im zweiten Frühlingsmonat hat sie keinen Wirt||Bewirtschaftet ist die Hütte daneben im April]].
conversion | Wie viele Messungen gibt es pro Stunde? | In einer Stunde wird [[sechsmal||zehnmal]] gemessen.
recombination | Was ist über 1951 bekannt? | Im Jahr 1951 [[ging die Station an den Staat über||wurde die Station vom Lehrer eingerichtet]].
"""

FR = r"""
# marche
P: Le marché de Grandlieu a lieu le mercredi et le samedi de 8 h à 13 h. On y compte 54 étals, dont 9 de poisson ; il y a dix ans, ils étaient 71. Une place coûte 2,10 euros le mètre et par jour. Les producteurs du canton choisissent leur emplacement avant les autres marchands.
P: Le placier, Bruno Cazal, a remplacé Irène Vasseur en 2020. Les sacs en plastique sont interdits depuis 2017. Le fromager Lucas Amiel vend des chèvres affinés quatre semaines ; sa voisine, Rose Tardieu, du miel de châtaignier. Les voitures doivent être parties avant 7 h 30.
comparison | Y avait-il plus d'étals il y a dix ans ? | Le nombre d'étals était autrefois plus [[élevé||bas]] qu'aujourd'hui.
number | Combien d'étals vendent du poisson ? | Le marché se tient deux fois par semaine. Le poisson se vend à [[neuf||dix]] étals.
recombination | Que vendent Amiel et Tardieu ? | [[Amiel vend du fromage et Tardieu du miel||Tardieu vend du fromage et Amiel du miel]].
direction_word | Quand faut-il enlever sa voiture ? | Les voitures s'en vont [[avant||après]] sept heures et demie.
name | Qui est le placier ? | Le placier a changé en 2020. C'est maintenant [[Cazal||Vasseur]].
unit | Comment le prix d'une place est-il calculé ? | Le tarif dépend de la longueur. On paie 2,10 euros par [[mètre||étal]] et par jour.
order | Qui choisit sa place en premier ? | Les marchands d'ailleurs choisissent [[après||avant]] les producteurs du canton.

# randonnee
P: Le sentier des Falaises va de Plourec à Saint-Guen : 18,4 km, cinq heures et demie de marche, 640 mètres de montée. Il est balisé en jaune. De mars à juin, le tronçon de la pointe est fermé à cause des oiseaux ; on passe alors par le bois, ce qui ajoute 1,5 km.
P: Le gîte de Kermadec compte XXIV lits et se trouve à mi-chemin. Le dîner coûte 19 euros, la nuit 26. On peut planter sa tente, sauf en août. Un panneau de MCMXXVIII rappelle le naufrage du Cormoran, qui fit 31 morts. La légende veut que le capitaine hante la pointe. Le bus revient à 17 h 45 et à 19 h 20.
number_format | Combien de lits y a-t-il au gîte ? | Le gîte est équipé de [[24||26]] lits.
number_format | De quelle année date le panneau ? | Le panneau fut posé en [[1928||1933]].
unit | Combien monte-t-on ? | En tout, on grimpe de 640 [[mètres||kilomètres]].
direction_word | Le détour par le bois rend-il le chemin plus long ? | Par le bois, le trajet devient plus [[long||court]]. Le sentier est balisé en jaune.
paraphrase | Pourquoi ne peut-on pas passer par la pointe en avril ? | [[C'est la saison des nids, qu'il ne faut pas déranger||On passe alors par le bois à cause du naufrage]].
comparison | Qu'est-ce qui coûte le plus cher au gîte ? | Manger au gîte coûte [[moins||plus]] cher qu'y dormir.
paraphrase | Peut-on camper au gîte ? | [[Oui, la toile est admise onze mois sur douze||On peut planter sa tente en août]].
"""

ZH = r"""
# 茶山
P: 云岭茶山海拔1100至1450米，共有茶园2300亩。春茶在清明前后采，秋茶在白露以后采，夏天不采。白毫银针只用芽头，寿眉可以带叶。采茶工按斤计酬，春茶每斤32元，秋茶每斤20元。
P: 茶厂厂长林阿娇2015年接替了林茂松。茶叶先萎凋后烘干，不经揉捻。厂里说存放七年的白茶“包治百病”，卫生部门已责令其撤下这句话。游客可以在四月的周末体验采茶，每人68元，茶叶归自己。
name | 现在的厂长是谁？ | 茶厂2015年换了厂长，现在是[[林阿娇||林茂松]]。
comparison | 春茶和秋茶，哪个工钱高？ | 采秋茶的工钱比春茶[[低||高]]，都按斤算。
direction_word | 秋茶什么时候采？ | 秋茶在白露[[之后||之前]]采，春茶在清明前后采。
question_or_quote | 七年的白茶能治百病吗？ | “包治百病”[[是厂里的广告话，已被责令撤下||已得到卫生部门证实]]。
paraphrase | 体验采的茶叶怎么处理？ | [[自己摘到的可以带回家||茶叶归茶厂，每人每斤32元]]。
list_member | 一年采哪几季？ | 一年采两季，就是[[春茶||夏茶]]和秋茶。
unit | 茶园有多大？ | 云岭的茶园总共2300[[亩||公顷]]。

# 气象站
P: 鹰嘴岩气象站1953年由技术员高世荣建立，1998年改为无人值守。每十分钟观测一次。最高气温36.2度，出现在2017年7月24日；最低气温零下19.5度，出现在1977年1月。索道1986年通车，公路要晚九年。
P: 最后一位观测员白玉兰在山上工作了二十一年，写过一本书，书里说雷电打坏过六次天线。山上的客栈除十二月外都营业，共有18张床。站里的旧仪器2003年送到了市科技馆。
date | 最冷的记录出现在什么时候？ | 最冷的一次是在1977年[[1||7]]月。
name | 气象站是谁建的？ | 气象站1953年就有了，建站的人是[[高世荣||白玉兰]]。
number | 白玉兰在山上多少年？ | 白玉兰写过一本书，她在山上待了[[21||18]]年。
paraphrase | 客栈什么时候不开？ | [[年末那个月歇业||十二月外都不营业]]。
date | 旧仪器什么时候送走的？ | 旧仪器是[[2003||1998]]年送给科技馆的。
direction_word | 公路比索道早还是晚？ | 通公路比通索道[[晚||早]]九年，气象站建得还要早。
comparison | 山上的最高温和最低温，哪个离零度远？ | 最高温离零度比最低温[[远||近]]。
"""
