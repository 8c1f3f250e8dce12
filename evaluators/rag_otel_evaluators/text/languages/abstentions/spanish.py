"""Spanish words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

WORDS = {
    "t": """habla hablan trata tratan centra centran ocupa ocupan versa versan""",
    "k": """ver""",
    "q": """corta acaba antes aire mu jota pío brilla brillan papa respecto consta inventar inventarme tintero temo escapa sale""",
    "b": """libro parte lista listas campo campos tabla""",
    "C": """cuando""",
    "W": """quién quiénes qué cuándo cuánto cuánta cuántos cuántas dónde cómo cuál cuáles si""",
    "h": """poca poco escasa apenas""",
    "m": """desconocidos dejan deja olvidan""",
    "w": """solo sólo podría sería pura puro mera mero cualquier simple""",
    "g": """lo recibido obra poder dado dada pasado pasaste pasó enviado enviada mandado mandada mandaste diste dio facilitado facilitados proporcionado compartido recibido delante disposición mano entregado suministrado adjuntado aportado consultado disponibles""",
    "Y": """tú usted tu su te ustedes""",
    "D": "doc contexto contextos pasaje pasajes fragmento fragmentos extracto extractos corpus docs",
    "d": """tutorial* necrológica obituario* esquela ensayo* editorial* cronología hoja folletín pliego* compendio* dosier* sumario* ponencia* conferencia* memorándum presentación protocolo* crónica* editorial* vademécum foro* sentencia* cláusula* api testimonio* testimonios reportaje* glosario* hilo hilos documentos cartel* etiqueta* factura* recibo* temario* programa* diapositiva* captura* columna* fila* 
  declaración declaraciones fallo auto autos circular pliego* ticket* aviso avisos bando tarjeta tarjetas currículum semblanza perfil leyenda pie prólogo cuestionario* enciclopedia* diccionario* itinerario* léxico wiki blog post vídeo subtítulos comentario* columna* orden memorando* dictamen* peritaje* certificado* escritura* prensa diario* periódico* revista* suplemento* encuesta*  documento* documentación texto textos fuente fuentes artículo artículos material materiales manual manuales guía
        guías folleto* página páginas archivo* fichero* informe informes registro* ficha fichas expediente* noticia*
        prospecto* instrucciones resultado resultados nota notas apunte* capítulo* sección secciones apartado* párrafo*
        tabla tablas catálogo* anexo* acta actas reseña* entrevista* estudio* correo* mensaje* web sitio publicación
        publicaciones crónica* reportaje* memoria* base bibliografía literatura transcripción* transcripciones contenido*
        adjunto* pdf* resumen resúmenes hoja hojas escrito escritos receta* cuaderno* boletín* dossier*
        comunicado* entrada entradas índice* biografía* ejemplar* papeles legajo* recorte* líneas""",
    "c": "póliza* contrato* reglamento* normativa* política* condiciones bases seguro garantía estatutos convenio",
    "N": """no ni tampoco ninguno ninguna ningún nada jamás nunca sin apenas poco poca pocos pocas cero
        nulo nula nulos nulas""",
    "S": """documenta documentan refieren hablan proporciona mu dice dicen decir diga digan menciona mencionan mencione mencionen especifica especifican especifique especifiquen
        indica indican indique indiquen precisa precisan precise precisen aclara aclaran aclare aclaren explica explican
        explique expliquen detalla detallan detalle revela revelan revele revelen habla hablan hable hablen aborda abordan
        aborde trata tratan trate alude aluden aluda refiere refieren describe describen cita citan cite señala señalan
        consta constan conste figura figuran figure desprende desprenden pone ponen ponga expone exponen nombra nombran
        concreta concretan concrete contesta contestan responde responden pronuncia pronuncian comenta comentan recoge
        recogen recoja contempla contemplan menta mienta esclarece esclarecen arroja arrojan desvela desvelan informa
        informan facilita facilitan toca tocan cuenta cuentan cuente consigna consignan puntualiza explicita soltar suelta
        sueltan apunta apuntan alcanza llega llegan afirma ahonda ahondan profundiza profundizan""",
    "s": """contiene contienen incluye incluyen incluya ofrece ofrecen proporciona proporcionan da dan dar dé hace hacen haga
        aporta aportan tiene tienen trae traen cubre cubren aparece aparecen aparezca sale salen salga viene vienen venga
        entra entran entre permite permiten permita deja dejan hay haya existe existen encuentra encuentran halla hallan
        está están asoma asoman resuelve resuelven ayuda ayudan sirve sirven basta bastan queda quedan lee va van es son
        reflejan refleja muestra muestran ve ven sabe saca sacar deduce deducen infiere saber conocer extrae""",
    "P": """mencionado mencionada mencionados mencionadas especificado especificada especificados indicado indicada indicados
        precisado precisada detallado detallada explicado explicada aclarado recogido recogida recogidos citado citada
        descrito descrita abordado abordada tratado tratada señalado señalada consignado consignada reflejado reflejada
        documentado documentada expresado referido aludido dicho escrito""",
    "p": """proporcionado dado dada incluido incluida claro clara disponible disponibles contenido encontrado respondido
        resuelto resuelta contestado determinado posible accesible evidente explícito constancia mención""",
    "K": """obtener encontrar saber saberlo decir decirte decirle decirlo decírtelo decírselo responder responderte responderle responderla
        contestar contestarte contestarle contestarla contestarlo determinar determinarlo encontrar encontrarlo hallar
        localizar averiguar precisar precisarlo concretar confirmar confirmarlo desmentir afirmar asegurar asegurarlo
        establecer deducir deducirlo inferir conocer conocerlo extraer aclarar aclarártelo aclararlo orientar orientarte
        orientarle ayudar ayudarte ayudarle ayudarlo indicar indicarte indicarle ofrecer ofrecerte ofrecerle dar darte
        darle facilitar facilitarte facilitarle identificar verificar comprobar concluir resolver adivinar especificar
        pronunciarme satisfacer satisfacerle satisfacerte juzgar calcular calcularlo opinar comentar explicar explicarte
        señalar ubicar dilucidar discernir sacar entrar contarte contarle hallado encontrado podido localizado visto
        dado logrado conseguido averiguado detectado topado sabido obtenido sé saque
        aportar servir servirte descifrar atinar acertar recordar hablar darte estimar valorar respuesta responda""",
    "I": "yo me mi mis nos nuestro nuestra nosotros mí",
    "J": """carezco prefiero temo consta puedo podría podemos podríamos sé sabría sabemos sabríamos encuentro encontramos hallo hallamos dispongo disponemos
        tengo tenemos consigo conseguimos logro logramos he hemos veo vemos cuento contamos localizo alcanzo acierto
        doy damos aprecio detecto conozco conocemos recuerdo poseo quisiera estoy estamos soy podré sabré atrevo
        aventuro sabía """,
    "U": "imposible incapaz difícil inviable complicado impide impiden imposibilita",
    "L": """silencio mudo muda mudos mudas inespecificado incontestada indeterminado indeterminada callan calla omisión 
        laguna lagunas callado incógnita""",
    "l": """esquivo esquiva ayunas falta faltan ausente ausentes ausencia carece carecen carezco carecemos omite omiten omitido omitida insuficiente
        insuficientes incompleto incompleta escaso escasa escasos escasas confuso ambiguo desconocido desconocida obvia
        obvian pasa pasan fuera limitado limitada limitados excede exceden ajeno ajena ajenos escapa escapan brilla
        brillan olvida olvidan elude eluden esquiva soslaya soslayan rehúye excluye""",
    "F": """pautas elementos información informaciones dato datos detalle detalles mención menciones respuesta respuestas indicación indicaciones
        aclaración precisión constancia orientación noticia especificación""",
    "f": """referencia referencias alusión alusiones rastro huella pista pistas indicio indicios palabra palabras evidencia
        base prueba valor cifra fecha nombre entrada explicación comentario elementos dato algo pie idea sílaba letra
        línea coma""",
    "Q": "pregunta preguntas cuestión cuestiones consulta punto tema asunto aspecto extremo duda respuesta preguntas detalle",
    "E": "suficiente suficientes bastante bastantes suficientemente",
    "G": "aventurado arriesgado temerario especular especulación especulaciones especulativo adivinar conjetura conjeturas suponer suposición inventar inventarme aventurar",
    "i": "idea noción ni conocimiento acceso certeza seguro segura constancia modo manera forma remota",
    "v": "queda quedan deja dejan sigue siguen guarda guardan permanece quedo quedamos pasa mantiene",
    "o": "aire abierta abierto aire respuesta resolver duda alto blanco ayunas claro oscuras interrogante ganas gana incógnita",
    "y": "solo sólo solamente únicamente otra otro otras otros distinta distinto distintas exclusivamente limitan limita",
    "X": """requiere requieren requerida personal personales necesario necesaria necesarios hace recopila almacena cobra
        pide piden exige exigen comparte""",
    "R": """portavoz zufolge dijo declaró advirtió aseguró explicó reconoce reconoció admitió afirmó respondió sostuvo comprobó concluyó
        denunció creía pensaba señaló comunicó confesó negó""",
    "T": """él ella ellos ellas científicos policía expertos historiadores investigadores su sus autoridades peritos alcalde
        portavoz usuario""",
    "j": "desconozco desconocemos ignoro ignoramos",
}
DROPPED = """puede pueden podría el la los las un una unos unas de del a al en por para con y o que se lo le les te os su es son está están
    ser sobre acerca respecto relación eso esto ese esa este esta aquí ahí allí como pero ya muy más también aunque porque pues así bien mal
    qué si cual lamentablemente desgraciadamente perdona perdón siento desafortunadamente temo ha han sido desde
    entre tan esos esas estos estas ello alguna algún alguno concretamente expresamente explícitamente realmente hasta
    verdad mucho muchas todo todos todas dos tres cuatro cinco por"""
