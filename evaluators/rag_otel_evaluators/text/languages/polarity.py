"""Words that decide how far, how surely, when and in which direction something holds, in five languages."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

ALL: Final = words(
    "all every everyone everybody everything each always entire entirely whole any anyone anybody completely fully "
    "exclusively invariably without lifetime life forever unlimited indefinitely permanently "
    "vida ilimitado ilimitada indefinidamente lebenslang unbegrenzt unbefristet dauerhaft vie illimité illimitée "
    "终身 永久 无限 "
    "todo todos toda todas cada siempre completamente totalmente cualquier cualquiera "
    "alle allen aller alles jeder jede jedes jeden jedem immer stets sämtliche gesamte ganze völlig vollständig "
    "tous tout toute toutes chaque toujours entièrement totalement n'importe "
    "所有 全部 每个 每次 每一 总是 一律 全都 任何 都 始终 完全 一概 人人 全体"
)
UNLIMITED: Final = words(
    "lifetime lifelong forever unlimited unlimitedly indefinitely permanently perpetually eternally vitalicio "
    "vitalicia ilimitado ilimitada indefinidamente lebenslang lebenslange unbegrenzt unbefristet dauerhaft illimité "
    "illimitée indéfiniment 终身 终生 永久 永远 无限期"
)
"""Say that something never ends."""
MOST: Final = words(
    "most mostly majority mainly usually generally typically largely nearly almost often normally predominantly "
    "mayoría mayor mayormente casi suele suelen normalmente generalmente habitualmente principalmente "
    "meisten meist meistens mehrheit überwiegend fast hauptsächlich gewöhnlich normalerweise größtenteils "
    "plupart majorité généralement habituellement presque surtout principalement souvent "
    "大多数 大多 多数 多半 大部分 通常 一般 几乎 主要 往往"
)
SOME: Final = words(
    "some several few sometimes occasionally part partly minority rarely seldom certain half couple "
    "algunos algunas alguno alguna varios varias pocos pocas parte veces raramente minoría mitad "
    "einige einigen manche manchmal wenige wenigen teilweise selten teil minderheit hälfte mehrere "
    "certains certaines quelques parfois peu plusieurs rarement partie minorité moitié "
    "有些 一些 部分 少数 有时 偶尔 很少 个别 几个 极少 若干"
)
ONLY: Final = words(
    "only solely just exclusively alone merely sole except "
    "solo sólo solamente únicamente exclusivamente único única "
    "nur lediglich ausschließlich allein bloß einzig "
    "seulement uniquement exclusivement seul seule seuls ne...que "
    "只 仅 只有 唯一 仅仅 唯有"
)
NONE: Final = words(
    "no none never nobody nothing neither nor nowhere not cannot without "
    "ninguno ninguna ningún nunca jamás nadie nada tampoco no sin "
    "kein keine keinen keiner keinem keines nie niemals niemand nichts nicht ohne "
    "aucun aucune jamais personne rien pas ne n sans "
    "没有 从不 从未 不 没 无 未 禁止 不得 不能 不会 非 勿"
)
"""Denies. The plain "ne", "no", "不" too: whether a claim denies is compared with whether its evidence does."""
PRIVATIVE: Final = words(
    "closed shut forbidden banned prohibited excluded excludes exclude except unable fail fails failed lack lacks "
    "lacked missing refuse refused refuses reject rejected rejects deny denied denies impossible unavailable empty "
    "stopped stops cancelled canceled ended unsafe unsuitable unsuited uncovered uninsured unnecessary unfit out-of "
    "unlikely invalid void expired exempt illegal unlawful inaccessible "
    "avoid avoids prevent prevents dropped drops discontinued withdrawn broken "
    "cerrado cerrada cerrados cerradas cerró prohibido prohibida excluido excluida excluidos excluye excluyen salvo "
    "excepto menos imposible carece carecen falta faltan rechazó rechaza rechazado niega negó vacío vacía vacíos "
    "evita evitar impide cancelado cancelada suspendido suspendida dejó descartó exento innecesario desaconseja "
    "geschlossen verboten untersagt ausgeschlossen ausgenommen unmöglich fehlt fehlen abgelehnt lehnt leer "
    "verweigert verhindert gestrichen abgesagt eingestellt gesperrt zu ungeeignet unzulässig ungültig unversichert "
    "unnötig vermeiden vermeidet befreit außer "
    "fermé fermée fermés fermées interdit interdite interdits exclu exclue exclus excluent exclut sauf hormis "
    "impossible manque refuse refusé refusée rejette rejeté vide vidé vides évite éviter empêche annulé annulée "
    "supprimé suspendu inutile exempté inaccessible cesse cessé "
    "关闭 关门 闭馆 停业 停 禁止 除外 除非 拒绝 缺 缺少 无法 失败 取消 不得 作废 失效 避免 防止 停止 免"
)
"""Words that deny without a negation, whatever their verb is."""
PAST: Final = words(
    "formerly previously originally initially once earlier früher damals einst ursprünglich bisher zuvor ehemals "
    "anteriormente antes inicialmente originalmente antiguamente antaño autrefois auparavant jadis initialement "
    "以前 原来 原先 过去 曾经 此前 起初 最初 曾"
)
"""What was so, and may not be so any more."""
HEDGES: Final = words(
    "may might could can possibly perhaps maybe probably likely possible suggest suggests suggested appear appears "
    "seem seems expected believed thought reportedly about approximately around estimated potentially tends tend "
    "considering consider considers plans planned hopes proposed proposes believes thinks "
    "puede pueden podría podrían quizá quizás probablemente posiblemente parece parecen estima cree creen considera "
    "posible probable tal acaso sugiere sugieren plantea prevé aproximadamente "
    "kann können könnte könnten möglicherweise vielleicht womöglich wahrscheinlich vermutlich scheint scheinen wohl "
    "dürfte eventuell glaubt meint hält erwägt möglich etwa ungefähr "
    "peut peuvent pourrait pourraient probablement semble semblent possible sans doute éventuellement croit estime "
    "envisage environ susceptible suggère suggèrent "
    "可能 也许 或许 大概 似乎 估计 据说 有望 或将 或 认为 预计 考虑 恐怕 说不定 有可能 很可能"
)
CERTAIN: Final = words(
    "certainly definitely surely always must guaranteed guarantees proven proves undoubtedly doubt sure inevitably "
    "will never every invariably confirmed established certain without "
    "seguro ciertamente garantiza garantizado demostrado sin duda siempre debe necesita necesariamente confirmado "
    "sicher gewiss garantiert bewiesen zweifellos immer muss müssen jedes jedesmal bestimmt steht fest "
    "certainement sûrement garanti garantit prouvé assurément toujours doit forcément chaque confirmé "
    "一定 必然 肯定 必定 必须 绝对 保证 已确定 证明 每次 总会 总是 无疑 注定"
)
CONDITIONS: Final = words(
    "if unless when provided except until only while after before without during once because in case otherwise "
    "si salvo excepto cuando siempre solo mientras sin hasta con "
    "wenn falls sofern außer nur bis solange ohne bei während sobald ausgenommen "
    "sauf si lorsque quand sans seulement condition jusqu pendant hormis dès "
    "如果 除非 除外 只有 若 时 须 凭 除了 只要 情况下 期间 例外 未满 满"
)
UNCONDITIONAL: Final = words(
    "regardless even whatever whenever anyway always any also matter case "
    "incluso aunque siempre cualquier también aun igual independientemente "
    "auch selbst egal immer unabhängig jederzeit trotzdem jedenfalls "
    "même toujours aussi quel quelle n'importe indépendamment "
    "即使 哪怕 无论 不论 不管 任何 照样 也 都 随时 一律"
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
    "posted wrote asked claims claimed asks forum commenter reader neighbour neighbor letter says said review comment "
    "rumour rumor "
    "escribió preguntó pregunta foro vecino vecina lector comenta rumor asegura "
    "schrieb fragt fragte forum leser nachbar kommentar gerücht behauptet "
    "écrit demande demanda forum lecteur lectrice voisin voisine commentaire rumeur affirme "
    "网友 来信 问 发问 论坛 邻居 读者 写道 传言 据称 有人说 顾客 常说 听说 据说 声称 会员 "
    "rumoured rumored allegedly supposedly myth legend complains complained complaint convinced bets swears "
    "argued argues told guest customer visitor user buyer "
    "dice dicen decirse queja quejó rumorea supuestamente mito usuario cliente convencida convencido opina "
    "heißt angeblich soll sollen gast kunde nutzer besucher beschwert überzeugt sagt sagte meint gesagt "
    "dit lit prétend prétendent prétendument habitué cliente convaincu convaincue jure plaint raconte légende"
)
"""Somebody else speaks: what a reader or a forum says, the document does not."""
SUMMED: Final = words(
    "together total altogether overall combined sum joint jointly both juntos juntas tout total suma suman sumadas "
    "sumados ambos ambas conjunto zusammen insgesamt gesamt summe ensemble somme 一共 总共 合计 总计 加起来 共有 总数"
)
"""Ask for a sum."""
DIFFERING: Final = words(
    "more fewer less difference lost lose gone save saves saved saving gap margin majority remain remaining left cut "
    "rise grew fell dropped extra "
    "más menos diferencia ahorra ahorran ahorro queda quedan perdieron perdió resta restan sobra gana ganan bajó subió "
    "mehr weniger unterschied differenz spart gespart übrig verloren verlor rest "
    "plus moins différence écart reste restent économise économie gagne gagné perdu "
    "多 少 差 相差 省 剩 还剩 减少 增加"
)
"""Ask for a difference."""
GREATER: Final = words(
    "more longer heavier larger bigger higher taller older slower wider deeper later greater dearer costlier thicker "
    "farther further hotter warmer "
    "más mayor mayores superior pesado largo larga alto "
    "mehr länger schwerer größer höher älter langsamer breiter tiefer später teurer weiter wärmer stärker "
    "plus davantage supérieur supérieure mieux "
    "更 多 长 重 大 高 久 慢 晚 贵 远 后"
)
SMALLER: Final = words(
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
        "money": "cheaper dearer costlier expensive costs pays cost pay paid caro cara barato cuesta paga pagó teurer "
        "billiger günstiger kostet zahlt cher coûte paie payé 贵 便宜 花 付",
    }.items()
    for word in words(listed)
}
"""Word of a comparison -> what it measures."""

UP: Final = words(
    "rise rises rose risen rising increase increases increased increasing grow grows grew grown growing climb climbs "
    "climbed gain gained gains raise raised raises jumped soared widened expanded up upward upwards "
    "sube suben subió subieron subido subir aumenta aumentan aumentó aumentaron aumentado aumentar crece crecen creció "
    "crecieron crecido crecer ganó incrementó "
    "steigt steigen stieg stiegen gestiegen wächst wuchs wuchsen gewachsen zugenommen erhöht erhöhte nimmt zunahm "
    "vergrößert verlängert aufwärts nach-oben "
    "augmente augmentent augmenté augmentait monte montent monté croît crû grandi progressé hausse gagné allongé "
    "增加 上升 上涨 提高 增长 增至 升至 涨 升 增 "
    "lengthen lengthened extend extended extends enlarged deeper wider larger bigger doubled tripled swelled "
    "alargó alargado alargada amplió ampliado ampliada amplía dobló duplicó verlängert verlängerte verlängern tiefer "
    "breiter größer erweitert ausgebaut verdoppelt vertieft häufiger allongé allongée prolongé prolongée agrandi "
    "élargi doublé 变多 变大 变长 变深 变高 延长 扩大 上调 翻倍 加深"
)
DOWN: Final = words(
    "fall falls fell fallen falling decrease decreases decreased decreasing drop drops dropped "
    "decline declines declined "
    "shrink shrinks shrank shrunk lose lost loses reduce reduced reduces cut lowered plunged down downward downwards "
    "baja bajan bajó bajaron bajado bajar cae caen cayó cayeron caído disminuye disminuyen disminuyó disminuyeron "
    "disminuir reduce reducen redujo redujeron reducido perdió perdieron descendió recortado recortó "
    "sinkt sinken sank sanken gesunken fällt fiel fielen gefallen geschrumpft schrumpft abgenommen verringert "
    "verringerte verkürzt gesenkt senkt verloren abwärts "
    "diminue diminuent diminué diminuait baisse baissent baissé tombe tombé perdu réduit recule reculé raccourci chuté "
    "减少 下降 下跌 降低 减至 降至 跌 降 减 掉 "
    "shorten shortened shortens curtailed narrowed halved shallower smaller fewer shrinking dwindled lesser "
    "acortó acortado acortada recortó recortada reducida estrechó kürzt gekürzt verkürzte verkürzen flacher kleiner "
    "schmaler halbiert seltener reduziert reduzierte raccourci raccourcie écourté rétréci réduite diminuée "
    "变少 变小 变短 变浅 变低 缩短 缩小 下调 减半"
)
FORMERLY: Final = words(
    "against versus instead compared previously formerly ago from "
    "frente hace anterior antes contra desde "
    "statt gegenüber gegen vor zuvor vorher früher von "
    "contre auparavant avant précédent précédente "
    "前年 此前 由 从"
)
"""What stands after them is the older value."""
