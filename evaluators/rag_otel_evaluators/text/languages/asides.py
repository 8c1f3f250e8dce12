"""What stands beside an abstention and claims nothing: an offer, advice to ask elsewhere, the question said again.

Advice ("contact the seller") is an answer by itself; only beside an abstention is it none. What one has read, and what
one was asked, is never a claim. The patterns are compiled when they are first asked for.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages import any_of, words

READING_OPENERS: Final = words(
    # One of these is the first word of every clause in Latin script that `own_reading` finds: a set spares the others.
    "i you your having much as however try good great fair interesting nice he tras después me nos su tu "
    "usted pregunta "
    "preguntas quiere quieres buena quisiera ojalá por ich nach sie du ihre deine gute gern gerne so trotz j "
    "après vous "
    "votre ta bonne je on malgré then and but or also still otherwise instead in for pero así de entonces y "
    "para quizás "
    "quizá tal también und aber dann dafür daher deshalb sonst vielleicht mais donc alors c aussi sinon pour peut et"
)

_OPEN: Final = (
    r"^[^\w¿¡]{0,4}(?:(?:so|then|and|but|or|also|still|otherwise|instead|in that case|for that|pero|"
    r"así que|por eso|por lo que|de modo que|por lo tanto|por tanto|entonces|y|para eso|quizás?|tal vez|"
    r"también|und|aber|dann|also|dafür|daher|deshalb|sonst|vielleicht|gern|gerne|mais|donc|alors|du coup|"
    r"c['’]est pourquoi|aussi|sinon|pour cela|peut-être|et)\W{1,3}){0,2}"
)


@cache
def advice() -> re.Pattern[str]:
    """How a sentence or clause begins that offers help or says where else to ask."""
    return any_of(
        # English
        rf"{_OPEN}(?:.{{0,60}}\b(?:glad|happy|able|pleased|best placed) to (?:help|assist|advise|tell|answer)\b|"
        r"(?:might|may|could|would|will) be (?:one|something|a question|a matter|worth)\b|please|kindly|perhaps|"
        r"maybe|possibly|try|consider|feel free|let me know|contact|ask|"
        r"consult|check|see|call|reach out|happy to|glad to|do you|would you|could you|can you|you(?:['’]d|"
        rf" would| will|['’]ll| may| might| could| can| should| need| are| want|['’]re)\b.{{0,30}}\b(?:ask|"
        r"contact|check|consult|look|try|call|reach|better|turn|speak|talk|verify|find|want|wish|refer|write|"
        r"email|need|search|share|send|get|welcome|visit|know|best|paste|upload)|(?:it|that) (?:might|may|"
        r"would|could) (?:be|help)\b|(?:it['’]s|it is) (?:best|worth|better|probably|advisable)|I(?:['’]d|"
        r" would| can| could|['’]ll| will) (?:\w+ )?(?:suggest|recommend|advise|be (?:happy|glad|able)|gladly|"
        r"happily|love|take|look|try|check|have another|need|point|encourage|start|go|give)|I (?:suggest|"
        r"recommend|advise)|(?:if|once|should|when|were|as soon as|with|given) (?:you|there|someone|anyone|I|"
        r"the full|the complete|more|another|additional)\b|(?:my|the) (?:best )?(?:advice|suggestion|"
        r"best bet)|(?:your|the) best (?:bet|option|course)|(?:a|an|the|their|its|your|"
        rf"whoever)\b.{{0,50}}\b(?:can|could|might|may|will|would|should|ought to|is likely to|"
        rf"probably) (?:\w+ ){{0,2}}(?:help|know|tell|answer|advise|have|assist|settle|clear|shed|be able|"
        rf"clarify)|(?:send|share|paste|upload|give|show|provide|drop|point|attach|pass)\b.{{0,40}}\b(?:me|us|"
        rf"here|over|full|it|and)\b|.{{0,80}}\b(?:right|best|better) (?:person|people|place|one|source|bet)\b|"
        r"(?:want|would you like|shall|should) (?:me|I)\b|(?:for|to) (?:more|further|that|a (?:definite|"
        rf"definitive|reliable)|this)\b.{{0,40}}\b(?:contact|ask|check|consult|see|visit|need|call|turn|look))",
        # Spanish
        rf"{_OPEN}(?:cabría|convendría|(?:puede|puedes) (?:dirigir|acercar|acudir)\w*|"
        r".{0,60}\b(?:pueda|puedan|podrá|podrán|podría|podrían) (?:ayudar|orientar|informar|aclarar|asesorar)\w*|"
        r"por favor|si (?:me|tiene|tienes|quiere|quieres|lo|la|puede|puedes|dispone|dispones|"
        r"comparte|desea|deseas|necesita|hay|alguien|usted|cuenta)|consult\w+|pregunt[ea]\w*|pregúnt\w+|"
        r"contact\w+|póngase|ponte|ponerse|pruebe|prueba|intent[ae]|dirí\w+|acud[ae]\w*|llam[ae]\w*|"
        r"escrib[ae]\w*|busque|busca|revis[ae]\w*|verifi\w+|le (?:recomiendo|sugiero|aconsejo)|"
        r"te (?:recomiendo|sugiero|aconsejo)|(?:te|le) (?:convendría|convendrá|vendría)|recomiendo|sugiero|"
        r"convendría|conviene|sería (?:mejor|bueno|conveniente|cuestión)|lo mejor|"
        r"puede(?:s)? (?:\w+ )?(?:consultar|preguntar|contactar|llamar|probar|buscar|revisar|pedir|enviar|"
        r"pasar)\w*|podrías?|quizás?|tal vez|a lo mejor|acaso|pás[ae]\w+|envía\w*|envíe\w*|mánda\w+|comparta|"
        r"comparte|adjunt\w+|habría que (?:preguntar|consultar|acudir|mirar|buscar|pedir)|hará falta|mejor|"
        r"acércate|acérquese|mire|mira|habla|hable|en cuanto|cuando (?:me|tenga)|con (?:mucho gusto|gusto)|"
        rf"encantad[oa]|estaré|el fabricante|el vendedor|(?:el|la|los|las|un|una)\b.{{0,40}}\b(?:podrá|podría|"
        r"podrían|podrán|sabrá|sabrán|puede|pueden) (?:\w+ )?(?:ayudar|decir|informar|orientar|aclarar|"
        r"responder|saber|indicar|resolver|sacar|dar|confirmar)\w*)",
        # German
        rf"{_OPEN}(?:.{{0,60}}\b(?:hilft|helfen|kann|können|könnte|könnten)\b.{{0,10}}\b(?:Ihnen|dir|euch|"
        rf"man)\b.{{0,30}}"
        r"\b(?:weiter|weiterhelfen|helfen|beraten|Auskunft|sagen)\b|holen Sie|hol dir|bitte|falls|wenn (?:Sie|du|"
        r"ihr|mir|jemand|es)|sollten? (?:Sie|du|es)|wenden Sie|"
        r"wende dich|fragen Sie|frag\b|frage\b|schauen Sie|schau\b|rufen Sie|ruf\b|schick\w*|senden Sie|"
        r"sende\b|laden Sie|lad\b|kontaktier\w+|konsultier\w+|versuch\w*|probier\w*|am besten|vielleicht|"
        r"möglicherweise|eventuell|womöglich|ich (?:empfehle|rate|schlage|würde|helfe|schaue|sehe|könnte|"
        r"kann) (?:Ihnen|dir|gern|gerne|vor|empfehlen|raten|vorschlagen|mir|dann|noch)|(?:Sie|du) (?:könnten|"
        r"könntest|sollten|solltest|können|kannst|müssten|müsstest|möchten)\b|gern\b|gerne\b|es (?:empfiehlt|"
        r"lohnt|wäre|ist ratsam)|ratsam|da (?:hilft|sollten|müssten|fragen|müsste|kann)|"
        r"mehr (?:dazu )?(?:weiß|erfahren)|auskunft (?:gibt|geben|kann|erteilt)|(?:das|dies)? ?(?:weiß|"
        r"wissen) (?:bestimmt|sicher|wohl|vermutlich|wahrscheinlich|am)|(?:der|die|das|Ihr|Ihre|dein|deine|"
        rf"ein|eine)\b.{{0,50}}\b(?:hilft|helfen|weiterhelfen|Auskunft|weiß|wissen|sagen|beantworten|klären)\b|"
        r"(?:nachfragen|nachschauen)|sobald|magst du|möchten Sie|soll ich|melden Sie|melde dich|sprechen Sie|"
        r"sprich|lassen Sie|mit (?:dem|der) (?:vollständigen|ganzen|kompletten)|dazu (?:müsste|müssten|"
        rf"bräuchte|sollten)|für (?:eine|genaue|nähere|verlässliche)\b.{{0,40}}\b(?:wenden|brauche|bräuchte|"
        r"fragen))",
        # French
        rf"{_OPEN}(?:.{{0,60}}\b(?:pourra|pourront|pourrait|saura|peut|peuvent) (?:vous|"
        rf"te) (?:\w+ )?(?:renseigner|conseiller|"
        r"aider|rappeler|guider|orienter|répondre|informer)|dites-moi|dis-moi|posez|pose-moi|renvoye[zr]|"
        r"passe[zr]? (?:donc )?un|"
        r"veuillez|merci de|n['’]hésitez|si (?:vous|tu|jamais|quelqu)|s['’]il (?:vous|te)|"
        r"adresse[zr]?\b|adressez|demande[zr]?\b|consulte[zr]?\b|contacte[zr]?\b|appele[zr]?\b|rapprochez|"
        r"renseignez|essaye[zr]|essaie|cherchez|voyez|vérifiez|vérifie\b|envoye[zr]|envoie|transmettez|"
        r"partage[zr]|joignez|fournissez|collez|je (?:vous|te) (?:conseille|suggère|recommande|invite|propose|"
        r"encourage)|je (?:conseille|suggère|recommande)|je (?:peux|pourrai|pourrais|le|la|regarderai|"
        r"suis prêt|reste)\b|(?:vous|tu) (?:pouvez|pourriez|peux|pourrais|devriez|devrais|auriez|gagneriez|"
        r"trouverez)\b|il (?:vaudrait|vaut|faudrait|serait|conviendrait) (?:mieux|préférable|utile|peut-être|"
        r"sans doute|demander|consulter|contacter|interroger|voir|bon)|mieux vaut|le (?:mieux|plus simple|"
        r"plus sûr)|peut-être|sans doute|éventuellement|(?:le|la|les|l['’]|votre|un|une|seul|"
        rf"seule)\b.{{0,50}}\b(?:pourra|pourront|pourrait|pourraient|saura|sauront|saurait|peut|peuvent|"
        rf"doit) (?:\w+ ){{0,3}}(?:renseigner|aider|répondre|dire|informer|savoir|éclairer|confirmer|trancher|"
        r"préciser|être)|dès que|avec (?:le|la|plus|davantage)|volontiers|parlez-en|parles?-en|voyez|"
        r"tournez-vous|passez|laissez|écrivez|téléphonez|pour (?:plus|en savoir|une réponse|le savoir|cela)|"
        r"à vous de|à vérifier|à demander|à voir)",
        # Chinese
        r"^\W{0,4}(?:所以|因此|那|不过|但|或者|也许|或许|可能)?[，,]?(?:建议|请|您可以|你可以|您可|可以|不妨|"
        r"最好|麻烦|如果|如|若|要是|假如|倘若|欢迎|或许|也许|烦请|劳烦|还请|还是|需要的话|方便的话|有需要|"
        r"您不妨|你不妨|您最好|你最好|想知道|要想|得问|要问|问问|咨询|联系|劝您|推荐|我建议|我可以|我再|"
        r"我很乐意|随时|等您|待您|把.{1,20}(?:发|给)|另请|厂家|客服|商家|敬请|望|谅解|见谅|方便|能否|能不能|"
        r"需要我|要不|.{0,16}(?:打|拨打|致电).{0,12}(?:热线|电话|客服))",
    )


@cache
def own_reading() -> re.Pattern[str]:
    """How a sentence or clause begins that is about what one has read or was asked: "I looked through all"."""
    return any_of(
        rf"{_OPEN}I(?:['’]ve| have|['’]d| had)?(?: \w+){{0,2}} (?:looked|read|reread|checked|searched|went|"
        r"gone|reviewed|scanned|combed|examined|scoured|consulted|studied|skimmed|tried|wish|hoped|hunted|"
        rf"sifted|pored)\b|{_OPEN}having (?:read|looked|gone|checked|reviewed|searched|combed)|"
        rf"{_OPEN}(?:you (?:asked|are asking|['’]re asking|want(?:ed)? to know|were asking|wonder)|"
        r"you['’]re asking|your question|(?:good|great|fair|interesting|nice) question|I (?:understand|see|"
        r"realise|realize|know) (?:that )?you|(?:I['’]d|I would) (?:love|like|gladly|be happy) to (?:help|"
        r"answer|tell)|much as I|as much as I|however (?:hard|often|closely) I|try as I)",
        rf"{_OPEN}(?:he (?:\w+ )?(?:revisado|leído|releído|consultado|buscado|repasado|mirado|examinado|"
        r"rebuscado|intentado|recorrido)|tras (?:leer|revisar|consultar|repasar|examinar|buscar)|"
        r"después de (?:leer|revisar)|(?:me|nos) (?:preguntas?|pregunta|pide|pides|ha preguntado|"
        r"has preguntado)|(?:su|tu) (?:pregunta|consulta|duda)|(?:usted )?(?:pregunta|preguntas|quiere saber|"
        r"quieres saber)|buena pregunta|(?:quisiera|me gustaría|ojalá)|por más que|por mucho que)",
        rf"{_OPEN}(?:ich habe .{{0,60}}\b(?:durchgesehen|gelesen|geprüft|durchsucht|gesucht|durchgelesen|"
        r"nachgesehen|durchforstet|gesichtet|nachgeschaut|angesehen|angeschaut|überflogen|durchgeschaut)|"
        rf"ich bin .{{0,60}}\bdurchgegangen|nach (?:durchsicht|lektüre|prüfung)|sie (?:fragen|möchten wissen|"
        rf"wollen wissen|haben .{{0,40}} gefragt|fragten)|du (?:fragst|möchtest wissen|willst wissen|wolltest)|"
        r"(?:ihre|deine) frage|gute frage|ich verstehe|(?:gern|gerne) (?:würde|hätte) ich|so gern|so leid|"
        r"trotz (?:gründlicher|mehrmaliger|genauer|intensiver|aller))",
        rf"{_OPEN}(?:j['’]ai (?:\w+ ){{0,2}}(?:parcouru|lu|relu|cherché|consulté|examiné|vérifié|regardé|"
        r"épluché|fouillé|passé)|après (?:lecture|relecture|avoir|vérification|examen)|"
        r"vous (?:me )?(?:demandez|vouliez|voulez|souhaitez|avez demandé|cherchez)|tu (?:me )?(?:demandes|"
        r"voulais|veux)|(?:votre|ta) question|bonne question|je comprends|j['’]aurais (?:aimé|voulu)|"
        r"j['’]aimerais|j['’]ai beau|on a beau|malgré (?:mes|nos|une lecture))",
        r"^\W{0,4}(?:我?(?:已经?)?(?:把.{0,15}(?:看|读|翻|查|找)|仔细|反复|查阅|翻阅|看过|看了|读了|读过|翻了|"
        r"翻遍|查了|查遍|找了|检索了|通读)|您(?:想|问|提|要|是问|是想)|你(?:想|问|提|是问|是想)|问得好|好问题|"
        r"我(?:很想|也想|理解|明白))",
    )


@cache
def kindness() -> re.Pattern[str]:
    """A sentence beside an abstention that greets, thanks, apologises, feels with the user, or will not guess.

    It stops at a word that may join a claim to it: "I am sorry to say that the firm went bankrupt".
    """
    end = r"(?:(?!\b(?:that|but|because|dass|weil|aber|que|pero|mais|porque|parce)\b)[^.;:]){0,70}[.!…]*\W*$"
    return any_of(
        r"^\W*(?:(?:hi|hiya|hello|hey|heya|good (?:morning|afternoon|evening|day)|dear)\b(?:\W{1,3}\w+){0,3}|"
        r"(?:o+h|a+h|hm+|wow|oops|ouch|good|great|fair|nice|lovely|interesting|tricky|excellent)\b.{0,12}"
        r"\b(?:one|catch|question|point|ask|thought)\b.{0,30}|(?:kind|best|warm) regards\b.{0,30}|cheers|"
        r"sincerely)\W*$",
        r"^\W*(?:(?:many |so many |my |our |please accept (?:my|our) )?(?:sincere )?(?:thanks|thank you|apologies)\b|"
        r"I(?:['’]m| am)? (?:really |very |so |do |truly )?(?:sorry|apologi[sz]e) (?:for|about|to hear|I|we|you)\b|"
        r"(?:I|we) (?:really |very much |do )?(?:appreciate|understand|get|see|realise|realize) (?:your|you|how|why|"
        r"it|this|the (?:frustration|urgency|question|confusion|inconvenience|concern)|that (?:you|this|it))\b|"
        r"(?:I(?:['’]d| would) (?:rather|sooner|prefer)|I (?:prefer|don['’]t want|do not want|won['’]t|will not|"
        r"wouldn['’]t want|refuse))\b.{0,12}\b(?:not|say|tell|admit|be|guess|speculate|make|invent|mislead)\b)"
        r"(?:(?!\bbecause\b)[^.;:]){0,80}[.!…]*\W*$",
        r"^\W*(?:hola|buen[oa]s (?:días|tardes|noches)|estimad[oa]s?|querid[oa]s?|uy|vaya|"
        r"buena (?:pregunta|observación)|(?:reciba |recibe )?(?:un )?(?:cordial |atento )?saludos?|atentamente|"
        r"a su disposición|quedo|quedamos)\b[^.;:]{0,60}\W*$",
        r"^\W*(?:(?:muchas |mil )?gracias|(?:lo |le |te )?(?:siento|lamento|lamentamos|sentimos)|perdon[ae]\w*|perdón|"
        r"disculp\w+|mis disculpas|(?:entiendo|comprendo|entendemos|comprendemos) (?:su|tu|la|lo|tus|sus|"
        r"perfectamente)|"
        rf"prefiero (?:no|ser|decir)\w*|no (?:quiero|quisiera) (?:adivinar|inventar|especular)\w*)\b{end}",
        r"^\W*(?:hallo|hi|moin|servus|guten (?:tag|morgen|abend)|(?:mit )?(?:freundlichen|besten|herzlichen|vielen|"
        r"lieben) grü(?:ß|ss)en?|(?:viele|liebe|beste|herzliche|freundliche) grüße|gute frage|sehr gute frage|"
        r"gerne?)\b[^.;:]{0,40}\W*$",
        r"^\W*(?:(?:sehr geehrte[rs]?|liebe[rs]?|lieber) [^.;:]{0,40},\s{1,3})?(?:(?:vielen|herzlichen|"
        r"besten) dank|danke|"
        r"(?:ich )?(?:bitte (?:ich )?um|entschuldig\w+|verzeih\w+)|(?:(?:es|das) )?tut (?:mir|uns) (?:sehr |"
        r"wirklich )?leid|"
        r"ich (?:verstehe|kann (?:gut )?(?:verstehen|nachvollziehen))(?:,? (?:dass|wie|warum) (?:Sie|du|das|es|"
        r"dir|Ihnen))?|"
        r"ich (?:möchte|will|mag|werde)\b.{0,20}\b(?:raten|spekulieren|mutmaßen|erfinden|rate|vermuten))\b"
        r"(?:(?!\b(?:weil|aber)\b)[^.;:]){0,70}\W*$",
        r"^\W*(?:bonjour|bonsoir|salut|coucou|(?:très )?bonne question|cordialement|bien (?:à vous|cordialement)|"
        r"(?:cher|chère)s?)\b[^.;:]{0,40}\W*$",
        r"^\W*(?:(?:un grand )?merci|(?:toutes )?(?:mes|nos) (?:\w+ )?excuses|(?:je suis |nous sommes )?"
        r"(?:vraiment |sincèrement )?désolée?s?|pardon|(?:je|nous) (?:vous |te )?(?:pri\w+|présent\w+|remerci\w+)|"
        r"(?:je|nous) compren\w+ (?:votre|ta|que (?:vous|tu|cela|c['’])|bien)|je préfère\b.{0,30}"
        rf"\b(?:dire|honnête|deviner|inventer|avancer|avouer|spéculer))\b{end}",
        r"^\W*(?:您好|你好|亲)?\W{0,3}(?:(?:非常|十分|很|真的|实在)?(?:感谢|谢谢|多谢|抱歉|对不起|不好意思)"
        r"[^，,。；;]{0,20}|(?:给|让)[您你].{0,12}[，,]?.{0,6}(?:谅解|见谅|抱歉|原谅)|(?:还)?(?:请|望|希望)[您你]?.{0,6}(?:谅解|见谅|理解|海涵)|"
        r"(?:我)?(?:非常|很|完全|十分)?(?:理解|明白|能体会)[您你]的[^，,。；;]{1,12}|(?:为|以)(?:了)?(?:避免|免|防)[^。；;]{0,30}|"
        r"(?:此致|敬礼|祝您.{0,12}|好问题.{0,4}|问得好.{0,4}))[\W]*$",
    )
