"""Words that decide how far, how surely, when and in which direction something holds, in five languages."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

ALL: Final = words(
    "all every everyone everybody everything each always entire entirely whole wholly any anyone anybody anything "
    "anywhere everywhere completely fully totally exclusively invariably lifetime life forever unlimited "
    "indefinitely permanently consistently universally whatsoever throughout "
    "todo todos toda todas cada siempre completamente totalmente enteramente íntegramente entero entera cualquier "
    "cualquiera cualesquiera vida ilimitado ilimitada indefinidamente invariablemente universalmente "
    "alle allen aller alles allem jeder jede jedes jeden jedem jeglicher jegliche jegliches immer stets ständig "
    "sämtliche sämtlichen sämtlicher gesamte gesamten gesamter ganze ganzen ganzer ganzes völlig vollständig "
    "komplett restlos ausnahmslos durchweg überall jedermann lebenslang unbegrenzt unbefristet dauerhaft "
    "tous tout toute toutes chaque toujours entièrement totalement complètement intégralement intégralité "
    "totalité entier entière quiconque partout vie illimité illimitée invariablement systématiquement "
    "所有 全部 每个 每次 每一 每位 每种 每人 各个 各位 各种 总是 一律 全都 全体 全员 任何 凡是 都 均可 均为 均已 "
    "均有 均需 均须 始终 完全 一概 人人 个个 处处 终身 永久 无限 无一例外 悉数"
)
UNLIMITED: Final = words(
    "lifetime lifelong forever unlimited unlimitedly indefinitely permanently perpetually eternally vitalicio "
    "vitalicia ilimitado ilimitada indefinidamente lebenslang lebenslange unbegrenzt unbefristet dauerhaft illimité "
    "illimitée indéfiniment 终身 终生 永久 永远 无限期"
)
"""Say that something never ends."""
MOST: Final = words(
    "most mostly majority mainly usually generally typically largely nearly almost often normally predominantly "
    "frequently commonly ordinarily chiefly primarily practically virtually overwhelmingly "
    "mayoría mayor mayormente casi suele suelen normalmente generalmente habitualmente principalmente "
    "mayoritariamente frecuentemente menudo prácticamente "
    "meisten meiste meist meistens mehrheit mehrheitlich überwiegend fast hauptsächlich gewöhnlich üblicherweise "
    "normalerweise größtenteils großteil beinahe nahezu häufig oft weitgehend vorwiegend "
    "plupart majorité majoritairement généralement habituellement normalement presque surtout principalement "
    "souvent fréquemment quasiment quasi essentiellement "
    "大多数 大多 多数 绝大多数 绝大部分 多半 大部分 大都 大半 通常 一般 几乎 差不多 主要 往往 经常"
)
SOME: Final = words(
    "some several few fewer sometimes occasionally part partly partially minority rarely seldom hardly scarcely "
    "certain half couple various selected individual handful fraction infrequently "
    "algunos algunas alguno alguna algún varios varias pocos pocas parte parcial parcialmente veces raramente "
    "minoría mitad ciertos ciertas unos unas contados apenas ocasionalmente determinados determinadas diversos "
    "diversas "
    "einige einigen einiger einzelne einzelnen einzelner manche manchen mancher manchmal gelegentlich mitunter "
    "zuweilen wenige wenigen weniger teilweise teils selten kaum teil minderheit hälfte mehrere mehreren "
    "bestimmte bestimmten etliche "
    "certains certaines quelques quelquefois parfois peu plusieurs rarement partie partiellement minorité moitié "
    "divers diverses occasionnellement guère "
    "有些 有的 一些 部分 少数 有时 有时候 偶尔 很少 个别 几个 极少 若干 某些 某个 一部分 一半 半数"
)
ONLY: Final = words(
    "only solely just exclusively alone merely sole purely "
    "solo sólo solamente únicamente exclusivamente único única únicos únicas meramente "
    "nur lediglich ausschließlich allein bloß einzig einzige einziger einziges alleinig "
    "seulement uniquement exclusivement seul seule seuls seules "
    "只 仅 只有 唯一 仅仅 唯有 仅限 只限 单单 光是"
)
NONE: Final = words(
    "no none never nobody nothing neither nor nowhere not cannot without "
    "ninguno ninguna ningún ningunos ningunas nunca jamás nadie nada tampoco no ni sin "
    "kein keine keinen keiner keinem keines keinerlei nie niemals niemand niemanden niemandem nichts nicht ohne "
    "nirgends nirgendwo keinesfalls keineswegs weder mitnichten nimmer "
    "aucun aucune aucunement jamais personne rien pas ne n ni non nul nulle nullement guère sans "
    "没有 从不 从未 不 没 无 未 禁止 不得 不能 不会 非 勿 别 莫 无需 无须 不必 不用 毋须 毋需 尚未 并非 绝非 从没 甭"
)
"""Denies. The plain "ne", "no", "不" too: whether a claim denies is compared with whether its evidence does."""
PRIVATIVE: Final = words(
    "closed shut forbidden forbids banned bans prohibited prohibits excluded excludes exclude except unable fail "
    "fails failed lack lacks lacked lacking missing absent devoid refuse refused refuses reject rejected rejects "
    "deny "
    "denied denies impossible unavailable empty "
    "stop stops stopped cancelled canceled ended unsafe unsuitable unsuited uncovered uninsured unnecessary unneeded "
    "unfit unlikely invalid void expired exempt exempted illegal unlawful inaccessible unsupported disallowed "
    "disabled "
    "avoid avoids avoided prevent prevents prevented discontinued withdrawn broken abolished scrapped waived waives "
    "omitted omits revoked suspended vetoed barred unchanged halted ceased ceases "
    "cerrado cerrada cerrados cerradas cerró prohibido prohibida prohibidos prohibidas prohíbe prohíben vetado "
    "vetada "
    "excluido excluida excluidos excluidas excluye excluyen excluyó salvo excepto imposible carece carecen falta "
    "faltan faltaba rechazó rechaza rechazan rechazado rechazada niega niegan negó denegó denegado denegada vacío "
    "vacía vacíos vacías "
    "evita evitan evitar evite impide impiden impidió cancelado cancelada cancelados canceladas suspendido "
    "suspendida "
    "suspendidos suspendidas suprimido suprimida suprimió suprimieron eliminado eliminada descartó descartado exento "
    "exenta exentos exentas exime innecesario innecesaria desaconseja desaparece desaparecen desapareció "
    "desaparecieron abstenerse absténgase prescinde ausencia caducado caducada agotado agotada indisponible "
    "geschlossen verboten verbietet untersagt untersagte ausgeschlossen ausgenommen unmöglich fehlt fehlen fehlte "
    "abgelehnt lehnt lehnte verweigert verweigerte weigert weigerte verhindert verhinderte gestrichen abgesagt "
    "eingestellt gesperrt ungeeignet unzulässig ungültig unversichert unnötig unbeschädigt unverändert unerwünscht "
    "entfällt entfallen entfiel entfielen wegfällt verzichtet verzichten verzichtete unterbleibt vermeiden vermeidet "
    "befreit außer storniert abgeschafft aufgehoben tabu verwehrt überflüssig "
    "fermé fermée fermés fermées interdit interdite interdits interdites interdisent proscrit proscrite exclu exclue "
    "exclus exclues excluent exclut sauf hormis impossible manque manquent refuse refusent refusé refusée refusés "
    "rejette rejeté rejetée vide vidé vides évite évitent évitez éviter empêche empêchent annulé annulée annulés "
    "annulées "
    "supprimé supprimée supprimés supprimées supprime suspendu suspendue suspendus inutile inutiles exempté exonéré "
    "exonérée dispensé dispensée dispense inaccessible indisponible déconseillé déconseillée cesse cessé cessent "
    "cessera absence absent absente dépourvu dépourvue disparu disparaît aboli abolie périmé périmée "
    "关闭 关门 闭馆 停业 停 禁止 严禁 除外 除非 拒绝 缺 缺少 缺乏 无法 失败 取消 不得 作废 失效 避免 防止 停止 "
    "暂停 免 以免 谢绝 杜绝 忌 切忌 拒"
)
"""Words that deny without a negation, whatever their verb is."""
PAST: Final = words(
    "formerly previously originally initially once earlier früher damals einst ursprünglich bisher zuvor ehemals "
    "anteriormente antes inicialmente originalmente antiguamente antaño autrefois auparavant jadis initialement "
    "以前 原来 原先 过去 曾经 此前 起初 最初 曾"
)
"""What was so, and may not be so any more."""
HEDGES: Final = words(
    "may might could can possibly perhaps maybe probably likely possible probable suggest suggests suggested "
    "suggesting appear appears appeared seem seems seemed seemingly apparently presumably supposedly conceivably "
    "arguably expected expect expects believed thought reportedly about approximately roughly around estimated "
    "estimate estimates potential potentially tends tend tended considering consider considers considered plans "
    "planned planning hopes hope hoped proposed proposes believes thinks provisional provisionally preliminary "
    "tentative tentatively unconfirmed unclear uncertain undecided pending forecast forecasts predicted predicts "
    "projected anticipated anticipates intends intended aims suspects suspected suspect assumed assumes assume "
    "guess guesses speculates speculated hint hints hinted chance "
    "puede pueden podría podrían pudiera pudieran quizá quizás probablemente posiblemente seguramente parece "
    "parecen parecía estima estiman estimado cree creen creemos considera consideran posible posibles probable "
    "probables tal acaso sugiere sugieren plantea plantean prevé prevén previsto prevista previsiblemente "
    "presumiblemente aparentemente supuestamente provisional provisionalmente espera esperan pendiente "
    "aproximadamente alrededor baraja barajan estudia estudian confía confían propone proponen sospecha sospechan "
    "incierto duda dudan intentará "
    "kann können könnte könnten möglicherweise vielleicht womöglich wahrscheinlich vermutlich voraussichtlich "
    "mutmaßlich anscheinend offenbar scheinbar scheint scheinen schien wohl dürfte dürften eventuell glaubt "
    "glauben meint hält erwägt erwägen möglich etwa ungefähr circa schätzungsweise geschätzt schätzt schätzen "
    "vermutet vermuten erwartet erwarten rechnet hofft hoffen plant planen geplant vorläufig unbestätigt ungewiss "
    "unklar vorgesehen denkbar tendenziell mag "
    "peut peuvent pourrait pourraient probablement vraisemblablement semble semblent semblait éventuellement "
    "possiblement croit croient estime estiment estimé envisage envisagent envisagé environ susceptible "
    "susceptibles suggère suggèrent possible possibles probable probables apparemment présumé supposé espère "
    "espèrent prévoit prévoient prévu prévue table tablent incertain incertaine hypothèse provisoire "
    "provisoirement propose proposent soupçonne pense pensent devrait devraient "
    "可能 也许 或许 大概 大约 似乎 好像 看来 估计 据说 有望 或将 或 认为 预计 预期 预测 考虑 恐怕 说不定 有可能 "
    "很可能 未必 不一定 拟于 拟在 计划 打算 暂定 待定 希望 推测 猜测 怀疑 "
    "疑似 或会"
)
EXCEPT: Final = words(
    "except excepting excepted exception exceptions excluding excluded excludes exclude barring minus "
    "excepto excepción excepciones exceptuando exceptuado exceptuados salvo salvando excluido excluida excluidos "
    "excluidas excluyendo excluye excluyen quitando "
    "außer ausgenommen ausnahme ausnahmen ausgeschlossen ausschließt abgesehen exklusive "
    "sauf hormis excepté exceptée exceptés exception exceptions exclu exclue exclus exclues excluant exclut hors "
    "除 除了 除外 除去 除开 例外 不含 不包括 不包含 之外"
)
"""Take something out of what was said."""
CERTAIN: Final = words(
    "certainly definitely surely always must guaranteed guarantee guarantees proven proves prove proved "
    "undoubtedly doubtless unquestionably sure inevitably will never every invariably confirmed confirms "
    "established certain absolutely clearly conclusively decided settled promised promises "
    "seguro segura ciertamente garantiza garantizan garantizado garantizada demostrado demostrada demuestra "
    "indudablemente siempre debe deben necesita necesariamente confirmado confirmada confirma definitivo "
    "definitivamente absolutamente inevitablemente decidido decidida comprobado probado fijado "
    "sicher sicherlich gewiss garantiert garantieren bewiesen beweist zweifellos zweifelsfrei immer muss müssen "
    "jedes jedesmal bestimmt definitiv endgültig unbedingt unweigerlich bestätigt erwiesen nachgewiesen "
    "beschlossen feststeht entschieden zwangsläufig "
    "certainement sûrement certain certaine garanti garantie garantit prouvé prouvée prouve démontré assurément "
    "toujours doit doivent forcément inévitablement indubitablement chaque confirmé confirmée définitivement "
    "définitif absolument acquis acquise décidé décidée "
    "一定 必然 肯定 必定 必须 绝对 保证 已确定 确定 证明 证实 每次 总会 总是 无疑 毫无疑问 注定 必将 已经决定 "
    "务必 确认"
)
CONDITIONS: Final = words(
    "if unless when provided providing except until only while after before once because "
    "otherwise whether assuming subject depending depends condition conditional permitting requires "
    "si salvo excepto cuando siempre solo mientras hasta condición condicionado siempre-que depende "
    "dependiendo reserva previa previo "
    "wenn falls sofern soweit außer nur bis solange sobald ausgenommen bedingung voraussetzung "
    "vorausgesetzt vorbehaltlich vorbehalt "
    "sauf si lorsque quand seulement condition conditions jusqu pendant hormis dès pourvu "
    "moyennant "
    "如果 假如 倘若 若是 除非 除外 只有 若 凭 除了 只要 情况下 期间 例外 未满 满 前提 视乎 取决于 必须先 方可"
)
UNCONDITIONAL: Final = words(
    "regardless irrespective despite notwithstanding even whatever whichever whoever wherever whenever anyway "
    "always any also too "
    "alike unconditionally "
    "incluso pese pesar aunque siempre cualquier también aun igual independientemente incondicionalmente "
    "auch trotz selbst egal immer unabhängig jederzeit trotzdem jedenfalls sogar bedingungslos gleichgültig "
    "ungeachtet "
    "ebenfalls ebenso "
    "même malgré toujours aussi quel quelle quels quelles indépendamment également inconditionnellement "
    "即使 即便 哪怕 无论 不论 不管 任何 照样 也 都 随时 一律 同样 一样"
)
BEFORE: Final = words(
    "before earlier prior until first firstly antes previo primero vor bevor ehe zuvor vorher zuerst zunächst avant "
    "abord 之前 以前 先 前"
)
AFTER: Final = words(
    "after later once then following since afterwards subsequently después luego tras posteriormente nach nachdem "
    "danach dann anschließend daraufhin später après puis ensuite 之后 以后 后 再 随后 接着"
)
REPORTED: Final = words(
    "posted wrote asked claims claimed claiming asks says said "
    " rumour rumor rumours rumors rumoured rumored allegedly supposedly myth legend complains "
    "complained complaint convinced bets swears swore argued argues heard alleged alleges asserts "
    "asserted maintains maintained insists insisted contends contended reckons reckoned inquired enquired "
    "enquires wanted wonders wondered  "
    "escribió preguntó pregunta preguntan comentó rumor rumores "
    "asegura aseguró aseguran afirma afirmó afirman sostiene sostuvo sostienen alega alegó insiste insistió dice "
    "dicen dijo dijeron decirse queja quejó rumorea supuestamente presuntamente mito  "
    " convencida convencido opina opinó según reclama "
    "schrieb schreibt fragt fragte fragten gerücht gerüchte "
    "behauptet behauptete behaupteten behauptung heißt hieß angeblich vermeintlich soll sollen  "
    " beschwert beschwerte überzeugt sagt sagte sagten meint "
    "meinte meinten gesagt erzählt erzählte gehört zufolge "
    "mythos "
    "écrit demande demanda demandé demandent demandait rumeur "
    "rumeurs affirme affirma affirmé affirment dit disent prétend prétendent prétendu prétendument soutient "
    "soutenu soutiennent jure juré  "
    "convaincu convaincue plaint plainte raconte racontent raconté légende mythe selon "
    " 问 问道 询问 提问 发问 写道 传言 的说法 传闻 谣言 谣传 据称 据传 有人 有人说  "
    "常说 听说 据说 声称 宣称 自称 投诉 抱怨 以为"
)
"""Somebody else speaks: what a or a says, the document does not."""
SUMMED: Final = words(
    "together total altogether overall combined sum joint jointly both juntos juntas tout total suma suman sumadas "
    "sumados ambos ambas conjunto zusammen insgesamt gesamt summe ensemble somme 一共 总共 合计 总计 加起来 共有 总数"
)
"""Ask for a sum."""
DIFFERING: Final = words(
    "more fewer less difference lost lose gone save saves saved saving gap margin majority remain remaining left cut "
    "rise grew fell dropped extra "
    "más menos diferencia ahorra ahorran ahorro queda quedan perdieron perdió resta restan sobra gana ganan bajó "
    "subió "
    "mehr weniger unterschied differenz spart gespart übrig verloren verlor rest "
    "plus moins différence écart reste restent économise économie gagne gagné perdu "
    "多出 多了 少了 多多少 少多少 差 相差 省 剩 还剩 减少 增加 涨了 降了"
)
"""Ask for a difference."""
GREATER: Final = words(
    "better best oftener stronger busier richer harder warmer louder brighter denser fuller rather "
    "mejor mejores máximo superiores besser öfter häufiger lieber stärker lauter dicker voller reicher teuerer "
    "breitere "
    "meilleur meilleure meilleurs mieux supérieurs supérieures "
    "more longer heavier larger bigger higher taller older slower wider deeper later greater dearer costlier thicker "
    "farther further hotter warmer "
    "más mayor mayores superior pesado largo larga alto "
    "mehr länger schwerer größer höher älter langsamer breiter tiefer später teurer weiter wärmer stärker "
    "plus davantage supérieur supérieure mieux "
    "更 多 长 重 大 高 久 慢 晚 贵 远 后"
)
SMALLER: Final = words(
    "worse worst weaker poorer quieter softer thinner emptier "
    "peor peores inferiores schlechter seltener schwächer leiser dünner ärmer leerer geringer "
    "pire pires inférieurs inférieures moindre "
    "less fewer shorter lighter smaller lower younger faster quicker sooner earlier cheaper narrower nearer colder "
    "menos menor menores inferior antes "
    "weniger kürzer leichter kleiner niedriger jünger schneller eher früher billiger günstiger schmaler kälter "
    "moins inférieur inférieure avant "
    "少 短 轻 小 低 快 早 先 省 勤 便宜 前"
)
SOON: Final = words(
    "fast quick quickly early soon rápido rápida rápidos deprisa temprano pronto ligero rapide vite tôt léger légère"
)
"""Little time, or weight: "más rápido" takes less of it."""
THAN: Final = words("than que qu als 比")
MEASURED: Final = {
    word: dimension
    for dimension, listed in {
        "mass": "heavier lighter heavy light weigh weighs weight pesa pesan pesado pesada ligero peso "
        "schwerer leichter "
        "wiegt gewicht waage lourd lourde léger légère pèse pèsent poids 重 轻",
        "time": "faster slower quicker time rápido rápida lento deprisa tiempo schneller langsamer zeit "
        "rapide lent vite "
        "temps 快 慢 时间",
        "money": "cheaper dearer costlier expensive costs pays cost pay paid caro cara barato cuesta paga pagó "
        "teurer "
        "billiger günstiger kostet zahlt cher coûte paie payé 贵 便宜 花 付",
    }.items()
    for word in words(listed)
}
"""Word of a comparison -> what it measures."""

UP: Final = words(
    "rise rises rose risen rising increase increases increased increasing grow grows grew grown growing growth climb "
    "climbs climbed climbing gain gained gains raise raised raises raising jump jumps jumped soar soars soared "
    "soaring surge surges surged widened expand expands expanded expanding upward upwards hike hikes hiked boost "
    "boosts boosted upped escalated escalates rocketed skyrocketed mounted swell higher pricier dearer "
    "costlier multiplied tripled quadrupled doubled heightened ascended ascends advanced rebound rebounded "
    "recovered strengthened uptick upturn inflated accelerated "
    "sube suben subió subieron subido subida subidas subir subirá subirán aumenta aumentan aumentó aumentaron "
    "aumentado aumentar aumentará aumento aumentos crece crecen creció crecieron crecido crecer crecimiento ganó "
    "incrementa incrementan incrementó incrementaron incrementado incrementar incremento eleva elevan elevó elevaron "
    "elevado elevará encarece encarecen encareció encarecieron encarecido encarecer encarecimiento alza repunta "
    "repuntó repunte asciende ascendió ascenso triplicó duplica multiplicó dispara disparó disparado engorda engordó "
    "remonta remontó escala escaló avanzó avanza "
    "steigt steigen stieg stiegen gestiegen anstieg ansteigt anstiegen angestiegen ansteigen steigt steigerung "
    "gesteigert steigert steigerte wächst wachsen wuchs wuchsen gewachsen wachstum zugenommen zunimmt zunehmen "
    "zunahm "
    "zunahmen zunahme erhöht erhöhte erhöhten erhöhen erhöhung klettert kletterte kletterten geklettert klettern "
    "angehoben anhebung anhob heraufgesetzt hochgesetzt aufgestockt aufwärts verteuert verteuerte verteuern "
    "verteuerung zulegen zulegte zugelegt vergrößert vergrößerte vermehrt verlängert verlängerte verlängern "
    "verdoppelt verdreifacht vervielfacht "
    "augmente augmentent augmenté augmentée augmentait augmenta augmenter augmentera augmentation monte montent "
    "monté "
    "montée monta croît croissent crû croissance accru accrue accroît accroissement grandi grandit progressé "
    "progresse progression hausse hausses haussé rehaussé rehausse relevé relevée relevés relève relèvement majoré "
    "majorée majoration renchérit renchéri renchérissement enchérit grimpe grimpé grimpent grimpa bondi bondit "
    "gagné gonflé gonfle allongé alourdi triplé "
    "thrive thrives thrived thriving flourish flourished flourishes boom booms boomed prospera prosperó floreció "
    "blüht "
    "blühte florierte prospéra prospère fleurit 兴旺 繁荣 兴盛 红火 走旺 "
    "增加 上升 上涨 提高 增长 增至 升至 涨 升 增 抬高 抬升 调高 上浮 攀升 飙升 走高 回升 提价 涨价 加价 升高 "
    "提升 变贵 增多 递增 激增 猛增 大涨 高涨 看涨 扩招 增产 扩产 上扬 涨到 翻番 翻了一番 "
    "lengthen lengthened lengthens extend extended extends enlarged enlarges deeper wider larger bigger swelled "
    "broadened "
    "alargó alarga alargado alargada amplió ampliado ampliada ampliaron amplía dobló duplicó tiefer breiter größer "
    "erweitert erweiterte erweitern ausgebaut ausgeweitet verdoppelte vertieft häufiger allongée allonge prolongé "
    "prolongée prolonge agrandi agrandie élargi élargie doublé 变多 变大 变长 变深 变高 延长 扩大 扩建 上调 翻倍 加深"
)
DOWN: Final = words(
    "fall falls fell fallen falling decrease decreases decreased decreasing drop drops dropped dropping decline "
    "declines declined declining shrink shrinks shrank shrunk lose lost loses reduce reduced reduces reducing "
    "reduction cut cuts lowered lowers lowering lower plunge plunged plunges downward downwards slump slumped "
    "slumps sink sinks sank sunk plummet plummeted plummets dip dipped dips slid slides slide tumble tumbled tumbles "
    "slashed slashes trimmed trims dwindle dwindles cheaper eased diminish diminished diminishes contracted "
    "contracts "
    "receded recedes crashed collapsed halves descended descends weakened downturn subsided ebbed slowed "
    "baja bajan bajó bajaron bajado bajada bajadas bajar bajará bajarán cae caen cayó cayeron caído caída caídas "
    "caer "
    "disminuye disminuyen disminuyó disminuyeron disminuido disminuir disminución reduce reducen redujo redujeron "
    "reducido reducir reducción perdió perdieron desciende descienden descendió descendieron descenso recortado "
    "recortó recorte recortes recorta rebaja rebajan rebajó rebajado rebajada rebajas abarata abaratan abarató "
    "abaratado abaratar abaratamiento mengua menguó merma mermó decrece decreció retrocede retrocedió retroceso "
    "desploma desplomó desplome encoge encogió aminora cedió "
    "sinkt sinken sank sanken gesunken absinken fällt fielen gefallen geschrumpft schrumpft schrumpfte schrumpfen "
    "abgenommen abnimmt abnehmen abnahm abnahmen abnahme verringert verringerte verringern verringerung verkürzt "
    "gesenkt senkt senkte senken senkung verloren abwärts rückgang zurückgegangen zurückging zurückgehen rückläufig "
    "herabgesetzt reduzierung ermäßigt ermäßigung vermindert verminderte verminderung verbilligt verbilligte "
    "verbilligen gedrosselt abgesenkt absenkung eingebrochen einbruch gestürzt abgestürzt nachgelassen nachlässt "
    "gekappt "
    "diminue diminuent diminué diminuée diminuait diminua diminuer diminution baisse baissent baissé baissée baissa "
    "baisser baisses tombe tombé tombée tomba perdu réduit réduisent réduction réduire recule reculé recul raccourci "
    "chute chuté chutent dégringole dégringolé abaisse abaissé abaissée abaissement rabaissé décroît décru "
    "décroissance fléchit fléchi fondu amputé minoré allégé allégée rétrécit régresse régressé repli plongé "
    "plonge dévisse effondré "
    "wane waned wanes fade faded fades languished decayed decae decayó languidece verfiel verfällt verkümmerte "
    "dépérit "
    "périclite déclin décline déclina declive 衰落 衰退 没落 下坡路 低迷 凋零 冷清 "
    "减少 下降 下跌 降低 减至 降至 跌 降 减 掉 调低 下浮 下滑 滑落 走低 回落 缩水 降价 减价 变便宜 递减 锐减 "
    "骤降 暴跌 大跌 衰减 削减 压缩 缩减 减产 裁减 萎缩 跌到 降到 "
    "shorten shortened shortens curtailed narrowed narrows halved shallower smaller fewer shrinking dwindled lesser "
    "acortó acorta acortado acortada recortada reducida reducidos estrechó kürzt gekürzt verkürzte verkürzen kürzung "
    "kürzte flacher kleiner schmaler verkleinert halbiert halbierte seltener reduziert reduzierte reduzieren "
    "raccourcit raccourcie écourté écourtée rétréci réduite réduits diminués resserré 变少 变小 变短 变浅 变低 "
    "缩短 缩小 下调 减半"
)
PARTICLES: Final = {
    verb: ways
    for ways, verbs in (
        (
            {"up": 1, "upward": 1, "upwards": 1, "down": -1, "downward": -1, "downwards": -1},
            "go goes went gone going come comes came coming move moves moved moving creep creeps crept edge edged "
            "edges tick ticked ticks nudge nudged push pushed pushes put puts shoot shot shoots bring brought",
        ),
        ({"zu": 1, "ab": -1}, "nimmt nahm nehmen nahmen nehme"),
        (
            {
                "zurück": -1,
                "hoch": 1,
                "rauf": 1,
                "hinauf": 1,
                "herauf": 1,
                "runter": -1,
                "herunter": -1,
                "hinunter": -1,
            },
            "geht gehen ging gingen fährt fuhr schraubt schraubte setzt setzte setzen fallen fällt fiel",
        ),
        ({"an": 1, "zu": 1}, "hebt hob heben hoben legt legte legen legten zieht zog ziehen zogen"),
        ({"nach": -1}, "lässt ließ lassen ließen"),
        ({"más": 1, "menos": -1}, "va van iba iban ido fue fueron ir irá irán yendo"),
    )
    for verb in words(verbs)
}
"""Verb -> particles that say with it that something rises (1) or falls (-1): "goes up", "nimmt ab", "va a menos"."""
EXCEEDS: Final = words(
    "exceeds exceed exceeded outnumbers outnumber outnumbered outsells outsold outperforms outperformed "
    "surpasses surpass "
    "surpassed beats beat tops topped outweighs outweighed overtakes overtook eclipses eclipsed outranks "
    "outlasts outlast "
    "supera superan superó superaron aventaja aventajan aventajó sobrepasa rebasa "
    "übertrifft übertreffen übertraf übersteigt übersteigen überstieg überholt überholte überragt "
    "dépasse dépassent dépassé surpasse surpassent devance devancent devancé surclasse excède "
    "超过 高于 多于 大于 胜过 优于 领先 快于 强于 长于 超出"
)
"""Between two things they say that the first one is more."""
TRAILS: Final = words(
    "trails trail trailed lags lagged undercuts undercut underperforms unterbietet unterschreitet 低于 少于 小于 "
    "落后 不如 "
    "不及 比不上 慢于 弱于 短于 逊于"
)
"""The same the other way round."""
NOW: Final = words(
    "now today currently nowadays already meanwhile heute jetzt inzwischen mittlerweile aktuell derzeit bereits "
    "hoy ahora "
    "actualmente ya aujourd désormais maintenant actuellement 现在 目前 如今 现 今"
)
"""What stands beside them is the newer value."""
FORMERLY: Final = words(
    "against versus instead compared previously formerly ago from "
    "frente hace anterior antes contra desde "
    "statt gegenüber gegen vor zuvor vorher früher von "
    "contre auparavant avant précédent précédente "
    "前年 此前 由 从"
)
"""What stands after them is the older value."""
OUTSIDERS: Final = words(
    "customer customers client clients user users guest visitor caller patient tenant passenger buyer member reader "
    "cliente clientes clienta usuario usuaria huésped socio socia paciente lector lectora vecino vecina pasajero "
    "pasajera kunde kundin nutzer nutzerin gast besucher besucherin patientin mieter mieterin leser leserin anrufer "
    "anruferin cliente usager usagère utilisateur utilisatrice patiente locataire lecteur lectrice visiteur "
    "visiteuse "
    "voyageur voyageuse 顾客 客户 用户 乘客 住户 居民 读者 网友 患者 旅客 买家 游客 会员 家长"
)
"""Who asks and complains in a conversation with the house."""
_CONDITIONAL_ENDINGS: Final = (
    *("erait", "eraient", "drait", "draient", "vrait", "vraient", "aurait", "auraient", "rirait", "riraient", "nirait"),
    *(
        "niraient",
        "saurait",
        "verrait",
        "verraient",
        "aría",
        "arían",
        "iría",
        "irían",
        "dría",
        "drían",
        "abría",
        "abrían",
    ),
    *("würde", "würden", "wäre", "wären", "hätte", "hätten"),
)
_NOT_CONDITIONAL: Final = words("maría varía varían secretaría bulgaría rosaría abría abrían navarría")


def is_conditional(word: str) -> bool:
    """True for a verb in the conditional by its ending: "ouvrirait", "soportaría". `word`: in lower case."""
    return word.endswith(_CONDITIONAL_ENDINGS) and word not in _NOT_CONDITIONAL


PHRASES: Final = {
    "except": (
        *("apart from", "aside from", "other than", "but for", "not including", "a excepción"),
        *("aparte de", "fuera de"),
        *(
            "bis auf",
            "nicht jedoch",
            "all but",
            "everyone but",
            "everything but",
            "todos menos",
            "todas menos",
            "mis à part",
            "en dehors de",
        ),
    ),
    "all": (
        *("without exception", "no exception", "no exceptions", "across the board", "at all times"),
        *("in every case",),
        *("sin excepción", "en todo momento", "ohne ausnahme", "rund um die uhr", "sans exception"),
        *("en tout temps",),
        *("both of", "in jedem fall", "dans tous les cas", "en todos los casos", "the lot"),
    ),
    "most": ("as a rule", "por regla general", "por lo general", "a menudo", "in der regel", "en règle générale"),
    "some": (
        *("a few", "a number of", "at times", "now and then", "in some cases", "a veces", "de vez en cuando"),
        *("en algunos casos", "ein paar", "zum teil", "hin und wieder", "in manchen fällen"),
        *("de temps en temps",),
        *("dans certains cas", "un petit nombre"),
    ),
    "only": ("nothing but", "no more than", "none but", "nada más que", "nichts als", "rien que", "no other than"),
    "hedge": (
        *(
            "not yet",
            "so far",
            "in principle",
            "it is thought",
            "subject to",
            "up in the air",
            "on track to",
            "due to be",
        ),
        *("if all goes well", "remains to be seen", "yet to", "still open", "not certain", "not sure"),
        *("no guarantee",),
        *("en principio", "tal vez", "a lo mejor", "al parecer", "por ahora", "de momento", "aún no"),
        *("todavía no",),
        *("está por ver", "está previsto", "si todo va bien", "no es seguro", "sin confirmar", "a falta de"),
        *("im prinzip", "aller voraussicht nach", "nach derzeitigem stand", "noch nicht", "noch offen"),
        *("nicht sicher",),
        *("unter vorbehalt", "wenn alles klappt", "steht noch nicht fest", "soll im"),
        *(
            "en principe",
            "sans doute",
            "il se peut",
            "peut être",
            "pas encore",
            "à ce stade",
            "sous réserve",
            "à confirmer",
        ),
        *("à priori", "a priori", "si tout va bien", "pas certain", "pas sûr", "il semblerait", "en cours d"),
    ),
    "certain": (
        *("without doubt", "no doubt", "beyond doubt", "for certain", "for sure", "bound to"),
        *("on any account",),
        *("sin duda", "por supuesto", "con toda seguridad", "sin falta", "con certeza", "es seguro que"),
        *("steht fest", "ohne zweifel", "auf jeden fall", "mit sicherheit", "ganz gewiss", "auf alle fälle"),
        *("sans aucun doute", "à coup sûr", "bien sûr", "sans faute", "pour de bon", "en tout cas"),
    ),
    "condition": (
        *("subject to", "as long as", "on condition", "so long as", "in the event", "only if", "only when"),
        *("siempre que", "siempre y cuando", "a condición", "en caso de", "a menos que", "con tal de"),
        *("a reserva",),
        *("es sei denn", "unter der bedingung", "im falle", "nur wenn", "unter vorbehalt"),
        *("vorbehaltlich der",),
        *("à condition", "sous réserve", "à moins", "en cas de", "à défaut de", "au cas où"),
    ),
    "unconditional": (
        *("no matter", "in any case", "in any event", "under all circumstances", "come what may"),
        *("whether or not",),
        *("as well", "sea cual", "en cualquier caso", "de todos modos", "pase lo que pase"),
        *("sin condiciones",),
        *("in jedem fall", "auf jeden fall", "ganz gleich", "so oder so", "ohne weiteres"),
        *("unter allen umständen",),
        *("quoi qu", "dans tous les cas", "de toute façon", "en tout état de cause", "peu importe"),
        *("sans condition",),
    ),
    "reported": (
        "is said to",
        "are said to",
        "word has it",
        "se dice",
        "al parecer",
        "nach angaben",
        "on dit",
        "on lit",
        "aurait dit",
        "a dit",
    ),
}
"""The same in several words, in lower case."""
