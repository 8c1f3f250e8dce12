"""Hand-written Spanish pairs (format: see data_en.py)."""

DATA = r"""
# cafetera
P: La cafetera Lumbre 300 prepara hasta ocho tazas y se apaga sola a los 40 minutos. El depósito admite 1,2 litros; no lo llene por encima de la marca roja. Descalcifíquela cada tres meses con vinagre, nunca con lejía. El molinillo puede recalentarse si se usa más de dos minutos seguidos.
P: La garantía cubre el motor durante cinco años y la jarra durante uno. Quedan excluidas las roturas por caída. Para reclamar hay que presentar la factura y el embalaje original.
unit | ¿Cuánta agua cabe en el depósito? | En el depósito entran como máximo 1,2 [[litros||tazas]].
direction_word | ¿Hasta dónde se llena? | El agua debe quedar por [[debajo||encima]] de la señal roja.
hedge | ¿Qué pasa si uso el molinillo tres minutos sin parar? | Un uso tan prolongado [[puede provocar||provoca siempre]] que el molinillo se caliente demasiado.
scope | ¿Qué está cubierto durante cinco años? | Durante cinco años está protegido [[el motor||todo el aparato]].
negation | ¿Necesito la caja para reclamar? | Para reclamar hay que enseñar la factura. La caja en la que vino [[se pide también||no se pide]].
list_member | ¿Con qué puedo quitar la cal? | Para eliminar la cal conviene usar [[vinagre||lejía]].

# biblioteca
P: Horario de la biblioteca de Valdehoz\nLunes y martes: 9:00-14:00\nMiércoles a viernes: 9:00-20:30\nSábado: 10:00-13:30\nDomingo: cerrado
P: El carné es gratuito para los vecinos; los demás pagan 12 euros al año. Se prestan hasta seis libros durante 21 días. El préstamo se puede prorrogar una vez, salvo que otro lector haya reservado el ejemplar. Las revistas no se prestan. La sala infantil cierra media hora antes que el resto.
table_cell | ¿Hasta qué hora abre los martes? | Los martes hay que salir a las [[dos de la tarde||ocho y media de la tarde]].
condition | ¿Puedo quedarme un libro más tiempo? | Se concede una prórroga [[si ningún otro usuario espera el libro||aunque otro lector lo haya reservado]].
conversion | ¿Cuántas semanas dura el préstamo? | Los libros se pueden tener en casa [[tres||seis]] semanas.
multi_hop | ¿A qué hora cierra la sala infantil los sábados? | Los sábados, los niños tienen que dejar su sala a las [[13:00||13:30]].
scope | ¿Para quién no cuesta nada el carné? | El carné es gratis [[para quienes viven en el municipio||para cualquier persona]].
paraphrase | ¿Puedo llevarme una revista a casa? | [[No, los préstamos no incluyen ese tipo de publicación||Las revistas se prestan durante 21 días]].

# vacaciones
P: Los empleados de Textil Romero disponen de 23 días laborables de vacaciones. A partir de los diez años de antigüedad se añaden dos días. Al menos dos semanas deben tomarse seguidas. Las solicitudes las aprueba la jefa de sección y el departamento de personal las registra.
P: Los días no disfrutados caducan el 28 de febrero del año siguiente, excepto en caso de baja médica. Ni el personal de fábrica ni el de oficina puede tomar vacaciones en noviembre. Por matrimonio se conceden 15 días naturales.
arithmetic | Llevo doce años en la empresa. ¿Cuántos días de vacaciones tengo? | Con esa antigüedad le corresponden [[25||27]] días laborables.
role | ¿Quién decide sobre mi solicitud? | El visto bueno lo da [[la jefa de sección||el departamento de personal]].
date | ¿Cuándo caducan los días del año pasado? | Los días pendientes se pierden a finales de [[febrero||noviembre]].
scope | ¿Quién no puede irse de vacaciones en noviembre? | Quedarse sin vacaciones en noviembre afecta [[a toda la plantilla||solo al personal de fábrica]].
condition | ¿Por qué se añaden dos días de vacaciones? | Los dos días adicionales se dan [[por llevar diez años en la casa||por contraer matrimonio]].
quantifier | ¿Debo tomar todas las vacaciones seguidas? | [[Una parte||La totalidad]] de las vacaciones ha de tomarse sin interrupción.

# tren
P: Desde el 9 de junio, el tren de Almazora a Cubells sale a las 6:50, 9:15, 13:40 y 18:05. El trayecto dura una hora y veinte minutos. Los sábados no circula el primero y los domingos solo circulan los dos últimos. Las bicicletas viajan gratis fuera de las horas punta.
P: El billete sencillo cuesta 8,40 euros; el de ida y vuelta, 14. Los menores de seis años no pagan. La antigua línea por Fontseca se cerró en 1985 y hoy es una vía verde. Todos los vagones tienen enchufes.
arithmetic | ¿A qué hora llega el tren de las 9:15? | El tren de las 9:15 llega a Cubells a las [[10:35||10:25]].
number | ¿Cuántos trenes hay el domingo? | Los domingos salen [[dos||cuatro]] trenes.
conversion | ¿Cuántos minutos dura el viaje? | El viaje entre las dos estaciones dura [[80||120]] minutos.
quantifier | ¿Tienen enchufes los vagones? | Se puede cargar el móvil [[en cualquier vagón||solo en algunos vagones]].
date | ¿Cuándo dejó de usarse la línea por Fontseca? | Por Fontseca no pasan trenes desde [[1985||1958]]. Ahora es una vía verde.
order | ¿Cuál es el primer tren del sábado? | El sábado, el primer tren sale [[después||antes]] de las nueve.

# jarabe
P: Tosival jarabe: adultos, 10 ml tres veces al día; niños de 6 a 12 años, 5 ml dos veces al día. No administrar a menores de seis años. Agitar antes de usar. Una vez abierto, el frasco se conserva cuatro semanas a menos de 25 grados. No debe guardarse en la nevera.
P: Efectos adversos. Frecuentes: boca seca. Poco frecuentes: mareo, insomnio. Raros: urticaria. El jarabe puede reducir los reflejos. Contiene sorbitol; consulte a su médico si tiene intolerancia a la fructosa. No contiene alcohol ni gluten.
table_cell | ¿Es habitual el insomnio? | El insomnio figura entre los efectos [[poco frecuentes||frecuentes]].
unit | ¿Qué dosis toma un niño de ocho años? | A esa edad se dan cinco [[mililitros||centilitros]] dos veces al día.
arithmetic | ¿Cuánto jarabe toma un adulto al día? | La cantidad diaria para un adulto suma [[30||10]] ml.
paraphrase | ¿Dónde guardo el frasco? | [[A temperatura ambiente moderada, sin meterlo en el frigorífico||Debe guardarse en la nevera a menos de 25 grados]].
list_member | ¿Qué no contiene? | El producto está libre de [[gluten||sorbitol]] y de alcohol.
hedge | ¿Afecta a los reflejos? | Los reflejos [[podrían||van a]] verse disminuidos al tomarlo.

# puente
P: El Ayuntamiento de Peñalara cerrará el puente de los Frailes el 3 de septiembre para reforzar dos de sus siete arcos. Las obras, adjudicadas a la constructora Ibarcal por 890.000 euros, durarán previsiblemente once semanas. La otra candidata, Obrasur, pedía 120.000 euros más.
P: La concejala Teresa Luján, del partido gobernante, rechazó la propuesta del vecino Emilio Soto de abrir un paso provisional. «¿Se hundirá el puente?», titulaba ayer un periódico comarcal. Los ingenieros descartan ese riesgo. La Diputación paga la mitad de la obra.
name | ¿Qué empresa hará la obra? | De reforzar el puente se encargará [[Ibarcal||Obrasur]].
arithmetic | ¿Cuánto pedía la empresa que perdió? | La oferta descartada ascendía a [[1.010.000||890.000]] euros.
question_or_quote | ¿Hay peligro de que se hunda el puente? | Un hundimiento [[solo lo insinuó un titular, pues los técnicos lo excluyen||lo temen los ingenieros, según un titular]].
role | ¿Quién quería un paso provisional? | El paso provisional lo pidió [[Soto y Luján||Luján y Soto]] se opuso.
number_format | ¿Cuánto cuesta la obra? | Se pagarán [[ochocientos noventa mil||ochenta y nueve mil]] euros por la obra.
quantifier | ¿Se reforzarán los arcos del puente? | Se reforzará [[una minoría||la mayoría]] de los arcos.

# bodega
P: Eladio Cebrián fundó la bodega en Toro en 1903 con su cuñado Blas Onís. En 1929 Onís vendió su parte a la familia Prada, que introdujo las barricas francesas. Tras el incendio de 1951, la bodega se trasladó a Zamora. Desde 1998 la dirige Marta Prada, enóloga formada en Burdeos.
P: La producción pasó de 200.000 botellas en 1998 a 1,25 millones en 2022. Alrededor de un tercio se exporta, sobre todo a Alemania. El vino más antiguo que se conserva es de 1934; antes del incendio los había anteriores.
number_format | ¿Cuántas botellas se produjeron en 2022? | En 2022 salieron de la bodega [[1.250.000||12.500.000]] botellas.
order | ¿Qué fue primero, el incendio o el traslado? | La bodega [[ardió y después se mudó||se mudó y después ardió]] a mediados del siglo XX.
role | ¿A quién vendió su parte Onís? | En 1929 [[Onís vendió a los Prada||los Prada vendieron a Onís]] una parte de la empresa.
multi_hop | ¿Cómo cambió la producción con la enóloga formada en Burdeos? | Con ella al frente, la producción [[creció||cayó]] en más de un millón de botellas.
recombination | ¿Qué hicieron los Prada? | La familia Prada [[trajo barricas de Francia||vendió barricas a Burdeos]].
date | ¿De qué año es la botella más vieja? | La botella más antigua es de [[1934||1929]].

# cigueñas
P: Un equipo de la Universidad de Extremadura siguió a 58 cigüeñas con emisores. La mayoría de las jóvenes cruzó el Estrecho en agosto; casi ninguna de las adultas lo hizo. El viaje más largo fue de 3.900 km, hasta Malí. Las aves volaban de día, aprovechando las corrientes de aire caliente.
P: Los autores creen que los vertederos retienen a las adultas, aunque no lo han comprobado. Siete aves murieron electrocutadas. El estudio duró cuatro años y lo pagó la Junta, no la compañía eléctrica.
quantifier | ¿Cuántas jóvenes cruzaron el Estrecho? | De las cigüeñas jóvenes pasó el Estrecho [[más de la mitad||la totalidad]].
hedge | ¿Por qué se quedan las adultas? | Los vertederos [[quizá expliquen||explican, como se ha comprobado,]] que las adultas se queden.
number | ¿Cuántas aves murieron electrocutadas? | En total, los cables mataron a [[siete||cuatro]] aves.
role | ¿Quién pagó el estudio? | Los gastos corrieron a cargo de [[la Junta||la compañía eléctrica]].
paraphrase | ¿Cuándo volaban? | [[Con luz, cuando el sol hacía subir el aire||Las aves volaban de noche, aprovechando las corrientes]].
comparison | ¿Quiénes emigran más, las jóvenes o las adultas? | Entre las jóvenes la migración es [[más||menos]] habitual que entre las adultas.

# gazpacho
P: Para seis personas: un kilo de tomates maduros, un pepino pequeño, medio pimiento verde, un diente de ajo, 60 ml de aceite y 20 ml de vinagre. Triture primero las verduras, cuele la mezcla y añada después el aceite poco a poco. Déjelo dos horas en la nevera. Sírvalo entre 6 y 8 grados.
P: La receta de mi abuela no lleva pan; la del bar La Parra, sí. El comino es opcional. Si queda espeso, agregue agua fría. Aguanta tres días en frío, pero no se debe congelar.
order | ¿Cuándo se echa el aceite? | El aceite se incorpora [[una vez colada||antes de colar]] la mezcla.
unit | ¿Cuánto vinagre lleva? | Se necesitan veinte [[mililitros||litros]] de vinagre.
list_member | ¿Qué verduras lleva? | Además de tomate, pimiento y ajo, la receta exige [[pepino||comino]].
comparison | ¿Lleva más aceite o más vinagre? | La cantidad de aceite es [[mayor||menor]] que la de vinagre.
negation | ¿Puedo congelarlo? | El gazpacho sobrante [[no conviene meterlo||puede meterse]] en el congelador.
recombination | ¿Cuál lleva pan? | Lleva pan [[la versión del bar y no la de la abuela||la versión de la abuela y no la del bar]].

# alquiler
P: Para alquilar hay que tener 23 años cumplidos y dos de carné. Los conductores de menos de 26 años pagan un suplemento de 7 euros diarios. La fianza es de 400 euros para turismos y de 700 para furgonetas. Se devuelve íntegra en cinco días si el vehículo no presenta daños.
P: Se puede entrar en Portugal con cualquier vehículo; en Francia, solo con turismos. A Marruecos no se permite viajar. La segunda persona autorizada conduce sin coste añadido. El kilometraje está limitado a 250 km por día; cada kilómetro de más cuesta 15 céntimos.
multi_hop | He alquilado una furgoneta. ¿Adónde puedo ir y cuánto es la fianza? | Con su vehículo puede ir a [[Portugal||Francia]]. La fianza es de 700 euros.
arithmetic | Hice 350 km en un día. ¿Cuánto pago de más? | Por el exceso de kilómetros se le cobrarán [[15||25]] euros.
table_cell | ¿Qué fianza se pide por un turismo? | Por un coche de turismo se retienen [[400||700]] euros.
direction_word | ¿Quién paga suplemento? | Lo pagan los conductores que están por [[debajo||encima]] de los 26 años.
negation | ¿Cuánto se paga por un segundo conductor? | Añadir otro conductor [[sale gratis||cuesta 7 euros diarios]].
condition | ¿Me devuelven toda la fianza? | Recuperará la fianza entera [[si entrega el vehículo sin desperfectos||aunque el vehículo presente daños]].

# teatro
P: El grupo La Carcoma estrena el 17 de noviembre «La hora del polvo», de Nuria Salcedo. Dirige Iván Robles; la escenografía es de Lola Prieto. La obra cuenta cómo una notaria esconde a su hermano, acusado de falsificar cuadros. Dura 95 minutos sin descanso.
P: Las entradas cuestan 18 euros y los jueves, la mitad. Un crítico que vio el ensayo escribió que la obra es «la mejor de la década». Todas las funciones llevan subtítulos. El grupo nació en 2006 en un garaje de Getafe. No se permite la entrada con la función empezada.
role | ¿Quién se esconde y quién ayuda? | En la obra, [[la notaria oculta a su hermano||el hermano oculta a la notaria]].
arithmetic | ¿Cuánto cuesta la entrada un jueves? | El jueves se paga [[9||18]] euros.
question_or_quote | ¿Es la mejor obra de la década? | Que sea la mejor de la década [[lo opina un crítico||está fuera de duda]].
recombination | ¿Quién dirige y quién hizo la escenografía? | [[Robles dirige y Prieto creó los decorados||Prieto dirige y Robles creó los decorados]].
scope | ¿Qué funciones tienen subtítulos? | Los subtítulos se ven [[sea cual sea la función||solo en ciertas funciones]].
direction_word | ¿Puedo entrar si llego tarde? | Solo se accede a la sala [[antes||después]] de que empiece la función.

# nube
P: Nubarra guarda los archivos borrados 30 días en el plan Básico y 90 en el plan Equipo. Los archivos de más de 10 GB se pueden subir desde el programa de escritorio, la web o el móvil. Los enlaces compartidos caducan a las 72 horas, salvo que el propietario indique otra fecha.
P: Una carpeta admite hasta 25 colaboradores; únicamente quien la creó puede eliminarla. El servicio de ayuda no puede recuperar contraseñas. En junio se produjo una caída de tres horas; la empresa ha demostrado que se debió a un fallo eléctrico. Los datos se almacenan en Irlanda y Finlandia.
table_cell | ¿Cuánto tiempo puedo recuperar un archivo con el plan Equipo? | En ese plan, lo borrado se pierde a los [[90||30]] días.
conversion | ¿Cuántos días vale un enlace? | Si no se indica nada, el enlace funciona durante [[tres||siete]] días.
condition | ¿Cómo subo un vídeo de 12 GB? | La subida funciona [[tanto en el teléfono como en la web||solo si usa el programa de escritorio]].
role | ¿Quién puede borrar una carpeta? | La carpeta la puede suprimir [[su creador||cualquiera de los 25 colaboradores]].
hedge | ¿Qué causó la caída de junio? | Que la causa fuera eléctrica [[está comprobado||está por comprobar]].
list_member | ¿En qué países están los datos? | Los archivos se encuentran en Finlandia e [[Irlanda||Islandia]].

# volcan
P: El volcán Tacande entró en erupción por última vez en 1909. La de 1798 fue más violenta y destruyó 40 casas, pero no hubo muertos. Desde abril se registran más temblores, todos por debajo de magnitud 3. El vulcanólogo Raúl Armas considera improbable una erupción este año.
P: Está cerrado el sendero sur por encima de los 1.600 metros. El refugio de Las Nieves, situado a 1.450 metros, sigue abierto. En 1909 murió un pastor. Una vecina asegura que las cabras huelen el azufre días antes; los científicos no han podido confirmarlo.
comparison | ¿Cuál fue más fuerte? | La erupción del siglo XVIII fue [[más||menos]] fuerte que la de 1909.
direction_word | ¿Cómo de fuertes son los temblores? | Los seísmos registrados desde abril [[no alcanzan||superan]] la magnitud 3.
question_or_quote | ¿Pueden las cabras notar una erupción? | Que las cabras huelan el azufre [[es solo lo que cuenta una vecina||lo han confirmado los científicos]].
multi_hop | ¿Se puede llegar al refugio de Las Nieves? | El refugio está a 1.450 metros, es decir, [[fuera||dentro]] de la zona cerrada.
number_format | ¿En qué siglo fue la erupción que destruyó 40 casas? | Ocurrió en el siglo [[XVIII||XVII]].
negation | ¿Hubo víctimas mortales en 1798? | La erupción de 1798 causó daños. En ella [[nadie perdió||un pastor perdió]] la vida.

# ciclismo
P: Clasificación de la tercera etapa:\n1. Aitana Rovira (Banesgo) 3 h 12 min\n2. Greta Holm (Nordlys) a 35 s\n3. Paula Seijas (Banesgo) a 1 min 10 s\n4. Chiara Fosca (Verdi) a 2 min
P: Rovira atacó a falta de nueve kilómetros. Holm, que había pinchado en la bajada, recibió la rueda de su compañera Ingrid Dahl. La general la sigue encabezando Fosca, con 22 segundos sobre Holm. La etapa de mañana, de 168 km, termina en alto. «Creo que puedo ganar la vuelta», dijo Seijas.
table_cell | ¿En qué equipo corre la tercera? | La tercera clasificada de la etapa pertenece al [[Banesgo||Verdi]].
arithmetic | ¿Qué diferencia hubo entre Holm y Seijas en la meta? | Entre la segunda y la tercera hubo [[35||70]] segundos.
role | ¿Quién le dio la rueda a quién? | Tras el pinchazo, [[Dahl cedió su rueda a Holm||Holm cedió su rueda a Dahl]].
name | ¿Quién lidera la general? | En la general va primera [[Fosca||Rovira]]. Mañana se sube al final.
question_or_quote | ¿Ganará Seijas la vuelta? | Seijas [[confía en ganar||ha ganado]] la vuelta.
conversion | ¿Cuánto tardó la ganadora, en minutos? | La ganadora empleó [[192||312]] minutos.

# archivo
P: El archivo de Ledesma fue creado en MDCCLXXX. Guarda 2,4 millones de documentos; el más antiguo lleva fecha 1189-11-02. Ocupa 3 km de estanterías en un convento del siglo XVI. Hasta 2020 se habían digitalizado trescientas cincuenta mil páginas.
P: Pueden consultarse cinco legajos por persona y día. Las copias cuestan 0,25 euros por página. El horario de verano, del 15 de junio al 15 de septiembre, es de 8:30 a 14:00. Media docena de voluntarios ordena las cartas de la guerra.
number_format | ¿En qué año se creó el archivo? | El archivo existe desde [[1780||1730]].
number_format | ¿Cuántos documentos guarda? | Conserva [[2.400.000||24.000.000]] documentos.
number_format | ¿De cuándo es el documento más antiguo? | El más antiguo se escribió el [[2 de noviembre||11 de febrero]] de 1189.
number | ¿Cuántos legajos puedo pedir al día? | Cada visitante puede ver [[cinco||seis]] legajos diarios.
arithmetic | ¿Cuánto cuestan veinte copias? | Veinte páginas copiadas salen por [[cinco||diez]] euros.
unit | ¿Cuánto ocupan las estanterías? | Las estanterías miden en total tres [[kilómetros||metros]].

# panaderia
P: La panadería Horno Viejo la abrieron en 1956 los hermanos Julián y Amparo Ferrer. Amparo amasaba y Julián repartía el pan en moto. Cuando Julián se casó con la molinera Carmen Gil, esta se ocupó de las cuentas. En 1983 el negocio pasó a su sobrina, Pilar Ferrer.
P: Pilar dejó de hacer pan blanco en 2001 y en 2010 abrió una segunda tienda en Alcira. La especialidad es la torta de calabaza, que solo se vende de octubre a enero. Todas las recetas siguen siendo de Amparo. La tienda de Alcira cierra los lunes; la antigua, los domingos.
role | ¿Quién repartía el pan? | El reparto lo hacía [[Julián||Amparo]].
name | ¿Quién llevaba la contabilidad? | De los números se encargó [[Carmen||Pilar]].
order | ¿Qué hizo Pilar antes? | Pilar abrió en Alcira [[después||antes]] de abandonar el pan blanco.
quantifier | ¿Son de Amparo las recetas? | [[El conjunto||Solo una parte]] de las recetas actuales viene de ella.
date | ¿Cuándo se abrió la tienda de Alcira? | La segunda tienda funciona desde [[2010||2001]].
recombination | ¿Cuándo cierran las tiendas? | [[La de Alcira no abre los lunes y la antigua no abre los domingos||La antigua no abre los lunes y la de Alcira no abre los domingos]].

# seguro
P: El seguro Viajero Plus paga los gastos médicos hasta 150.000 euros y la pérdida de equipaje hasta 1.500. Si el vuelo se retrasa más de cuatro horas, abona 90 euros. No cubre deportes de riesgo, salvo que se contrate el módulo Aventura, ni enfermedades anteriores a la firma.
P: El seguro se puede contratar hasta el día antes de la salida. Los menores de 14 años viajan gratis en la póliza de sus padres. Toda reclamación debe llegar dentro de los 30 días siguientes al regreso. La póliza vale en Europa; el resto del mundo exige un recargo del 40 por ciento.
condition | ¿Está cubierto el descenso en bicicleta de montaña, que es deporte de riesgo? | Los deportes de riesgo quedan cubiertos [[si se añade el módulo Aventura||sin necesidad de añadir ningún módulo]].
number | ¿A partir de qué retraso pagan? | Pagan a partir de un retraso de [[cuatro||dos]] horas.
date | ¿Hasta cuándo puedo contratarlo? | El último momento para contratarlo es [[la víspera del viaje||el día del regreso]].
direction_word | ¿Cuándo debo reclamar? | La reclamación se presenta en los treinta días [[posteriores||anteriores]] a la vuelta.
scope | ¿Dónde vale la póliza sin recargo? | Sin pagar más, está protegido en [[Europa||todo el mundo]].
comparison | ¿Qué límite es más alto? | El límite para el equipaje es [[inferior||superior]] al de los gastos médicos.

# huerto
P: El mejor momento para sembrar habas es el otoño. Las semillas se entierran a cinco centímetros y brotan en unas dos semanas. Necesitan poco riego, pero no soportan el encharcamiento. El pulgón negro aparece todas las primaveras sin excepción; se combate cortando las puntas.
P: «¿Es verdad que hay que sembrar con luna llena?», pregunta un lector. Nuestra hortelana, Remedios Vila, contesta que ha comparado ambos métodos y no ve ninguna diferencia. Otro lector duda de que la ceniza mate el pulgón; Vila lo ha probado y asegura que funciona.
question_or_quote | ¿Influye la luna llena en la siembra? | La luna [[no le importa a Vila, pues no notó diferencia||es importante, como comprobó Vila]].
paraphrase | ¿Cómo me libro del pulgón? | [[Elimine los extremos de los tallos||El pulgón se combate con ceniza en primavera]].
unit | ¿A qué profundidad se siembran? | Los granos van bajo cinco [[centímetros||metros]] de tierra.
negation | ¿Hay que regar mucho las habas? | El agua estancada las perjudica. Un riego abundante [[no les hace||les hace]] falta.
hedge | ¿Aparece pulgón en primavera? | En primavera, el pulgón sale [[siempre||a menudo, pero no siempre]].
question_or_quote | ¿Mata la ceniza el pulgón? | Contra el pulgón, la ceniza [[es eficaz||no es eficaz]], según Vila.

# museo
P: Entrada al Museo del Vidrio: adultos 8 euros, estudiantes y jubilados 5, menores de 12 gratis. El segundo domingo de mes entran todos sin pagar. La visita guiada cuesta 3 euros más y dura 50 minutos. El horno se enciende martes y jueves a mediodía.
P: La sala 1 muestra vidrio romano; la sala 2, vidrio catalán; la sala 3 está cerrada hasta 2026. La lámpara verde la donó Inés Fabra en 1991; el jarrón azul lo compró el museo en Venecia en 1974. Se permiten fotos con y sin flash.
list_member | ¿Quién paga 5 euros? | La tarifa de cinco euros es para jubilados y [[estudiantes||adultos]].
arithmetic | Soy jubilado y quiero la visita guiada. ¿Cuánto pago? | Con la visita guiada, un jubilado paga [[8||11]] euros.
recombination | ¿De dónde vienen la lámpara y el jarrón? | [[La lámpara fue un regalo y el jarrón se compró||El jarrón fue un regalo y la lámpara se compró]].
condition | ¿Puedo hacer fotos con flash? | Puede fotografiar [[aunque dispare el flash||siempre que no dispare el flash]].
name | ¿Qué se ve en la segunda sala? | La segunda sala está dedicada al vidrio [[catalán||romano]].
paraphrase | ¿Cuándo entra todo el mundo gratis? | [[Una vez al mes nadie tiene que rascarse el bolsillo||Los jueves a mediodía entran todos sin pagar]].

# lago
P: Los biólogos midieron la laguna de Orcera de 2008 a 2018. El nivel bajó 1,4 metros. De las seis especies de patos, cuatro disminuyeron, una aumentó y otra no varió. La focha desapareció en 2015. El agua era en 2018 dos grados más cálida que al principio.
P: El descenso se debe a los pozos de regadío, concluye el informe. Las algas podrían estar relacionadas con los abonos. No se midieron los plaguicidas. El próximo recuento será en 2028. La laguna tiene 210 hectáreas, tres veces más que la de Bujeo.
direction_word | ¿Cómo cambió el nivel de la laguna? | En diez años, el nivel [[descendió||ascendió]] casi metro y medio.
quantifier | ¿Qué pasó con los patos? | Disminuyó [[la mayor parte||la totalidad]] de las especies de patos.
hedge | ¿Se deben las algas a los abonos? | Entre algas y abonos [[cabe que exista||se ha demostrado]] una relación.
unit | ¿Qué tamaño tiene la laguna? | La laguna mide 210 [[hectáreas||metros]] de superficie.
comparison | ¿Qué laguna es mayor? | La laguna de Bujeo es [[más pequeña||más grande]] que la de Orcera.
order | ¿Cuándo desapareció la focha? | La focha se perdió [[antes||después]] de que acabaran las mediciones.

# api
P: La interfaz de Correlia admite 300 peticiones por minuto y clave. Al superarlas, responde con el código 429 y una espera indicada en segundos. Las claves caducan a los 180 días. El entorno de pruebas usa claves propias y se vacía cada lunes a las 03:00.
P: Los envíos masivos están disponibles en los planes Pro y Corporativo. Los adjuntos no pueden superar 25 MB. Los registros se conservan 14 días; en el plan Corporativo, un año. Un administrador puede renovar una clave y ver las de otros.
conversion | ¿Cuántas peticiones caben en un segundo, de media? | La media permitida es de [[5||50]] peticiones por segundo.
list_member | ¿En qué planes hay envíos masivos? | Los envíos masivos vienen con los planes Corporativo y [[Pro||de pruebas]].
table_cell | ¿Cuánto se guardan los registros en el plan Corporativo? | En ese plan, los registros se eliminan [[al cabo de un año||a los 14 días]].
negation | ¿Puede un administrador ver las claves de los demás? | Un administrador renueva claves. Las ajenas [[las puede||no las puede]] consultar.
multi_hop | ¿Puedo enviar 400 mensajes en un minuto con una sola clave, uno por petición? | A ese ritmo [[recibirá el código 429||todavía no hay límite]]. El plan Pro permite envíos masivos.
number | ¿Qué tamaño máximo tiene un adjunto? | El tope de un adjunto está en [[25||14]] MB.

# molino
P: El molino de Arcayos dejó de moler en 1968. En 2003 lo compró la asociación Agua Clara, presidida por Dolores Mena. Antes había pertenecido al panadero Florencio Rey, y antes aún al monasterio. La rueda, de 4 metros, la reconstruyó el carpintero Saúl Ortega con madera de roble.
P: Desde 2012 produce electricidad: 38.000 kWh al año, que cubren el 30 por ciento del consumo del pueblo. Se visita los sábados de abril a octubre. El alcalde había querido convertirlo en hotel; Mena se opuso.
order | ¿Quién fue dueño antes, el panadero o el monasterio? | El panadero lo tuvo [[después||antes]] que el monasterio.
name | ¿Quién reconstruyó la rueda? | La rueda es obra de [[Ortega||Rey]].
date | ¿Desde cuándo produce electricidad? | La electricidad se genera desde [[2012||2003]].
multi_hop | ¿Quién se opuso al hotel? | Al plan del hotel se opuso la [[presidenta||antigua dueña]] de Agua Clara.
conversion | ¿Qué parte del consumo cubre? | El molino cubre [[tres décimas partes||dos tercios]] de lo que gasta el pueblo.
paraphrase | ¿Cuándo se puede ver el molino? | [[Un día por semana, de la primavera al otoño||Se visita todos los sábados del año]].
"""
