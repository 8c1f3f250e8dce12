"""English words that make up an abstention, by concept (see `concepts`). A star stands for any ending."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "e": "gives give gave provides provide lists list mentions states specifies",
    "D": """chunk* context* corpus doc docs excerpt* extract extracts fragments kb lines paragraphs passage
        passages pdfs snippet* transcripts""",
    "d": """abstract abstracts ad advert advertisement advisories advisory affidavit almanac announcement
        announcements appendices appendix archive* article articles attachment* backgrounder bio biography blog
        blurb booklet* brief briefing briefings brochure brochure* bulletin bulletins bundle bylaws caption
        captions card cards casefile catalog* catalogue* changelog* chapter chapters charter cheat-sheet
        cheatsheet chronicle chronology citation citations clause clauses clipping* codebook codex column
        columns cookbook coverage crib curriculum cv database* dataset* datasheet deck deed deposition* diagram
        diaries diary digest directory dispatch doc docket document documentation documents dossier e-book
        ebook editorial encyclopaedia encyclopedia epilogue essay essays explainer factsheet* faq faqs feature
        flyer* footnote* foreword forum forums glossary guide guideline guidelines guides handbook* handout*
        hansard helpdesk infobox infographic inscription instructions interview interviews inventory itinerary
        journal journals judgment kit knowledge leaflet leaflet* leaflets lecture lectures ledger legend
        letterhead listing listings literature manual manuals manuscript map memo memo's memorandum memos menu
        minutes newsletter notebook notebooks notes notice notices obituaries obituary packet page pages
        pamphlet* paragraph pdf pdf* playbook portal poster posting postings preface presentation press primer
        printout profile profiles programme prospectus prospectuses protocol* publication* quickstart readme
        recipe recipes records' register registry release releases report reports repository review reviews
        roster row rows rulebook ruling runbook safety-sheet scan scans screenshot* scroll section sections
        site slide slides source sources spec specification* specifications specs spreadsheet spreadsheets
        style-guide summaries summary syllabi syllabus technote testimonies testimony text textbook* texts
        thread threads timeline timetable transcript transcripts tutorial tutorial* upload* verdict vignette
        walkthrough webpage website websites whitepaper wiki write-up writeup""",
    "b": """account archive author authors chart charts content contents correspondence editor editors email
        emails entries entry field fields file files findings index input journalist label labels letter
        letters log logs material materials narrator note paper papers part piece portion post posts recipe
        record records reference references reporter result results section sheet sheets speaker statement
        statements studies study summaries summary table tables ticket tickets writer writers""",
    "c": """agreement agreements contract contracts insurance lease plan policies policy regulations rules
        terms warranty""",
    "S": """mentioned' expand expands enumerate enumerates itemise itemises itemize itemizes define defines
        convey conveys commit commits keep keeps divulging say says saying state states mention mentions
        mentioning specify specifies indicate indicates disclose discloses clarify clarifies reveal reveals
        address addresses discuss discusses describe describes explain explains elaborate elaborates refer
        refers tell tells touch touches speak speaks elucidate allude* divulge* spell spells spelling broach*
        pinpoint* comment comments quote quotes cite cites acknowledge* enlighten* delve* dwell* inform informs
        bring brings answering answers settle settles note's confirm confirms venture ventures volunteer
        volunteers detail details detailing identify identifies record""",
    "s": """knows contain contains include includes provide provides give gives offer offers cover covers name
        names list lists show shows have has make makes go goes come comes deal deals talk talks help helps
        report hold holds let lets allow allows permit permits turn turns crop crops pop pops appear appears
        figure feature features exist exists lie lies get gets enter enters extend extends reach reaches carry
        carries yield yields furnish* point points supply supplies suggest suggests imply implies lead leads
        pertain* relate relates concern concerns bear bears read reads print prints state surface surfaces
        treat treats spare spares devote* breathe* tackle* hint suffice suffices add adds rise stretch
        stretches do does""",
    "P": """mentioned stated specified indicated addressed discussed disclosed described clarified revealed
        explained referenced touched recorded documented noted spelled detailed identified elaborated divulged
        broached alluded reported cited written spelt""",
    "p": """given provided covered included named listed found answered available contained clear present said
        supplied offered shown featured made determined established inferred deduced derived gleaned gathered
        ascertained resolved settled known apparent evident obvious explicit forthcoming anywhere part here
        raised obtained pinned traced discernible retrievable located concluded confirmed verified seen""",
    "t": """talk talks deal deals focus focuses concern concerns treat treats discuss discusses about revolve
        revolves centre centres center centers""",
    "K": """knowing telling saying finding determining verifying confirming establishing working guessing
        judging know knows say tell find found answer answering determine locate identify establish ascertain
        infer deduce confirm verify figure pin trace spot conclude glean discover resolve pinpoint recall
        detect derive extract calculate compute settle decide unearth reconstruct""",
    "k": """work help assist offer provide comment advise guess vouch speculate elaborate guarantee respond
        enlighten satisfy judge see clarify estimate""",
    "I": "i we me my us our i' we' im ive id myself mine ours",
    "Y": "you your u ya",
    "g": """attached copied copy-pasted disposal excerpted forwarded front gave given hand handed hands passed
        pasted provided received retrieved sent shared shown supplied uploaded""",
    "N": """not no never nothing none neither nor nowhere cannot cant dont doesnt isnt wasnt arent couldnt wont
        havent hasnt don' doesn' isn' wasn' aren' couldn' won' haven' hasn' can' wouldn' ain' weren' hadn'
        without nil zero zilch nada nope nought naught zip nary""",
    "U": "unable impossible incapable powerless difficult hard tough unfeasible helpless impracticable",
    "L": """unexplored untouched undated hanging silent silence unanswerable undeterminable unspoken mum
        unresolved unrecorded tight-lipped indeterminate inconclusive irretrievable undefined unreported
        unaccounted unsupported omission mute""",
    "M": """unstated unspecified unmentioned unaddressed undisclosed unanswered unlisted unnamed undocumented
        unsaid unexplained unclarified undetermined""",
    "l": """eludes escapes sketchy hazy noncommittal non-committal coy cagey evasive tight gap gaps hole holes
        missing absent absence lack lacks lacking unclear unknown uncertain ambiguous omits omit omitted
        omitting fails fail insufficient inadequate incomplete wanting scant sparse vague unhelpful devoid
        unrelated irrelevant sidesteps skirts glosses overlooks""",
    "m": """passes pass gap quiet leaves leave leaving left nowhere beyond outside short skip skips skipped
        neglect neglects exclude stops stop ignores ignore dodges bare evades avoids refrains limited thin
        falls fall avoid evade elsewhere different runs failed falling""",
    "h": "little scarce hardly barely scarcely few",
    "n": "did didn' didnt",
    "E": "enough sufficient adequate sufficiently adequately",
    "F": """information info detail details data mention indication answer answers guidance particulars
        specifics intelligence pointer pointers insight insights clarification explanation explanations
        coverage""",
    "f": """reference evidence hint trace basis clue figure figures word words line lines sign context value
        number date name entry passage fact facts discussion discussions account description statement anything
        something sentence material whisper peep inkling comment commentary grounds syllable""",
    "Q": """question questions query queries answer point topic subject issue inquiry enquiry request that's
        ask asked detail piece aspect""",
    "G": """speculation speculate speculating guess guessing guesswork conjecture surmise assumption
        fabricating inventing""",
    "i": "idea clue inkling notion knowledge sure certain aware visibility luck recollection",
    "w": "would could any only just pure purely mere merely rather wild sheer be best",
    "v": """come came coming drawn run ran turns turned leave leaves left leaving remains remain stays stay
        keeps keep goes go went drew draw draws comes""",
    "o": """hanging air limbo itself themselves wondering short open unclear uncertain unknown unanswered blank
        dark unmentioned mystery empty-handed""",
    "z": """unmentioned drew draw draws drawing came coming come blank empty-handed stumped handed short dry
        scope remit ambit purview""",
    "j": "clueless stumped unsure baffled dunno idk",
    "y": "only solely just other another exclusively elsewhere else merely different unrelated purely",
    "q": """open unanswered dark air elsewhere making run runs stops ends cuts breaks dry keep keeps guess
        guesses beats blank idea short stumped luck stuck search""",
    "X": """required require requires needed need needs necessary collected collect collects stored store
        shared share shares personal charge charged sell sells sold submit submitted fee disclosing""",
    "R": """according spokesperson spokesman spokeswoman said found ruled claimed complained noted warned
        argued concluded discovered wrote admitted testified denied declared insisted stressed remarked
        announced believed thought knew rejected told asked""",
    "T": """he she they scientists researchers police experts historians investigators nobody doctors scholars
        officials everyone people his her their who critics authorities""",
    "W": "who whom whose what when where why how which whether if",
    "C": "if unless",
}
"""Letter of a concept -> its words."""
DROPPED: Final = """
    there a an the of to in on at by for from with and or as is are was were be been being it its this that
    these those any some very quite really simply just actually also so then there' here' it' that' what' t s m
    re ve ll d do does can could would will may might should must has had have into upon about regarding
    concerning which if both all each either one two three four five several every but than too rather somewhat
    sorry unfortunately afraid regrettably sadly alas hmm well honestly frankly please currently explicitly
    directly specifically further more"""
"""Words that carry nothing: they are left out of the row, and tell the language."""
