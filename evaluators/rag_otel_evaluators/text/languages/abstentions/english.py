"""English words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

WORDS = {
    "t": """talk talks deal deals focus focuses concern concerns treat treats discuss discusses about revolve revolves centre centres center centers""",
    "q": """making run runs stops ends cuts breaks dry keep keeps guess guesses beats blank idea short stumped luck stuck search""",
    "M": """unstated unspecified unmentioned unaddressed undisclosed unanswered unlisted unnamed undocumented unsaid unexplained unclarified undetermined""",
    "z": """unmentioned drew draw draws drawing came coming come blank empty empty-handed stumped handed short dry scope remit ambit purview""",
    "C": """if unless """,
    "W": """who whom whose what when where why how which whether if""",
    "g": """front disposal hands copied copy-pasted excerpted given gave sent shared handed supplied provided pasted uploaded received passed shown attached forwarded disposal hand retrieved""",
    "Y": """you your u ya""",
    "D": """kb doc context* passage passages excerpt* extract extracts snippet* chunk* fragments paragraphs corpus kb
        docs transcripts""",
    "d": """tutorial* obituary obituaries abstract abstracts digest dispatch editorial essay essays feature infobox vignette chronicle chronology timeline lecture lectures hansard preface foreword epilogue appendices crib cheat-sheet cheatsheet ebook e-book bulletin bulletins journal journals primer spreadsheet spreadsheets notebook notebooks scroll manuscript inscription codex dossier casefile docket affidavit roster briefings backgrounder explainer rulebook codebook style-guide advisory advisories safety-sheet technote memorandum quickstart walkthrough textbook* changelog* notice notices card cards kit clause clauses glossary thread threads forum forums doc scan scans poster
  leaflets handout* primer playbook runbook whitepaper encyclopedia encyclopaedia almanac roster invoice invoices receipt receipts deed bylaws
  charter syllabus curriculum cookbook itinerary programme diary diaries inventory ledger profile profiles release releases
  brief columns column row rows screenshot* slide slides deck presentation testimonies testimony deposition* judgment ruling verdict bio cv caption captions footnote* preface blurb knowledge document documents documentation text texts article articles manual manuals handbook* guide guides booklet* brochure* leaflet* page pages report reports archive* factsheet* faq faqs wiki webpage listing listings memo memos letterhead minutes publication* dataset* database* datasheet spec specs specification* specifications instructions transcript chapter chapters section sections paragraph appendix catalog* catalogue* pamphlet* flyer* prospectus readme repository press writeup dossier literature attachment* upload* pdf* thread timetable directory biography obituary bulletin newsletter protocol* blog briefing bundle packet printout clipping* citations citation write-up coverage""",
    "b": """label labels field fields part portion section archive recipe records record note notes account site website piece paper papers sheet sheets statement statements study studies summary summaries material materials entry entries email emails review reviews log logs ticket tickets correspondence chart charts post posts interview index table tables file files content contents input results result findings source sources reference references""",
    "c": "policy policies contract contracts agreement agreements lease insurance warranty plan terms regulations rules",
    "N": """not no never nothing none neither nor nowhere cannot cant dont doesnt isnt wasnt arent couldnt wont
        havent hasnt don' doesn' isn' wasn' aren' couldn' won' haven' hasn' can' wouldn' ain' weren' hadn' without
        nil zero zilch nada nope nought naught zip nary""",
    "S": """keep keeps divulging say says saying state states mention mentions mentioning specify specifies indicate indicates disclose
        discloses clarify clarifies reveal reveals address addresses discuss discusses describe describes explain
        explains elaborate elaborates refer refers tell tells touch touches speak speaks state elucidate allude* divulge*
        spell spells spelling broach* pinpoint* mentions comment comments quote quotes cite cites acknowledge*
        enlighten* delve* dwell* inform informs bring brings answering answers settle settles note's confirm
        confirms venture ventures volunteer volunteers detail details detailing state identify identifies record""",
    "s": """knows contain contains include includes provide provides give gives offer offers cover covers name names list lists
        show shows have has make makes go goes come comes deal deals talk talks help helps report hold holds let lets
        allow allows permit permits turn turns crop crops pop pops appear appears figure feature features exist exists
        lie lies get gets enter enters extend extends reach reaches carry carries yield yields furnish* point points
        supply supplies suggest suggests imply implies lead leads pertain* relate relates concern concerns bear bears
        read reads print prints state surface surfaces treat treats spare spares devote* breathe* tackle* hint
        suffice suffices add adds rise stretch stretches do does""",
    "P": """mentioned stated specified indicated addressed discussed disclosed described clarified revealed explained
        referenced touched recorded documented noted spelled detailed identified elaborated divulged broached alluded
        reported cited written spelt noted""",
    "p": """given provided covered included named listed found answered available contained clear present told said
        supplied offered shown featured made determined established inferred deduced derived gleaned gathered
        ascertained resolved settled known apparent evident obvious explicit forthcoming anywhere part here
        raised obtained pinned traced discernible retrievable located concluded confirmed verified seen""",
    "K": """knowing telling saying finding determining verifying confirming establishing working guessing judging know knows say tell find finding found answer answering determine determining locate identify establish
        ascertain infer deduce confirm verify figure pin trace spot conclude glean discover resolve
        pinpoint recall detect derive extract calculate compute settle decide unearth
        reconstruct""",
    "I": "i we me my us our i' we' im ive id myself mine ours",
    "U": "unable impossible incapable powerless difficult hard tough unfeasible helpless impracticable",
    "L": """unexplored untouched undated hanging silent silence unanswerable 
        undeterminable unspoken mum unresolved unrecorded tight-lipped
        indeterminate inconclusive irretrievable undefined unreported 
        unaccounted unsupported omission mute""",
    "l": """coy cagey evasive tight gap gaps hole holes missing absent absence lack lacks lacking unclear unknown uncertain ambiguous omits omit omitted omitting fails
        fail insufficient inadequate incomplete wanting scant sparse vague unhelpful devoid unrelated irrelevant sidesteps
        skirts glosses overlooks""",
    "m": """passes pass gap quiet leaves leave leaving left nowhere beyond outside short skip skips skipped neglect neglects exclude empty stops stop
        ignores ignore dodges bare evades avoids refrains limited thin falls fall avoid evade elsewhere different runs
        failed falling""",
    "h": "little scarce hardly barely scarcely few",
    "n": "did didn' didnt",
    "w": "would could any only just pure purely mere merely rather wild sheer  be best",
    "k": """see work help assist offer provide give comment advise comply assess make put quote fill enlighten satisfy respond
        clarify state name guarantee vouch estimate judge add shed say track access explain claim""",
    "F": """information info detail details data mention indication answer answers guidance particulars specifics
        intelligence pointer pointers insight insights clarification explanation explanations specifics coverage""",
    "f": """reference evidence hint trace basis clue figure figures word words line lines sign context value number date name
        entry passage fact facts discussion discussions account description statement anything something hits match
        matches sentence material
        hits whisper peep inkling comment commentary grounds syllable light""",
    "Q": """question questions query queries answer point topic subject matter issue inquiry enquiry request that's ask asked
        detail piece aspect""",
    "E": "enough sufficient adequate sufficiently adequately adequate",
    "G": "speculation speculate speculating guess guessing guesswork conjecture surmise assumption fabricating inventing",
    "i": "idea clue inkling notion knowledge access sure certain aware visibility luck recollection",
    "v": "come came coming drawn run ran turns turned returned returns hit leave leaves left leaving remains remain stays stay keeps keep goes go went drew draw draws comes came come",
    "o": "hanging air limbo itself themselves wondering short open unclear uncertain unknown unanswered blank dark empty unmentioned mystery empty-handed",
    "y": "only solely just other another exclusively elsewhere else merely different unrelated purely",
    "X": """required require requires needed need needs necessary collected collect collects stored store shared share shares
        personal charge charged sell sells sold submit submitted fee disclosing""",
    "R": """according spokesperson spokesman spokeswoman said found ruled claimed complained noted warned argued concluded discovered wrote admitted testified denied
        declared insisted stressed remarked announced believed thought knew rejected complained told asked""",
    "T": """he she they scientists researchers police experts historians investigators nobody doctors scholars officials
        everyone people his her their who critics authorities""",
    "j": "clueless stumped unsure baffled dunno idk",
}
DROPPED = """there a an the of to in on at by for from with and or as is are was were be been being it its this that these those
    any some very quite really simply just actually also so then there' here' it' that' what' t s m re ve ll d do does
    can could would will may might should must has had have into upon about regarding concerning which if both all each
    either one two three four five several every but than too rather somewhat sorry unfortunately afraid regrettably sadly
    alas hmm well honestly frankly please currently explicitly directly specifically further more"""
