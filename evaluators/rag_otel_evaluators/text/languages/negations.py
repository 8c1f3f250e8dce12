"""Words that deny, and words that say the opposite of each other."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.polarity import DOWN, UP

NEGATIONS: Final = words(
    "not no never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't "
    "weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't mustn't needn't ain't nunca ningún ninguna "
    "ninguno "
    "nadie jamás nada tampoco nicht kein keine keinen keiner keinem keines nie niemals niemand niemandem nichts "
    "keineswegs keinesfalls weder ohne pas jamais aucun aucune rien sans "
    "لا ليس ليست لم لن नहीं 不是 不能 不会 不會 不在 不可 没有 沒有 并非 並非 从未 從未 未能 ない せん"
)

NEVER: Final = words("never nunca jamás nie niemals jamais 从不 从未")
"""Deny at all times."""

LIMITING_WORDS: Final = words(
    # After a negation they limit or stress what is said and do not deny it: "no more than 20", "not only".
    "more less fewer later earlier longer only just necessarily least sólo solo más mas menos mehr weniger nur "
    "plus moins seulement all every alle jeder todos todas tous toutes necesariamente unbedingt nécessairement"
)

HARMLESS_CHINESE: Final = words(
    # Words with a character that denies elsewhere.
    "非常 不过 不仅 不但 不只 不止 不光 不单 不同 不少 不断 不论 不管 无论 未来 不久 无线 无人机 不锈钢 差不多 "
    "不得不 不错 "
    "不然 不妨 不好意思 不超过 不多于 不少于 不低于 不高于 不小于 不大于 不晚于 不早于 不迟于 不到 不足 未满 "
    "不满 不限 无限 不时 "
    "无比 无疑 莫非 莫过于 不由得 毫无疑问 别的 特别 分别 性别 区别 级别 类别 个别 别人 别墅 告别 辨别 识别 差别 "
    "派别 别名 "
    "停车 停留 停靠 停泊 停车场 免费 缺点 缺陷 忌日 禁忌 日益 无不 离不开 少不了 免不了 不可避免 不含税 不禁 "
    "不料 不外乎 "
    "不起眼 了不起 对不起 非洲 是非 并非不 无障碍 无花果 不二 不定期 不动产 没问题 没关系 要不 岂不"
)
"""The character is no denial there."""

WITHOUT_OPPOSITE: Final = words(
    # Words with a character that has an opposite elsewhere.
    "出租 租出 进行 改进 先进 出现 出版 出生 出发 出席 出差 出示 出色 出口 支出 提出 指出 得出 "
    "作出 做出 发出 付出 输出 捞出 取出 进来 放进 少许 少量 少年 至少 最少 多少 大多 大多数 "
    "大部分 大量 大约 大概 大家 大学 大学生 大小 大厅 大门 大衣 巨大 重大 扩大 小时 小学 中小 "
    "小组 小区 小心 小麦 小吃 小说 小姐 多个 多种 多次 多数 许多 很多 差不多 多样 上午 上述 "
    "上市 上班 上课 上学 上网 上海 以上 晚上 早上 网上 线上 身上 路上 马上 加上 之上 基本上 "
    "下午 下班 下课 下列 下载 下面 以下 余下 剩下 留下 地下 楼下 如下 之下 下一 上一 内容 内存 "
    "内部 外部 外语 外卖 外套 另外 此外 除外 意外 例外 国内 国外 室内 室外 以内 以外 之内 之外 "
    "新闻 重新 更新 最新 创新 老板 古老 旧址 重要 重点 重复 严重 重视 重庆 轻松 年轻 高速 高级 "
    "高中 高校 高铁 提高 高度 高峰 降低 低温 高温 最低 最高 长度 长期 长大 成长 校长 市长 部长 "
    "院长 局长 增长 擅长 延长 队长 家长 经理 短信 短期 缩短 快递 快餐 尽快 赶快 愉快 缓慢 慢性 "
    "早餐 早饭 早点 晚餐 晚饭 晚会 傍晚 先生 首先 原先 事先 预先 优先 后台 后来 然后 最后 之后 "
    "以后 前后 左右 后果 好处 好像 最好 正好 友好 爱好 良好 好吃 差别 差异 出差 误差 时差 强调 "
    "加强 勉强 强制 削弱 薄弱 热情 热线 加热 热量 冷静 冷藏 冷冻 空调 买单 购买 买卖 东西 东方 "
    "西方 西红柿 西瓜 西安 西藏 东京 南京 北京 山东 山西 广东 广西 河南 河北 湖南 湖北 海南 "
    "云南 东北 西北 东南 西南 台北"
)
"""The character says nothing there that another word could turn round."""

NEGATING_WORDS: Final = words(
    # Words that negate without a negation: a paraphrase may use one for the other.
    "unable avoid avoids avoiding prevent prevents preventing fail fails failed failing lack lacks lacking refuse "
    "refuses refused stop stops impossible unlikely unlike instead except rather hardly rarely seldom barely "
    "few little keep evitar evita impedir falta imposible vermeiden verhindern fehlt unmöglich "
    "éviter empêcher manque"
)
"""Beside `NEGATIONS`."""


def _opposites(listed: str) -> dict[str, frozenset[str]]:
    """ "a/b c/d,e" -> each word with those on the other side of its stroke."""
    found: dict[str, frozenset[str]] = {}
    for pair in listed.split():
        left, right = (frozenset(side.split(",")) for side in pair.split("/"))
        for side, other in ((left, right), (right, left)):
            for word in side:
                known = found.get(word)  # most words have one pair, and share its set: copies would take megabytes
                found[word] = other if known is None else known | other
    return found


ANTONYMS: Final = _opposites(
    f"{','.join(sorted(UP))}/{','.join(sorted(DOWN))} "
    "high/low higher/lower highest/lowest large,big/small larger,bigger/smaller largest,biggest/smallest "
    "hot/cold hotter,warmer/colder,cooler increase,raise/decrease,reduce,lower "
    "increases,raises/decreases,reduces,lowers "
    "increased,raised/decreased,reduced increasing/decreasing,reducing "
    "before/after above/below more/less,fewer maximum/minimum longer/shorter "
    "long/short fast,quick/slow faster/slower early/late earlier/later  "
    "always/never open/closed true/false legal/illegal safe/unsafe,dangerous "
    "allowed,permitted/forbidden,prohibited,banned accept/reject accepts/rejects accepted/rejected approved/rejected "
    "included/excluded includes/excludes north/south northern/southern east/west eastern/western "
    "inside/outside indoors/outdoors public/private "
    "old/young,new older/younger,newer oldest/youngest,newest rich/poor strong/weak stronger/weaker hard/soft "
    "easy/difficult cheap/expensive cheaper/costlier light/dark wet/dry "
    "male/female men/women man/woman husband/wife son/daughter father/mother brother/sister king/queen "
    "won/lost win/lose wins/loses buy/sell bought/sold born/died alive/dead success/failure succeeded/failed "
    "rise,grow/fall,shrink rises,grows/falls,shrinks rose,grew/fell,shrank growth/decline grown/fallen "
    "add/remove adds/removes added/removed gain/loss profit/loss acid/alkaline positive/negative healthy/unhealthy "
    "possible/impossible common/rare internal/external domestic/foreign summer/winter morning/evening "
    "employer/employee buyer/seller import/export "
    "alto/bajo grande/pequeño antes/después siempre/nunca abierto/cerrado "
    "hoch/niedrig groß/klein immer/nie offen,geöffnet/geschlossen größer/kleiner "
    "haut/bas grand/petit avant/après toujours/jamais ouvert/fermé "
    "first/last up/down top/bottom left/right warm/cool heavy/light heavier/lighter wide/narrow deep/shallow "
    "arrive,arrives/depart,departs,leave enter/exit appear/disappear begin,begins,start,starts/end,ends "
    "begins/finishes "
    "raises/lowers worsen,worsens/improve,improves worse/better worst/best improved/worsened free/paid "
    "support,supports,supported/oppose,opposes,opposed for,favour,favor/against tight,tighter/loose,looser "
    "upwards,upward/downwards,downward gently,slowly,slow/quickly,fast,jerk weak,weaker/strong,stronger with/without "
    "expanded/narrowed extended/shortened advanced/postponed,delayed brought/postponed thick/thin full/empty "
    "forward/backward ahead/behind front/back begin,began/end,ended borrow,borrowed/lend,lent teach/learn "
    "alta,alto,altísima/leve,baja,bajo fuerte/débil,leve lleno/vacío "
    "adelanta,adelantó/retrasa,retrasó antes/después,tarde "
    "con/sin favor/contra mit/ohne dafür/dagegen stark,stärker/schwach,schwächer,verringern voll/leer "
    "vorgezogen/verschoben,verschob avec/sans pour/contre fort/faible plein/vide avancé/reporté,retardé "
    "open,opens,opened/closed,closes,shut,shuts "
    "abre,abren,abierto,abierta,abiertos/cierra,cierran,cerrado,cerrada,cerrados "
    "öffnet,geöffnet,offen/schließt,geschlossen "
    "ouvre,ouvrent,ouvert,ouverte,ouverts/ferme,ferment,fermé,fermée,fermés "
    "frequent,frequently,common,often,usual/rare,rarely,seldom,uncommon,unusual "
    "frecuente,frecuentes,común,habitual/raro,rara,raros,raras häufig,oft/selten "
    "fréquent,fréquente,souvent/rare,rares "
    "except,excluding/including,also,even salvo,excepto/también,incluso,aunque außer,ausgenommen/auch,selbst,sogar "
    "sauf,excepté,hormis/aussi,même,également,compris 除外,例外/包括,照样 常见,经常/罕见,少见 "
    "over,above,exceeding,exceeds,more/under,below,less "
    "superior,superiores,más,encima/inferior,inferiores,menos,debajo "
    "über,oberhalb/unter,unterhalb "
    "supérieur,supérieure,plus/inférieur,inférieure,moins 以上,超过/以下,不到,未满 "
    "must,required,mandatory,compulsory,needs/optional,voluntary,needn't "
    "stay,stays,stayed,remain,remains,kept/removed,gone "
    "sigue,siguen,queda/retira,retiró,desaparecido bleibt,bleiben/verlässt,verließ,entfernt "
    "known,certain,settled/unknown,uncertain sicher,sichere/unsicher,ungewiss lend,lends/borrow,borrows "
    "支持/反对 提前/推迟 强/弱 快/慢 满/空 "
    "minimum/maximum upper/lower upstream/downstream optional/mandatory,required voluntary/compulsory same/different "
    "allow/forbid,prohibit allows/forbids,prohibits raised/lowered dropped,fell/rose,climbed down/up "
    "más/menos mayor/menor mejor/peor subir,aumentar/bajar,disminuir,reducir sube,aumenta/baja,disminuye,reduce "
    "subió,aumentó/bajó,disminuyó,redujo aumento/descenso,reducción,bajada alta/baja altos/bajos largo/corto "
    "larga/corta "
    "rápido/lento nuevo/viejo caliente/fría,frío caliente/frío primero/último primera/última dentro/fuera "
    "arriba/abajo norte/sur este/oeste ganó/perdió compró/vendió permitido/prohibido incluye/excluye "
    "obligatorio/opcional "
    "obligatoria/opcional,voluntaria abierta/cerrada máximo/mínimo público/privado caro/barato fácil/difícil "
    "temprano/tarde "
    "gratis,gratuito/pago positivo/negativo izquierda/derecha "
    "mehr/weniger höher/niedriger besser/schlechter stärker/schwächer länger/kürzer schneller/langsamer älter/jünger "
    "schwerer/leichter teurer/billiger,günstiger früher/später vor/nach vorher/nachher steigt/sinkt,fällt "
    "stieg/sank,fiel "
    "gestiegen/gesunken,gefallen erhöht/gesenkt,verringert erhöhen/senken,verringern zunahme/abnahme "
    "zugenommen/abgenommen "
    "warm/kalt heiß/kalt warmem/kaltem neu/alt lang/kurz schnell/langsam erste/letzte erster/letzter innen/außen "
    "oben/unten nord/süd gewann/verlor kaufte/verkaufte erlaubt/verboten enthalten/ausgenommen maximal/mindestens "
    "höchstens/mindestens öffentlich/privat leicht/schwer freiwillig/verpflichtend,pflicht links/rechts "
    "verbessert/verschlechtert größer/kleiner "
    "plus/moins meilleur/pire mieux/pire supérieur/inférieur monter,augmenter/baisser,diminuer,réduire "
    "augmente,monte/baisse,diminue,réduit augmenté/baissé,diminué,réduit hausse/baisse chaud/froid chaude/froide "
    "premier/dernier première/dernière long/court longue/courte rapide/lent nouveau/ancien dedans/dehors "
    "nord/sud est/ouest "
    "gagné/perdu acheté/vendu autorisé/interdit inclus/exclu obligatoire/facultatif maximum/minimum public/privé "
    "cher/bon "
    "facile/difficile tôt/tard gauche/droite gratuit/payant lourd/léger fort/faible "
    "增加,上升,上涨,提高,增长/减少,下降,下跌,降低,减 多/少 高/低 大/小 长/短 快/慢 早/晚 之前,以前/之后,以后 "
    "先/后 开放,开门,开馆/关闭,关门,闭馆 "
    "允许,可以/禁止,不得 最高,最大,最多/最低,最小,最少 热/冷 新/旧 重/轻 好/差 强/弱 买/卖 收购/出售 进/出 上/下 "
    "左/右 东/西 南/北 "
    "必须/自愿 免费/收费 第一/最后 内/外"
)
"""word -> words that say the opposite: a claim with one where its evidence has the other says otherwise."""
