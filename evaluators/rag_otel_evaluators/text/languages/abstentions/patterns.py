"""How concepts make an abstention: see `concepts` for the letters and the notation."""

from __future__ import annotations

from typing import Final

SHARED: Final = (
    # The texts at hand, with a negation, say nothing.
    "D ~6, NlL",
    "D ~7 N ~2 SPFK",
    "NL ~4,XT D",
    "Dd ~3 m ~4 SsFfQWo",
    "Dd =1 m =1 $",
    "D ~3 m",
    "m ~2 d =2 K",
    "b ~2 N =1 o",
    "QFfP ~5 m ~2 Dd",
    "QF ~4 lm ~3 b",
    # Any text: it does not say, nothing is said in it, it is silent.
    "d ~6n N ~3 SPF -5X",
    "b =1 N ~1 SPF",
    "c ~4n N ~2 SPF",
    "bc ~6n N ~1 SP",
    "d ~6n N ~2 F -5X",
    "bc ~4n N ~1 Ff",
    "N ~1X dc ~4 SsPpF",
    "N b =3 S",
    "N ~3XTn SPF ~4X dbc",
    "N =1 pf ~2XT d",
    "SP ~3 dbc ~3 N",
    "dcbQFD ~5 LM",
    "LM ~5 dcbQFD",
    "l ~3, D",
    "bc ~3 l ~4 SFQ",
    "h ~1 F ~5 DdbcQ",
    "Dd ~4 h ~1 F",
    "FfQd N Ddb $",
    # What was given: it says nothing.
    "IY ~1 g ~6 Nl",
    "g =1 IY ~5 Nl",
    "NU ~5X IY ~1 g",
    "Nl ~5X g =1 IY",
    # It stays open.
    "DdcbQW ~6 v ~3 oL",
    "v ~2 oL ~6 DdbQ",
    # Who answers does not know.
    "I ~2 NUn ~3 Ki",
    "I ~2 NU ~1 k",
    "I ~3 NUn ~4 FD",
    "I ~3 l ~3 FKEQ",
    "^ U =2 K",
    "^ =1TY N =1 i",
    "^ N E",
    "F l $",
    "m ~2 Dd =1 S",
    "N =1 f ~4, Dd $",
    "y =1 Dd ~3 K",
    "Dd =1 y =1 S",
    "Dd ~6 U ~2 K",
    "bd ~2 N =1 S ~3 $",
    "U ~2 KS ~8 Dd",
    "D ~6 U ~3 KSEk",
    "I ~1 U ~2 Kk",
    # It cannot be told from the texts.
    "N ~3T KEp ~8T D",
    "N ~2T KEp ~5T d",
    # The question cannot be answered.
    "Q ~7, NU ~3 KpP",
    "NU =1 K =1 Q",
    "N ~1X E ~2T FDdKkQ",
    "m =1 z ~2 Dd",
    "v ~2 Dd ~1 oM",
    "E ~5 N ~1 KFD",
    "FDd ~3 N ~2 E",
    "FDdb ~3 E ~3 N",
    "N =1 Ff =1 p =1 $",
    "N Ddb =2 IY",
    "N D $",
    "^ =1 N b $",
    "N F =1 Q",
    # Guessing.
    "w ~2 G",
    "G ~4 N F",
    # The texts are about other things.
    "Dd ~2 y ~1 t",
    "Dd ~2 t ~2 y",
)

SPACED: Final = (
    # It gives no hours.
    "Dd =1 e N",
    # Whatever it is: it does not say who, when, whether.
    "^ N =1 S =1 W",
    "N =1 P W",
    "W ~6T N =1 SP $",
    "W ~6T NL =2 P $",
    "M $",
    "M =1 W",
    # Came up empty.
    "I ~5 z =2 z",
    "z =2 D",
    "z ~3 d",
    # There is no information.
    "^ s? N =2 F ~4 pPDKQ -5XT",
    "^ s? N =2 F $",
    "^ s? N =1 f ~6T Ddcb -5X",
    "l ~2 F ~6 KQ",
    "^ l =1 F",
    "F ~5X N ~1 p $",
    # It is not stated.
    "^ ~9 N ~2 P $",
    "^ N =2 SPp $",
    "^ N =1 SP W",
    "^ NU K",
    "^ N =1 I =2 K",
    # A whole abstention in one word.
    "j ~6 DdQ",
    "^ =1T j",
    "I ~2 j",
    "DdQ ~4 j",
)

VERBAL: Final = (
    # Languages whose verbs tell who speaks, and put the negation behind the verb.
    "N =1 J =3 KFfiESDdQ",
    "J =1 N =3 KFfiEDd",
    "I ~1 J =2 N =4 KkFfiEDd",
    "^ =3 N =1 J $",
    "^ =1 N =1 J =2 KiEFfy",
    "J ~1 I ~3 N ~3 KFfiE",
    "J =2 U",
    "I ~1 N =2 N =2 $",
    "N =1 K =1 N ~3 Ddb",
    "N =1 s =2 D",
    "N ~5X J =1 g",
    "N J =1 W",
    "^ N JK =1 ,",
)

GERMAN: Final = (
    "K =1 I =2 N",
    "K =1 N $",
    "Ss =1 N ~3 Ddb",
    "I =4 N ~4 KFiE",
    "N =1 I =2 KFiE",
    "d ~3 Ss ~5 N",
    "Ss =2 dbc ~4 N",
    "bc ~6 N ~1 SP",
    "d ~6 N ~4 S",
    "d ~9 Ss =1 N",
    "c ~4 s ~4 N s",
    "S ~4 D ~4 N",
    "l =1 I ~4 F",
    "I ~5 l ~4 F",
    "N ~3 d ~3 SsPp",
)

CHINESE: Final = (
    "^ =1 N =2 FKS",
    "FQ =2 N =1 FSK",
    "N =2X F ~2 QK",
    "DdQIW ~6T j",
    "^ =6T j",
    ", =4T j",
    "j ~4 DdQF",
    "^ LM",
    "^ =1 DF =1 l",
    "Dd ~2 t =2 y",
    ", =1 N =3 F",
    ", =2T N =1 KS $",
    "^ =9T =9T N =1 S $",
    "G =3 N",
    "^ =9T N =2 KS $",
    "Ddc =6T N $",
)
