"""Spanish words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "D": "contexto contextos corpus doc docs extracto extractos fragmento fragmentos pasaje pasajes pdf pdfs",
    "d": """acta actas adjunto* anexo* anuncio* apartado* api apunte* archivo* artículo artículos auto autos
        aviso avisos bando base bibliografía biografía* blog boletín* captura* capítulo* cartel* catálogo*
        certificado* circular cláusula* columna* comentario* compendio* comunicado* conferencia* contenido*
        convocatoria* correo* cronología crónica* cuaderno* cuestionario* currículum declaraciones declaración
        diagrama* diapositiva* diario* diccionario* dictamen* directrices directriz documentación documento*
        documentos dosier* dossier* editorial* ejemplar* enciclopedia* encuesta* ensayo* entrada entradas
        entrevista* enunciado* escrito escritos escritura* esquela estudio* etiqueta* expediente* factura*
        fallo ficha fichas fichero* fila* folleto* folletín foro* fuente fuentes glosario* guía guías hilo
        hilos hoja hojas infografía* informe informes instrucciones instructivo* itinerario* legajo* leyenda
        literatura léxico líneas manual manuales mapa material materiales memorando* memoria* memorándum
        mensaje* menú necrológica nota notas noticia* obituario* orden papeles pdf* perfil peritaje* periódico*
        pie pliego* ponencia* post prensa presentación programa* prospecto* protocolo* prólogo publicaciones
        publicación página páginas párrafo* párrafos receta receta* recetario* recorte* registro* reportaje*
        reseña* resultado resultados resumen resúmenes revista* secciones sección semblanza sentencia* sitio
        subtítulos sumario* suplemento* tabla tablas tarjeta tarjetas temario* testimonio* testimonios texto
        textos transcripciones transcripción* tríptico trípticos tutorial* vademécum volante* vídeo web wiki
        índice*""",
    "b": """autor autora autores campo campos carta cartas libro lista listas narrador parte periodista
        redactor tabla""",
    "c": """bases condiciones contrato* convenio estatutos garantía normativa* política* póliza* reglamento*
        seguro""",
    "S": """enumera enumeran define definen ahonda desglosa desglosan regula regulan documenta documentan
        refieren hablan proporciona mu dice dicen decir diga digan menciona mencionan mencione mencionen
        especifica especifican especifique especifiquen indica indican indique indiquen precisa precisan
        precise precisen aclara aclaran aclare aclaren explica explican explique expliquen detalla detallan
        detalle revela revelan revele revelen habla hable hablen aborda abordan aborde trata tratan trate alude
        aluden aluda refiere describe describen cita citan cite señala señalan consta constan conste figura
        figuran figure desprende desprenden pone ponen ponga expone exponen nombra nombran concreta concretan
        concrete contesta contestan responde responden pronuncia pronuncian comenta comentan recoge recogen
        recoja contempla contemplan menta mienta esclarece esclarecen arroja arrojan desvela desvelan informa
        informan facilita facilitan toca tocan cuenta cuentan cuente consigna consignan puntualiza explicita
        soltar suelta sueltan apunta apuntan alcanza llega llegan afirma ahondan profundiza profundizan""",
    "s": """contiene contienen incluye incluyen incluya ofrece ofrecen proporciona proporcionan da dan dar dé
        hace hacen haga aporta aportan tiene tienen trae traen cubre cubren aparece aparecen aparezca sale
        salen salga viene vienen venga entra entran entre permite permiten permita deja dejan hay haya existe
        existen encuentra encuentran halla hallan está están asoma asoman resuelve resuelven ayuda ayudan sirve
        sirven basta bastan queda quedan lee va van es son reflejan refleja muestra muestran ve ven sabe saca
        sacar deduce deducen infiere saber conocer extrae""",
    "P": """mencionado mencionada mencionados mencionadas especificado especificada especificados indicado
        indicada indicados precisado precisada detallado detallada explicado explicada aclarado recogido
        recogida recogidos citado citada descrito descrita abordado abordada tratado tratada señalado señalada
        consignado consignada reflejado reflejada documentado documentada expresado referido aludido dicho
        escrito""",
    "p": """proporcionado dado dada incluido incluida claro clara disponible disponibles contenido encontrado
        respondido resuelto resuelta contestado determinado posible accesible evidente explícito constancia
        mención""",
    "t": "habla hablan trata tratan centra centran ocupa ocupan versa versan",
    "K": """obtener encontrar saber saberlo decir decirte decirle decirlo decírtelo decírselo responder
        responderte responderle responderla contestar contestarte contestarle contestarla contestarlo
        determinar determinarlo encontrarlo hallar localizar averiguar precisar precisarlo concretar confirmar
        confirmarlo desmentir afirmar asegurar asegurarlo establecer deducir deducirlo inferir conocer
        conocerlo extraer aclarar aclarártelo aclararlo orientar orientarte orientarle ayudar ayudarte ayudarle
        ayudarlo indicar indicarte indicarle ofrecer ofrecerte ofrecerle dar darte darle facilitar facilitarte
        facilitarle identificar verificar comprobar concluir resolver adivinar especificar pronunciarme
        satisfacer satisfacerle satisfacerte juzgar calcular calcularlo opinar comentar explicar explicarte
        señalar ubicar dilucidar discernir sacar entrar contarte contarle hallado encontrado podido localizado
        visto dado logrado conseguido averiguado detectado topado sabido obtenido sé saque aportar servir
        servirte descifrar atinar acertar recordar hablar estimar valorar respuesta responda""",
    "k": "ver",
    "I": "yo me mi mis nos nuestro nuestra nosotros mí",
    "Y": "tú usted tu su te ustedes",
    "J": """carezco prefiero temo consta puedo podría podemos podríamos sé sabría sabemos sabríamos encuentro
        encontramos hallo hallamos dispongo disponemos tengo tenemos consigo conseguimos logro logramos he
        hemos veo vemos cuento contamos localizo alcanzo acierto doy damos aprecio detecto conozco conocemos
        recuerdo poseo quisiera estoy estamos soy podré sabré atrevo aventuro sabía""",
    "g": """adjuntado aportado compartido consultado dada dado delante dio disponibles disposición diste
        entregado enviada enviado facilitado facilitados lo mandada mandado mandaste mano obra pasado pasaste
        pasó poder proporcionado recibido suministrado""",
    "N": """no ni tampoco ninguno ninguna ningún nada jamás nunca sin apenas poco poca pocos pocas cero nulo
        nula nulos nulas""",
    "U": "imposible incapaz difícil inviable complicado impide impiden imposibilita",
    "L": """silencio mudo muda mudos mudas inespecificado incontestada indeterminado indeterminada callan calla
        omisión laguna lagunas callado incógnita""",
    "l": """esquivo esquiva ayunas falta faltan ausente ausentes ausencia carece carecen carezco carecemos
        omite omiten omitido omitida insuficiente insuficientes incompleto incompleta escaso escasa escasos
        escasas confuso ambiguo desconocido desconocida obvia obvian pasa pasan fuera limitado limitada
        limitados excede exceden ajeno ajena ajenos escapa escapan brilla brillan olvida olvidan elude eluden
        soslaya soslayan rehúye excluye""",
    "m": "desconocidos dejan deja olvidan",
    "h": "poca poco escasa apenas",
    "E": "suficiente suficientes bastante bastantes suficientemente",
    "F": """pautas elementos información informaciones dato datos detalle detalles mención menciones respuesta
        respuestas indicación indicaciones aclaración precisión constancia orientación noticia especificación""",
    "f": """apunte referencia referencias alusión alusiones rastro huella pista pistas indicio indicios palabra
        palabras evidencia base prueba valor cifra fecha nombre entrada explicación comentario elementos dato
        algo pie idea sílaba letra línea coma""",
    "Q": """pregunta preguntas cuestión cuestiones consulta punto tema asunto aspecto extremo duda respuesta
        detalle""",
    "G": """aventurado arriesgado temerario especular especulación especulaciones especulativo adivinar
        conjetura conjeturas suponer suposición inventar inventarme aventurar""",
    "i": "idea noción ni conocimiento certeza seguro segura constancia modo manera forma remota",
    "w": "solo sólo podría sería pura puro mera mero cualquier simple",
    "v": "queda quedan deja dejan sigue siguen guarda guardan permanece quedo quedamos pasa mantiene",
    "o": """aire abierta abierto respuesta resolver duda alto blanco ayunas claro oscuras interrogante ganas
        gana incógnita""",
    "j": "desconozco desconocemos ignoro ignoramos",
    "y": """solo sólo solamente únicamente otra otro otras otros distinta distinto distintas exclusivamente
        limitan limita""",
    "q": """abierta abierto corta acaba antes aire mu jota pío brilla brillan papa respecto consta inventar
        inventarme tintero temo escapa sale""",
    "X": """requiere requieren requerida personal personales necesario necesaria necesarios hace recopila
        almacena cobra pide piden exige exigen comparte""",
    "R": """portavoz zufolge dijo declaró advirtió aseguró explicó reconoce reconoció admitió afirmó respondió
        sostuvo comprobó concluyó denunció creía pensaba señaló comunicó confesó negó""",
    "T": """él ella ellos ellas científicos policía expertos historiadores investigadores su sus autoridades
        peritos alcalde portavoz usuario""",
    "W": "quién quiénes qué cuándo cuánto cuánta cuántos cuántas dónde cómo cuál cuáles si",
    "C": "cuando",
}
"""Letter of a concept -> its words."""
DROPPED: Final = """
    puede pueden podría el la los las un una unos unas de del a al en por para con y o que se lo le les te os su
    es son está están ser sobre acerca respecto relación eso esto ese esa este esta aquí ahí allí como pero ya
    muy más también aunque porque pues así bien mal qué si cual lamentablemente desgraciadamente perdona perdón
    siento desafortunadamente temo ha han sido desde entre tan esos esas estos estas ello alguna algún alguno
    concretamente expresamente explícitamente realmente hasta verdad mucho muchas todo todos todas dos tres
    cuatro cinco"""
"""Words that carry nothing: they are left out of the row, and tell the language."""
