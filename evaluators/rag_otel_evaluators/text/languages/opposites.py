"""Words that deny, and words that say the opposite of each other."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

NEGATIONS: Final = words(
    "not no never none nobody nothing neither nor without cannot "  # terms read "n't" as "not"
    "nunca ningún ninguna ninguno nadie jamás nada tampoco "
    "nicht kein keine keinen keiner keinem keines nie niemals niemand nichts ohne "
    "pas jamais aucun aucune rien sans "
    "لا ليس ليست لم لن नहीं 不是 不能 不会 不會 不在 不可 不得 没有 沒有 并非 並非 从未 從未 未能 ない せん"
)

LIMITING_WORDS: Final = words(
    # After a negation they limit or stress what is said and do not deny it: "no more than 20", "not only".
    "more less fewer later earlier longer only just necessarily least all every always sólo solo más mas menos siempre "
    "todos todas mehr weniger nur alle immer plus moins seulement tous toutes toujours"
)

NEGATING_WORDS: Final = words(
    # Words that negate without a negation: a paraphrase may use one for the other.
    "unable avoid avoids avoiding prevent prevents preventing fail fails failed failing lack lacks lacking refuse "
    "refuses refused stop stops impossible unlikely unlike instead except rather hardly rarely seldom barely few "
    "little keep free only evitar evita impedir falta imposible prohibido salvo excepto sólo solo nur seulement "
    "vermeiden verhindern fehlt unmöglich verboten außer éviter empêcher manque interdit sauf"
)
"""Beside `NEGATIONS`."""


def _opposites(listed: str) -> dict[str, frozenset[str]]:
    """ "a/b c/d,e" -> each word with those on the other side of its stroke."""
    found: dict[str, frozenset[str]] = {}
    for pair in listed.split():
        left, right = (frozenset(side.split(",")) for side in pair.split("/"))
        for side, other in ((left, right), (right, left)):
            for word in side:
                found[word] = found.get(word, frozenset()) | other
    return found


OPPOSITES: Final = _opposites(
    "high/low higher/lower highest/lowest large,big/small larger,bigger/smaller largest,biggest/smallest "
    "hot/cold hotter,warmer/colder,cooler increase,raise,rise,grow/decrease,reduce,lower,fall,drop,shrink,decline "
    "increases,raises,rises,grows/decreases,reduces,lowers,falls,drops,shrinks "
    "increased,raised,rose,grew,climbed/decreased,reduced,lowered,fell,dropped,shrank,declined "
    "increasing,rising,growing/decreasing,falling,declining growth/decline improved,improves/worsened,worsens "
    "better/worse best/worst before/after above/below maximum/minimum more/less,fewer most/least longer/shorter "
    "long/short faster/slower fast,quick/slow early/late earlier/later always/never open,opens,opened/closed,closes "
    "true/false legal/illegal safe/unsafe,dangerous allowed,permitted/forbidden,prohibited,banned "
    "accept,accepts,accepted,approved/reject,rejects,rejected included,includes/excluded,excludes north/south "
    "northern/southern east/west eastern/western inside/outside indoors/outdoors public/private old/young,new "
    "older/younger,newer oldest/youngest,newest rich/poor strong/weak stronger/weaker hard,difficult/easy "
    "cheap,cheaper/expensive,dearer light/dark,heavy wet/dry male/female men/women man/woman husband/wife son/daughter "
    "father/mother brother/sister won,win,wins/lost,lose,loses bought,buy,buys/sold,sell,sells born/died alive/dead "
    "success/failure succeeded/failed add,adds,added/remove,removes,removed gain,profit/loss acid/alkaline "
    "positive/negative healthy/unhealthy possible/impossible common,frequent/rare,uncommon internal/external "
    "domestic/foreign summer/winter morning/evening employer/employee buyer/seller import,imports/export,exports "
    "first/last top/bottom left/right wide/narrow deep/shallow thick/thin full/empty support,supports,supported/oppose,"
    "opposes,opposed mandatory,required,compulsory/optional,voluntary extended/shortened advanced/postponed,delayed "
    "front/back begin,begins,began,start,starts/end,ends,ended,finishes free/paid known/unknown same/different "
    "alto,alta,altos,altas/bajo,baja,bajos,bajas grande/pequeño,pequeña antes/después siempre/nunca "
    "abierto,abierta,abre,abren/cerrado,cerrada,cierra,cierran más/menos mayor/menor mejor/peor máximo/mínimo "
    "sube,subió,aumenta,aumentó,subir,aumentar,aumento/baja,bajó,disminuye,disminuyó,redujo,reduce,reducir,descenso "
    "largo,larga/corto,corta rápido/lento nuevo,nueva/viejo,antiguo caliente/frío,fría primero,primera/último,última "
    "dentro/fuera arriba/abajo norte/sur este/oeste ganó/perdió compró/vendió permitido,permite/prohibido,prohíbe "
    "incluye,incluido,incluida/excluye,excluido,excluida obligatorio,obligatoria/opcional,voluntario,voluntaria "
    "público/privado caro/barato fácil/difícil temprano/tarde positivo/negativo izquierda/derecha lleno/vacío con/sin "
    "hoch,hohe/niedrig,niedrige höher/niedriger groß,große/klein,kleine größer/kleiner immer/nie mehr/weniger "
    "offen,geöffnet,öffnet/geschlossen,schließt besser/schlechter stärker/schwächer stark/schwach länger/kürzer "
    "lang,lange/kurz,kurze schneller/langsamer schnell/langsam älter/jünger schwerer/leichter teurer/günstiger "
    "früher/später vorher/nachher steigt,stieg,gestiegen,erhöht/sinkt,fällt,sank,fiel,gesunken,gesenkt,verringert "
    "warm,heiß/kalt neu,neue/alt,alte erste,erster/letzte,letzter innen/außen oben/unten gewann/verlor "
    "kaufte/verkaufte erlaubt,dürfen/verboten enthalten,inbegriffen/ausgenommen maximal,höchstens/mindestens "
    "öffentlich/privat freiwillig/verpflichtend,pflicht links/rechts verbessert/verschlechtert voll/leer mit/ohne "
    "vorgezogen/verschoben,verschob häufig,oft/selten "
    "haut,haute/bas,basse grand,grande/petit,petite avant/après toujours/jamais plus/moins meilleur,mieux/pire "
    "ouvert,ouverte,ouvre,ouvrent/fermé,fermée,ferme,ferment supérieur,supérieure/inférieur,inférieure "
    "augmente,monte,augmenté,augmenter,hausse/baisse,diminue,réduit,baissé,diminué,baisser,diminuer "
    "chaud,chaude/froid,froide premier,première/dernier,dernière long,longue/court,courte rapide/lent "
    "nouveau,nouvelle/ancien,ancienne dedans/dehors nord/sud est/ouest gagné/perdu acheté/vendu "
    "autorisé,autorisés,permis/interdit,interdits inclus,comprise,compris/exclu,exclus obligatoire/facultatif,"
    "facultative public/privé facile/difficile tôt/tard gauche/droite gratuit,gratuite/payant,payante lourd/léger "
    "fort/faible plein/vide avancé/reporté,retardé avec/sans fréquent,souvent/rare "
    "增加,上升,上涨,提高,增长/减少,下降,下跌,降低 之前,以前/之后,以后 开放,开门,开馆/关闭,关门,闭馆 允许,可以/禁止 "
    "最高,最大,最多/最低,最小,最少 收购/出售 必须/自愿 免费/收费 支持/反对 提前/推迟 常见,经常/罕见,少见"
)
"""Word -> words that say the opposite: a claim with one where its evidence has the other says otherwise."""
