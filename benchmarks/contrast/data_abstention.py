"""Hand-written answers that do (A), do not (N) or partly (M) abstain. M: an abstention beside substantive claims."""

from __future__ import annotations

DATA = {
    "en": r"""
A: The passages do not say how long the guarantee lasts.
A: I have no idea.
A: I'm afraid I can't tell you that from the documents provided.
A: It is unclear from the passages whether the pool is heated.
A: None of the excerpts mentions the price of the ticket.
A: There is nothing in the text about parking.
A: Sorry, I don't know.
A: The context gives no indication of who founded the company.
A: I could not find an answer to your question in the sources.
A: Unfortunately, the material I was given does not cover this topic.
A: That question cannot be answered on the basis of these passages.
A: I'm not sure, as the documents are silent on the matter.
A: Based on the given context, it is not possible to determine the year of construction.
A: The provided information is insufficient to answer the question.
A: No mention is made of side effects in any of the documents.
A: I looked through all three passages. Neither the opening hours nor the address appears in them, so I am unable to answer.
A: Your question is about winter timetables. The documents deal with other things, and I would only be guessing.
A: Not stated in the context.
A: The answer isn't in the documents.
A: I lack the information needed to answer this.
A: It doesn't say.
A: Whether dogs are allowed is left open by the text.
A: The excerpts leave this question unanswered. You may want to contact the manufacturer.
A: I do not have enough context to say which of the two models is lighter.
A: I wish I could help, but nothing I was shown deals with refunds.
A: Hard to say: the sources do not go into that.
A: The documents make no reference to a deadline.
A: I cannot confirm that. The passages provide no details on the merger.
A: This is not something the provided articles discuss.
A: We can't know from the text alone.
A: As far as I can see, the manual contains no information on this point. Please ask customer service.
A: Who wrote the report is not specified in the passages supplied to me.
N: I'm sorry to say that the company went bankrupt in 2019 with debts of 5 million dollars.
N: The app collects no personal information.
N: No further information is required for the application.
N: The author of the poem is unknown; it was first printed in 1612.
N: Unfortunately, the museum is closed on Mondays.
N: You do not need to provide a reason when you cancel.
N: Thank you for your question. Refunds are not possible after 30 days.
N: No, dogs are not allowed in the restaurant.
N: We apologise for the delay: the train was cancelled because of a fallen tree.
N: The patient could not remember the accident, the doctor noted.
N: Employees must not give customers any information by telephone.
N: Scientists do not know why the whales changed their route in 1987.
N: The letter was never answered.
N: She said that she had no idea who had sent the flowers, and the police closed the case.
N: The bank will never ask for your password.
N: There is no evidence that the drug works in children, a study of 400 patients found.
N: Registration is not necessary; just come along.
N: The suspect refused to answer any questions.
N: None of the three models supports wireless charging.
N: The cause of the fire could not be determined by the fire brigade.
N: I'm afraid the deadline has passed; it was 15 March.
N: The form is insufficient on its own: a copy of your passport must be enclosed.
N: Nobody was injured when the roof collapsed.
N: The tomb contains no inscription, so archaeologists call its owner the Nameless Prince.
N: It is not clear water but a milky liquid that comes out of the spring.
N: The minister declined to comment on the figures, which were published on Friday.
M: The Arlo 60 costs 549 euros and uses 9.5 litres per cycle. The passages do not say how long it lasts.
M: I don't know who designed the bridge, but it was opened in 1931 and is 212 metres long.
M: The text gives no opening hours for Sunday. On weekdays the shop is open from nine to six.
M: Children under six travel free. Whether this applies to groups is not mentioned in the documents.
M: Although the context does not state the price, it says that delivery takes three days.
M: The drug was approved in 2015 and is taken twice a day; nothing is said about pregnancy.
""",
    "es": r"""
A: No se especifica en los textos cuánto dura la garantía.
A: La documentación no indica el precio.
A: Los fragmentos no mencionan quién fundó la empresa.
A: No tengo ni idea.
A: Lo siento, pero no lo sé.
A: No queda claro en los pasajes si la piscina está climatizada.
A: En ninguno de los documentos aparece la dirección.
A: No dispongo de información suficiente para responder.
A: Con los textos que me han dado no puedo contestar a esa pregunta.
A: Nada se dice del aparcamiento.
A: No he encontrado la respuesta en las fuentes facilitadas.
A: Me temo que el contexto no aborda esta cuestión.
A: Es imposible saberlo a partir de estos pasajes.
A: Desconozco la respuesta, porque los documentos tratan de otra cosa.
A: El texto no aclara si se admiten perros.
A: He leído los tres fragmentos y en ninguno figuran los horarios. Por tanto, no puedo responderle.
A: Su pregunta se refiere a los horarios de invierno. Los textos hablan de otros asuntos y solo podría adivinar.
A: Sin datos en el contexto.
A: No consta en la documentación aportada.
A: Los documentos guardan silencio al respecto.
A: No sabría decirle; el manual no entra en ese detalle.
A: La información proporcionada no permite determinar el año de construcción.
A: Ninguno de los artículos hace referencia a un plazo.
A: A la vista del contexto, no puedo confirmar ni desmentir ese dato.
A: Eso no viene en el texto. Le recomiendo consultar al fabricante.
A: Quién redactó el informe no se precisa en los pasajes.
A: Ojalá pudiera ayudarle, pero lo que tengo delante no trata de los reembolsos.
A: No hay mención alguna de efectos secundarios en los fragmentos.
A: Faltan datos para responder a la pregunta.
A: No estoy seguro: las fuentes no lo detallan.
A: De los documentos no se desprende cuál de los dos modelos pesa menos.
A: Ni el folleto ni las condiciones recogen esa información.
N: Lamento decirle que la empresa quebró en 2019 con deudas de cinco millones.
N: La aplicación no recoge ningún dato personal.
N: No se requiere más información para tramitar la solicitud.
N: El autor del romance es desconocido; se imprimió por primera vez en 1612.
N: Por desgracia, el museo cierra los lunes.
N: No hace falta indicar el motivo de la cancelación.
N: Gracias por su consulta. No se admiten devoluciones pasados 30 días.
N: En el desván no hay calefacción, y por eso no se alquila en invierno.
N: Disculpe las molestias: el tren se suprimió por la caída de un árbol.
N: Mi abuela no sabía leer, pero llevaba las cuentas de la tienda de memoria.
N: El personal no debe facilitar información por teléfono.
N: Los científicos no saben por qué las ballenas cambiaron de ruta en 1987.
N: Perdone la demora: su pedido salió ayer y llega el jueves.
N: El alcalde dijo que no tenía ni idea de las facturas y dimitió al día siguiente.
N: El banco nunca le pedirá la contraseña.
N: Un ensayo con 400 pacientes no encontró pruebas de que el fármaco sirva en niños.
N: No es necesario inscribirse; basta con acudir.
N: La causa del accidente sigue sin conocerse, según informó la Guardia Civil el lunes.
N: Queda prohibido acampar fuera de las zonas señaladas.
N: Los bomberos no pudieron determinar la causa del incendio.
N: Sin receta no se puede vender este antibiótico.
N: El formulario no es suficiente: hay que adjuntar copia del pasaporte.
N: Nadie resultó herido al hundirse el tejado.
N: El jurado declaró desierto el premio porque ninguna novela alcanzó la nota exigida. Fue la primera vez desde 1988.
N: No existe ningún autobús directo; hay que cambiar en Lugo.
N: En la etiqueta no puede figurar la palabra «natural» si lleva colorantes.
M: El modelo cuesta 549 euros y gasta 9,5 litros por ciclo. Los textos no dicen cuánto dura.
M: No sé quién diseñó el puente, pero se inauguró en 1931 y mide 212 metros.
M: El texto no da el horario del domingo. Entre semana la tienda abre de nueve a seis.
M: Los menores de seis años viajan gratis. No se menciona si esto vale para grupos.
M: Aunque el contexto no indica el precio, sí dice que el envío tarda tres días.
M: El medicamento se aprobó en 2015 y se toma dos veces al día; nada se dice del embarazo.
""",
    "de": r"""
A: Aus den Texten geht nicht hervor, wie lange die Garantie gilt.
A: Dazu steht nichts in den Unterlagen.
A: Keine Ahnung.
A: Das weiß ich leider nicht.
A: Die Auszüge nennen den Preis nicht.
A: Wer die Firma gegründet hat, wird in den Dokumenten nicht erwähnt.
A: Anhand der vorliegenden Passagen lässt sich die Frage nicht beantworten.
A: Mir liegen dazu keine Informationen vor.
A: Ob das Becken beheizt ist, bleibt im Text offen.
A: Es tut mir leid, in den Quellen habe ich keine Antwort gefunden.
A: Der Kontext macht keine Angaben zu Nebenwirkungen.
A: Die bereitgestellten Informationen reichen für eine Antwort nicht aus.
A: Darüber schweigen sich die Dokumente aus.
A: Ich kann das nicht beantworten, weil die Texte von etwas anderem handeln.
A: Keiner der Abschnitte geht auf Rückerstattungen ein.
A: Ich habe alle drei Abschnitte durchgesehen. Weder Öffnungszeiten noch Anschrift kommen darin vor, daher muss ich passen.
A: Ihre Frage betrifft den Winterfahrplan. Die Unterlagen behandeln anderes, ich könnte nur raten.
A: Nicht im Kontext enthalten.
A: Da bin ich überfragt.
A: Es ist den Passagen nicht zu entnehmen, welches der beiden Modelle leichter ist.
A: Eine Frist wird nirgends genannt, soweit ich die Texte überblicke.
A: Ob Hunde erlaubt sind, ist anhand des Textes unklar.
A: Ich kann weder bestätigen noch ausschließen, dass es so war; die Quellen sagen nichts darüber.
A: Hierzu fehlen mir die nötigen Angaben. Bitte wenden Sie sich an den Hersteller.
A: Das Handbuch gibt darüber keine Auskunft.
A: Gern würde ich helfen, aber in dem, was mir vorliegt, geht es nicht um Parkplätze.
A: Das Baujahr lässt sich auf Grundlage des Kontexts nicht bestimmen.
A: Wer den Bericht verfasst hat, ist in den Auszügen nicht angegeben.
A: Leider enthält das Material nichts zu diesem Thema.
A: Schwer zu sagen, die Dokumente gehen nicht darauf ein.
A: Die Frage bleibt nach der Lektüre der Texte unbeantwortet.
A: Ich bin mir nicht sicher, denn der Text äußert sich dazu nicht.
N: Ich muss Ihnen leider mitteilen, dass die Firma 2019 mit fünf Millionen Euro Schulden in Konkurs ging.
N: Die App erhebt keine persönlichen Informationen.
N: Weitere Angaben sind für den Antrag nicht erforderlich.
N: Der Verfasser des Liedes ist unbekannt; gedruckt wurde es erstmals 1612.
N: Leider ist das Museum montags geschlossen.
N: Sie müssen für die Kündigung keinen Grund angeben.
N: Danke für Ihre Anfrage. Nach 30 Tagen ist keine Rückgabe mehr möglich.
N: Der Dachboden hat keine Heizung und wird deshalb im Winter nicht vermietet.
N: Wir bitten um Entschuldigung: Der Zug fiel wegen eines umgestürzten Baumes aus.
N: Mein Großvater konnte nicht lesen, führte aber die Bücher des Ladens im Kopf.
N: Mitarbeiter dürfen am Telefon keine Auskunft geben.
N: Forscher wissen nicht, warum die Wale 1987 ihre Route änderten.
N: Entschuldigen Sie die Verspätung, Ihr Paket kommt am Donnerstag.
N: Der Bürgermeister sagte, er habe keine Ahnung von den Rechnungen gehabt, und trat zurück.
N: Die Bank fragt niemals nach Ihrem Passwort.
N: Eine Studie mit 400 Kindern fand keinen Beleg für eine Wirkung.
N: Eine Anmeldung ist nicht nötig, kommen Sie einfach vorbei.
N: Die Herkunft der Münzen ist ungeklärt; vergraben wurden sie um 1630.
N: Zelten ist außerhalb der markierten Flächen verboten.
N: Die Brandursache konnte die Feuerwehr nicht ermitteln.
N: Ohne Rezept darf dieses Mittel nicht abgegeben werden.
N: Das Formular allein genügt nicht, eine Kopie des Passes ist beizulegen.
N: Beim Einsturz des Daches wurde niemand verletzt.
N: Der Preis wurde 2021 nicht vergeben, weil kein Roman die nötige Punktzahl erreichte. Das hatte es zuletzt 1988 gegeben.
N: Einen direkten Bus gibt es nicht, man steigt in Plau um.
N: Auf dem Etikett darf das Wort „natürlich“ nicht stehen, wenn Farbstoffe enthalten sind.
M: Das Gerät kostet 549 Euro und braucht 9,5 Liter. Wie lange es hält, steht nicht in den Texten.
M: Wer die Brücke entwarf, weiß ich nicht, aber sie wurde 1931 eröffnet und ist 212 Meter lang.
M: Für Sonntag nennt der Text keine Zeiten. Werktags ist der Laden von neun bis sechs geöffnet.
M: Kinder unter sechs fahren frei. Ob das für Gruppen gilt, wird nicht erwähnt.
M: Zwar gibt der Kontext keinen Preis an, er sagt aber, dass die Lieferung drei Tage dauert.
M: Das Mittel ist seit 2015 zugelassen und wird zweimal täglich genommen; zur Schwangerschaft steht nichts da.
""",
    "fr": r"""
A: Les passages n'indiquent pas la durée de la garantie.
A: Je n'en ai aucune idée.
A: Je ne sais pas, désolé.
A: Rien dans les documents ne permet de répondre.
A: Le prix n'est précisé dans aucun des extraits.
A: Le texte ne dit pas qui a fondé l'entreprise.
A: Impossible de le savoir à partir de ces passages.
A: Je ne dispose pas d'assez d'éléments pour répondre.
A: On ignore, à la lecture des textes, si la piscine est chauffée.
A: Malheureusement, le contexte fourni n'aborde pas ce sujet.
A: Je n'ai pas trouvé la réponse dans les sources.
A: Les documents sont muets sur ce point.
A: Il n'est question de stationnement nulle part dans les textes.
A: Les informations fournies ne suffisent pas pour répondre à la question.
A: Je ne peux pas me prononcer, car les extraits parlent d'autre chose.
A: J'ai parcouru les trois passages. Ni les horaires ni l'adresse n'y figurent, je ne peux donc pas vous répondre.
A: Votre question porte sur les horaires d'hiver. Les textes traitent d'autres sujets et je ne ferais que deviner.
A: Non précisé dans le contexte.
A: Aucune mention n'est faite d'effets indésirables dans ces documents.
A: La notice ne donne aucun renseignement à ce propos.
A: Il n'est pas clair, d'après les passages, si les chiens sont admis.
A: J'aimerais vous aider, mais ce que j'ai sous les yeux ne traite pas des remboursements.
A: Les sources ne permettent ni de confirmer ni d'infirmer ce point.
A: Le contexte ne permet pas de déterminer l'année de construction.
A: Désolé, cette information est absente des textes. Adressez-vous au fabricant.
A: L'auteur du rapport n'est pas mentionné dans les extraits qui m'ont été remis.
A: Difficile à dire : les articles n'entrent pas dans ce détail.
A: La question reste sans réponse dans les documents.
A: Aucun délai n'est évoqué dans les passages.
A: Je ne suis pas en mesure de vous dire lequel des deux modèles est le plus léger ; le texte ne le dit pas.
A: Cela ne ressort pas des documents fournis.
A: Je manque d'informations à ce sujet.
N: J'ai le regret de vous dire que la société a fait faillite en 2019 avec cinq millions de dettes.
N: L'application ne recueille aucune information personnelle.
N: Aucun autre renseignement n'est exigé pour la demande.
N: L'auteur de la chanson est inconnu ; elle fut imprimée en 1612.
N: Malheureusement, le musée est fermé le lundi.
N: Vous n'avez pas à indiquer de motif pour résilier.
N: Merci de votre message. Les retours ne sont plus acceptés après 30 jours.
N: Le grenier n'est pas chauffé, c'est pourquoi on ne le loue pas l'hiver.
N: Veuillez nous excuser : le train a été supprimé à cause de la chute d'un arbre.
N: Ma grand-mère ne savait pas lire, mais elle tenait les comptes de tête.
N: Le personnel ne doit donner aucun renseignement par téléphone.
N: Les chercheurs ne savent pas pourquoi les baleines ont changé de route en 1987.
N: Pardon pour le retard : votre colis arrive jeudi.
N: Le maire a dit qu'il n'avait aucune idée de ces factures, puis il a démissionné.
N: La banque ne vous demandera jamais votre mot de passe.
N: Un essai sur 400 enfants n'a montré aucun effet du produit.
N: Il n'est pas nécessaire de s'inscrire, il suffit de venir.
N: L'origine des pièces reste mystérieuse ; on les a enterrées vers 1630.
N: Il est interdit de camper hors des emplacements marqués.
N: Les pompiers n'ont pas pu déterminer la cause de l'incendie.
N: Sans ordonnance, ce produit ne peut pas être délivré.
N: Le formulaire ne suffit pas, il faut joindre une copie du passeport.
N: Personne n'a été blessé dans l'effondrement du toit.
N: Le prix ne fut pas décerné en 2021, aucun roman n'ayant atteint la note voulue. Cela n'était pas arrivé depuis 1988.
N: Il n'y a pas de car direct, il faut changer à Redon.
N: Le mot « naturel » ne peut pas figurer sur l'étiquette si le produit contient des colorants.
M: L'appareil coûte 549 euros et consomme 9,5 litres. Les textes ne disent pas combien de temps il dure.
M: J'ignore qui a dessiné le pont, mais il a été ouvert en 1931 et mesure 212 mètres.
M: Le texte ne donne pas d'horaires pour le dimanche. En semaine, le magasin ouvre de neuf à dix-huit heures.
M: Les moins de six ans voyagent gratuitement. Il n'est pas précisé si cela vaut pour les groupes.
M: Le contexte n'indique pas le prix, mais il dit que la livraison prend trois jours.
M: Le médicament est autorisé depuis 2015 et se prend deux fois par jour ; rien n'est dit de la grossesse.
""",
    "zh": r"""
A: 文中没有说明保修期有多长。
A: 我不知道。
A: 这个我完全不清楚。
A: 资料里没有提到票价。
A: 从给出的段落看不出泳池是否加热。
A: 很抱歉，我在材料中没有找到答案。
A: 根据现有内容无法回答这个问题。
A: 所提供的信息不足，没办法作答。
A: 各段落都未提及公司的创办人。
A: 关于停车，文档只字未提。
A: 上下文没有给出相关信息。
A: 不好意思，我手上的资料与这个问题无关。
A: 文中并未说明报告是谁写的。
A: 我没有足够的依据来判断哪一款更轻。
A: 三段文字我都看过了，里面既没有开放时间，也没有地址，因此我答不上来。
A: 您问的是冬季时刻表，而材料讲的是别的事，我只能靠猜。
A: 上下文未说明。
A: 文章没有涉及退款的问题。
A: 无法从文中得知建造年份。
A: 这一点资料里没写，建议您咨询厂家。
A: 说不准，这些来源都没有谈到。
A: 能不能带狗，文中没有交代。
A: 对不起，这个问题超出了所给材料的范围。
A: 我既不能证实也不能否认，因为文档没有相关内容。
A: 说明书对此没有任何说明。
A: 截止日期在这些段落中找不到。
A: 我很想帮忙，可是我看到的内容没有讲到这件事。
A: 我不确定，资料中没有详细介绍。
A: 文中对副作用没有任何描述，所以我不能回答。
A: 暂无相关信息可供回答。
A: 这些片段没有提供答案。
A: 仅凭这几段话，没法知道结果如何。
N: 很遗憾地告诉您，这家公司2019年破产了，欠债五百万元。
N: 这款应用不收集任何个人信息。
N: 申请时不需要提供其他资料。
N: 这首诗的作者不详，最早印于1612年。
N: 不好意思，博物馆星期一闭馆。
N: 取消订单不必说明理由。
N: 感谢您的咨询，超过30天不能退货。
N: 阁楼没有暖气，所以冬天不出租。
N: 非常抱歉，列车因树木倒伏停运了。
N: 外婆不识字，可是店里的账全记在她脑子里。
N: 员工不得在电话里透露客户信息。
N: 科学家不知道鲸鱼为什么在1987年改变了路线。
N: 让您久等了，包裹星期四送到。
N: 市长说他对那些发票毫不知情，第二天就辞职了。
N: 银行绝不会向您索要密码。
N: 一项有400名儿童参加的试验没有发现疗效。
N: 不用报名，直接来就行。
N: 这批铜钱来历不明，埋藏的时间大约是1630年。
N: 禁止在划定区域以外露营。
N: 消防队未能查明起火原因。
N: 没有处方，这种药不能出售。
N: 光有表格不够，还要附上护照复印件。
N: 屋顶塌下来时没有人受伤。
N: 2021年该奖空缺，因为没有一部小说达到分数线。上一次出现这种情况是在1988年。
N: 没有直达的班车，要在龙门转车。
N: 含有色素的产品，标签上不得出现“天然”二字。
M: 这台机器549欧元，每次用水9.5升。能用多久，文中没有说。
M: 我不知道桥是谁设计的，不过它1931年通车，长212米。
M: 文中没有给出星期天的时间。平日商店九点到六点营业。
M: 六岁以下儿童免费乘车，团体是否适用没有提到。
M: 虽然上下文没有写价格，但说了送货需要三天。
M: 这种药2015年获批，每天服两次；孕妇能否服用，资料里没有讲。
""",
}


def rows() -> list[dict[str, object]]:
    """Rows with language, text, abstains, and mixed where an abstention stands beside substantive claims."""
    out: list[dict[str, object]] = []
    for language, block in DATA.items():
        for line in block.strip().splitlines():
            kind, text = line.split(": ", 1)
            row: dict[str, object] = {"language": language, "text": text, "abstains": kind == "A"}
            if kind == "M":
                row["mixed"] = True
            out.append(row)
    return out
