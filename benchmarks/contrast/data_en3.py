"""Hand-written English pairs, third part: longer answers (format: see data_en.py)."""

DATA = r"""
# allotments
P: Plots at Greenhow allotments\n| Size | Rent per year | Free plots | Waiting list |\n| small (50 m2) | 32 pounds | 3 | none |\n| medium (100 m2) | 58 pounds | 0 | 17 people |\n| large (250 m2) | 120 pounds | 1 | 4 people |
P: Tenants must live in the parish. Rent is due on 1 October. Hens are allowed on medium and large plots, bees on large ones only. A shed may measure up to six square metres. The water is turned off from November until the end of March. Work days take place in April and in September; those who miss both pay 15 pounds.
number | How many small plots are free? | There is no waiting list for the small size. At the moment, [[three||four]] such plots can be had.
table_cell | How many people wait for a medium plot? | Nobody can have a medium plot right now. Before you on the list there are [[17||4]] others.
list_member | Which animals may I keep on a medium plot? | On a plot of that size, [[hens||bees]] are all right. You have to live in the parish.
date | When do I have to pay? | Payment falls due at the beginning of [[October||November]]. A small plot costs 32 pounds.
unit | How large may my shed be? | You may put up a shed of at most six square [[metres||feet]].
condition | Do I have to pay the 15 pounds? | The 15 pounds are charged [[only if you come to neither||even if you come to one]] of the work days.

# observatory
P: The observatory on Mount Erlen was opened in 1931 by the astronomer Ludovica Prins, who had collected the money herself. Her assistant Tobias Hahn discovered two comets there, in 1938 and 1944, and a small moon of Uranus. The moon was named after Prins, the second comet after Hahn's wife Edda.
P: Since 2007 the large telescope has been used by students; researchers left because of the lights of the town. On clear Friday nights visitors are welcome from nine. The shop sells meteorites with a certificate. "Is the observatory haunted?" is what children ask most often, says guide Lea Morin, who laughs about it.
number | How many comets did Hahn find? | Hahn worked on Mount Erlen as an assistant. He discovered [[two||four]] comets there.
role | After whom was the moon named? | Two people were honoured. The moon bears the name of [[Prins, the later comet that of Edda||Edda, the later comet that of Prins]].
question_or_quote | Is the observatory haunted? | Ghosts are [[a topic that children ask about||known to haunt the observatory, says Lea Morin]].
recombination | Why did the researchers go? | Researchers gave up the telescope [[as the town was too bright||as students used it at night]].
name | Who raised the money for the building? | The funds were collected by [[Prins||Hahn]]. The opening was in 1931.
order | Which was found first, the Edda comet or the other one? | The comet that bears Edda's name was discovered [[second||first]]. Hahn found both of them.

# broadband
P: Lumenet tariffs: Home 50 costs 24.90 pounds, Home 250 costs 34.90 and Home 1000 costs 49.90 a month. The number in the name is the download speed in megabits per second; uploads run at a tenth of it with Home 50 and at half of it with the other two. The router is rented for 3 pounds a month or bought for 99 pounds.
P: The contract runs for 24 months; after that it can be ended at one month's notice. If you move house, you can take the contract along, and there is no fee for that. A technician comes free of charge on working days; on Saturdays the visit costs 30 pounds. Faults are to be repaired within two working days.
number | How long does the contract run? | The first term covers [[24||34]] months. Later on, one month's notice is enough.
arithmetic | What upload speed does Home 250 have? | Home 250 uploads at [[125||25]] megabits per second.
unit | What does the number in a tariff's name mean? | The figure stands for the download speed in [[megabits||megabytes]] per second. Uploads are slower.
multi_hop | I have Home 50 and rent the router. What do I pay in the month in which a technician comes on a Saturday? | In that month, the tariff, the router and the visit add up to [[57.90||27.90]] pounds.
paraphrase | What about my contract when I change my address? | [[It simply comes with you to the new home at no cost||If you move house, the contract ends within one month, and there is a fee for that]].
hedge | How quickly are faults repaired? | Repairs [[are supposed to||never fail to]] be done within two working days.

# newtown
P: Kestrel Bay had 8,412 inhabitants at the last census, 611 more than ten years earlier. The number of children under 15 fell, while that of people over 75 doubled. The fish factory, with 240 jobs the largest employer, was bought in 2022 by a firm from Aberdeen. The secondary school has taught in two buildings since the fire of 2016.
P: Mayor Gwen Tully calls the town "the healthiest place on the coast"; the health office keeps no figures on that. Fisherman Abel Crane says that the harbour will be dredged next year. The port authority has confirmed this. The railway line was closed in 1967 and has been a cycle path since 1999.
number | In how many buildings does the school teach? | Since the fire, pupils have been taught in [[two||ten]] buildings.
direction_word | How has the number of children changed? | The population as a whole has changed. The group of those below 15 has [[shrunk||grown]].
question_or_quote | Is Kestrel Bay the healthiest place on the coast? | That the town is the healthiest on the coast is [[how the mayor puts it, without figures||what the figures of the health office show]].
question_or_quote | Will the harbour be dredged? | The dredging of the harbour is [[officially confirmed||merely a fisherman's rumour]].
recombination | What happened in 1999 and 2022? | [[The cycle path dates from 1999, the sale of the factory from 2022||The cycle path dates from 2022, the sale of the factory from 1999]].
number_format | By how many people did the town grow? | In ten years, Kestrel Bay gained [[six hundred and eleven||six thousand one hundred]] people.
"""
