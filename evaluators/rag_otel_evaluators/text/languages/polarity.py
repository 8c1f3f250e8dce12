"""Words that decide how far, how surely, when and in which direction something holds, in five languages."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

ALL: Final = words(
    "all every everyone everybody everything each always entire entirely whole any anyone anybody completely fully "
    "exclusively invariably without "
    "todo todos toda todas cada siempre completamente totalmente cualquier cualquiera "
    "alle allen aller alles jeder jede jedes jeden jedem immer stets sämtliche gesamte ganze völlig vollständig "
    "tous tout toute toutes chaque toujours entièrement totalement n'importe "
    "所有 全部 每个 每次 每一 总是 一律 全都 任何 都 始终 完全 一概 人人 全体"
)
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
BEFORE: Final = words("before earlier prior until first antes previo vor bevor ehe zuvor vorher avant 之前 以前 先 前")
AFTER: Final = words(
    "after later once then following since después luego tras nach nachdem danach dann après puis ensuite 之后 "
    "以后 后 再"
)
PASSIVES: Final = words(
    "by por von durch par vom 被 由 was were wurde wurden fue fueron est sont été worden werden wird ser sido"
)
REPORTED: Final = words(
    "posted wrote asked claims claimed asks forum commenter reader neighbour neighbor letter says said review comment "
    "rumour rumor "
    "escribió preguntó pregunta foro vecino vecina lector comenta rumor asegura "
    "schrieb fragt fragte forum leser nachbar kommentar gerücht behauptet "
    "écrit demande demanda forum lecteur lectrice voisin voisine commentaire rumeur affirme "
    "网友 来信 问 发问 论坛 邻居 读者 写道 传言 据称 有人说 顾客"
)
"""Somebody else speaks: what a reader or a forum says, the document does not."""
