"""Hand-written English pairs.

Format: "# name" opens a block, "P: " is a passage ("\\n" is a line break), and every other line is
"phenomenon | question | answer", where [[x||y]] holds the faithful and the unfaithful wording of the one point.
"""

DATA = r"""
# kettle
P: The Norvik K7 kettle holds 1.7 litres and switches itself off once the water boils. Fill it at least to the 0.5 litre mark; below that line the dry-run protection cuts the power. The keep-warm function holds 80 degrees for half an hour and works with the lid open or closed. Descale the kettle every two months if your water is hard, otherwise twice a year is enough.
P: Guarantee: the heating base is covered for three years from the date of purchase. The jug and the filter are wear parts and are covered for six months. Damage caused by limescale is excluded.
number | How long is the filter covered? | A defective filter will be replaced free of charge during the first [[six||eight]] months.
unit | How much water fits into the K7? | At most 1.7 [[litres||cups]] go into the jug.
direction_word | When does the dry-run protection react? | The power is cut as soon as the water level is [[under||over]] the half-litre line.
condition | Can I keep water warm with the lid open? | The kettle keeps the water warm for thirty minutes, [[even with the lid up||but only if the lid is shut]].
conversion | How long does keep-warm last? | It holds the temperature for [[30||80]] minutes.
scope | What does the three-year guarantee include? | For three years, [[the heating base is||all parts of the kettle are]] covered.

# returns
P: You may return unworn clothing within 30 days of delivery. Shoes may be returned within 14 days, and only in the original box. Underwear and swimwear are excluded from returns for reasons of hygiene. The refund goes to the payment method that you used; it takes five to seven working days after the parcel has reached our warehouse in Leeds.
P: Shipping costs of the original order are not refunded. A return label costs 3.95 pounds and is deducted from the refund. Members of the Plus club send parcels back at no charge.
list_member | Which items can I not send back? | For hygiene reasons, you cannot return [[bikinis or other swimwear||shoes]] and underwear.
negation | Do I get the postage of my order back? | What you paid for the original delivery [[stays with the shop||is paid back to you as well]].
arithmetic | I return a shirt for 23.95 pounds and am not a Plus member. How much do I get? | After the label has been deducted, you receive [[20.00||23.95]] pounds.
scope | Who sends parcels back free of charge? | Returning a parcel costs nothing for [[Plus members||all customers]].
multi_hop | Can I, as a Plus member, return boots 20 days after delivery? | Sending a parcel back costs Plus members nothing. For boots, 20 days after delivery are [[too late||early enough]].
comparison | Which may be kept longer before returning, clothes or shoes? | The return period for [[clothing||shoes]] is the longer one.

# leave
P: Employees at Harrow & Pine receive 25 days of annual leave. After five years of service, the entitlement rises to 28 days. Up to five unused days may be carried into the next year; they lapse on 31 March. Requests are approved by the team lead, not by the HR department, and should be filed at least three weeks ahead.
P: Parental leave: the primary carer receives 16 weeks at full pay. The other parent receives four weeks at full pay and may add up to eight weeks without pay. Temporary staff are entitled to statutory leave only.
role | Who decides on a holiday request? | A request for time off is granted by [[the team lead||the HR department]].
date | Until when can I use days from last year? | Leftover days can be used up to the end of [[March||May]].
arithmetic | How many weeks at most can the other parent be away? | Paid and unpaid weeks together, the second parent can be away for up to [[twelve||sixteen]] weeks.
condition | Do I get 28 days of leave? | You get 28 days of leave [[once you have been with the firm for five years||from your first day with the firm]].
negation | Does the other parent get money in the additional eight weeks? | The additional eight weeks for the second parent are [[unpaid||paid]].
quantifier | Can I carry over my unused leave? | You can take [[at most five||all]] of your unused days into the following year.

# ferry
P: The ferry from Skarholm to the island of Vell runs daily from May to September. Departures from Skarholm: 7:15, 10:40 and 16:05. Departures from Vell: 8:30, 12:10 and 18:20. The crossing takes 50 minutes. Dogs travel free and are admitted to the saloon as well.
P: In winter the ferry sails on Tuesdays, Thursdays and Saturdays only. In gales above force 8 the service is suspended; the harbour office announces this by seven in the morning. Bicycles cost 4 euros, cars 28 euros.
table_cell | When does the last boat leave the island in summer? | The final summer departure from Vell is at [[18:20||16:05]].
list_member | On which winter days is there a boat? | During the winter you can cross on Tuesdays, [[Thursdays||Fridays]] and Saturdays.
direction_word | When does the harbour office announce a cancellation? | You will know [[before||after]] seven in the morning whether the wind has stopped the service.
number | How many departures from Skarholm are there on a day in July? | On a summer day, [[three||five]] boats set out from Skarholm.
arithmetic | If I take the 10:40 boat, when do I arrive? | The 10:40 boat reaches the island at [[11:30||11:25]].
negation | May my dog sit in the saloon? | Your dog travels free of charge. It [[may sit indoors||must not sit indoors]] with you.

# doloran
P: Doloran tablets contain 200 mg of the active substance. Adults take one or two tablets up to three times a day, with at least six hours between doses. Do not take more than six tablets in 24 hours. Children under twelve must not take this medicine. Take the tablets with a glass of water after a meal.
P: Common side effects (up to 1 in 10 people): heartburn, nausea. Uncommon (up to 1 in 100 people): headache, skin rash. Rare (up to 1 in 1,000 people): ringing in the ears. The medicine may make you drowsy. If you take blood thinners, ask your doctor first.
table_cell | How often does skin rash occur? | A rash is listed as [[an uncommon||a common]] side effect.
unit | How strong is one tablet? | Each tablet holds 200 [[milligrams||grams]] of the active ingredient.
direction_word | Should I take the tablets on an empty stomach? | Swallow the tablet with water [[once you have eaten||before a meal]].
hedge | Does Doloran make people sleepy? | Drowsiness [[is possible||occurs in everyone]] when you take Doloran.
arithmetic | How much of the active substance may an adult take in 24 hours at most? | The daily ceiling is [[1,200||200]] mg of the active substance.
condition | Do I need to see a doctor before taking it? | You should ask your doctor first [[if you use blood thinners||if you are older than twelve]].

# bridge
P: The Malden footbridge will close on 4 June for repairs that are expected to last ten weeks. The council chose the contractor Brayford after the firm Tolland withdrew its bid. The work costs 640,000 pounds, of which the county pays a quarter. Pedestrians are to use the Mill Lane crossing in the meantime.
P: "Why was nobody told about the rust for so long?" asked councillor Edna Pryce at Monday's meeting. Engineer Rob Haley replied that inspectors had first noted the damage in 2019. Pryce believes that the bridge could have collapsed last winter; Haley said there was never any danger.
name | Which firm does the repairs? | The contract for the footbridge went to [[Brayford||Tolland]].
arithmetic | How much does the county contribute? | The county's share of the costs comes to [[160,000||640,000]] pounds.
question_or_quote | Was the bridge about to collapse last winter? | [[One councillor thinks that the bridge could have given way||It is established that the bridge was close to collapse]] last winter.
role | Who asked about the rust, and who answered? | The question about the rust was put by [[Pryce, and Haley||Haley, and Pryce]] answered it.
hedge | How long will the closure last? | The repairs [[should||are guaranteed to]] take ten weeks.
recombination | What happened with the bids? | [[Tolland withdrew, so the council chose Brayford||Brayford withdrew, so the council chose Tolland]].

# brewer
P: Anna Kessling founded the instrument maker Kessling & Roe in Bristol in 1921 together with the engineer Martin Roe. The firm first built barometers and turned to microscopes in 1934. Roe left in 1938 after a quarrel over patents. In 1952 the company moved to Bath, where it employed 310 people at its peak.
P: In 1987 the Swiss group Optival bought the firm and sold the barometer business to its former sales manager, Jill Tarrant. Optival closed the Bath plant in 1996; the brand name is still used for school microscopes.
order | What did the company make first? | [[Barometers came first and microscopes later||Microscopes came first and barometers later]].
date | In what year did Roe leave the company? | Martin Roe quit the firm in [[1938||1934]].
role | Who sold the barometer business to whom? | The barometer division was passed on by [[Optival to Jill Tarrant||Jill Tarrant to Optival]].
name | In which town was the plant that shut in 1996? | The factory that closed in 1996 stood in [[Bath||Bristol]].
multi_hop | How long did the firm have its works in Bath? | From its move until the closure, the firm was in Bath for [[44||62]] years.
recombination | What did Kessling do in 1921? | In 1921 Anna Kessling [[started the firm with an engineer||bought the firm from a Swiss group]].

# bats
P: Researchers at Lund followed 46 noctule bats with tiny transmitters. Most of the females flew south in autumn; a few of the males did the same, but the majority stayed in Sweden all year. The longest journey measured 1,275 kilometres. The animals flew mainly on warm nights with a tailwind.
P: The team suspects that a falling air pressure tells the bats when to leave, but this has not been tested. Flights began on average 40 minutes after sunset. Wind turbines killed two of the tagged bats.
quantifier | Did the male bats migrate? | [[Only a minority||Most]] of the male bats left Sweden in the autumn.
hedge | What makes the bats leave? | Dropping air pressure [[might be||has been proved to be]] the signal for departure.
direction_word | When did the animals take off? | The bats typically set out some forty minutes after the sun [[went down||came up]].
paraphrase | In what conditions did they travel? | [[They preferred mild nights when the wind pushed from behind||The animals flew mainly on warm nights without a tailwind]].
number | How many tagged bats died at turbines? | [[Two||Forty]] of the animals with transmitters were killed by wind turbines.
number_format | How far was the longest flight? | The record trip covered [[nearly 1.3 thousand||some 12.8 thousand]] kilometres.

# loaf
P: Rye loaf. Mix 400 g of rye flour with 300 ml of lukewarm water, 8 g of salt and 90 g of sourdough. Knead for five minutes, then let the dough rest for three hours. Shape it, dust it with flour and let it rise for another hour. Bake at 240 degrees for 15 minutes, then at 190 degrees for 45 minutes.
P: Tip: do not slice the loaf on the day of baking; it tastes best from the second day on. Sunflower seeds can replace up to 50 g of the flour. Wheat flour is not needed. The bread keeps for about a week in a clay pot.
order | What comes first, resting or shaping? | [[The dough rests first and is shaped afterwards||The dough is shaped first and rests afterwards]].
arithmetic | How long does the loaf bake in all? | The loaf spends [[60||65]] minutes in the oven altogether.
unit | How much water do I need? | Add 300 [[millilitres||centilitres]] of lukewarm water. Five minutes of kneading will do.
comparison | Is the first stage of baking hotter than the second? | The oven is [[hotter||cooler]] at the start than towards the end of baking.
negation | Can I cut it straight after baking? | You should [[wait until the next day before you cut||cut, on the day of baking, into]] the bread.
list_member | What goes into the dough? | You need rye flour, water, [[salt||wheat flour]] and sourdough for the basic dough.

# ratelimit
P: Requests to the Tandem API are limited to 600 per minute per key. When you exceed the limit, the server answers with status 429 and the header Retry-After, in seconds. Webhooks do not count towards the limit. Keys expire after 90 days unless they are renewed by an administrator.
P: The sandbox uses separate keys with the prefix tst_. Sandbox data is deleted every Sunday at 02:00 UTC. Bulk export is available on the Business and Enterprise plans. On the Free plan, exports are limited to 1,000 rows.
unit | How do I read Retry-After? | The number in Retry-After is given in [[seconds||minutes]].
role | Who can renew a key? | A key that is about to expire can be extended by [[an administrator||the server]].
list_member | On which plans can I use bulk export? | You can export in bulk with Business and [[Enterprise||Free]].
negation | Are webhooks included in the limit? | Webhook calls are [[left out of||included in]] the count of 600 a minute.
scope | What is deleted on Sundays? | Every Sunday the service wipes [[the data in the sandbox||all data, sandbox and live]].
conversion | How many requests can I send per second on average? | On average, a key is good for [[10||60]] requests a second.

# library
P: Opening hours of the Elmstead library\nMonday: closed\nTuesday to Thursday: 10:00-18:00\nFriday: 12:00-20:00\nSaturday: 9:00-13:00\nSunday: closed
P: Books can be borrowed for four weeks and renewed twice unless another reader has reserved them. DVDs are lent for one week and cannot be renewed. Fines are 20 pence a day for adults; children pay no fines. The reading room on the first floor is open to everybody, the music room only to members.
table_cell | Until when is the library open on Fridays? | On Fridays the doors close at [[8||6]] in the evening.
condition | Can I renew a book? | You can extend the loan twice [[as long as nobody else has reserved the book||even when somebody else has reserved the book]].
quantifier | Who may use the music room? | The music room is open to [[members only||everybody]].
arithmetic | I am an adult and five days late with one book. What do I pay? | Five days' delay costs an adult [[one pound||20 pence]].
comparison | Which are lent for longer, books or DVDs? | The loan period of [[books||DVDs]] is the longer of the two.
paraphrase | Do kids pay when they are late? | [[Youngsters who bring things back late are not charged||Children pay fines of 20 pence a day]].

# museum
P: Admission to the Corley Tram Museum: adults 9 pounds, students 6 pounds, children under 14 free. A family ticket for two adults costs 15 pounds. On the first Sunday of the month, everyone pays half. Rides on the historic tram are included; the simulator costs 2 pounds extra.
P: All of the vehicles in hall A still run. Hall B is not heated and is closed from November to February. The oldest tram, built in 1898 in Corley itself, stands in hall C. Tram 42 came from Lisbon in 1979, tram 7 from Prague in 1985.
quantifier | Do the trams in hall A still work? | In hall A, [[every one||only a part]] of the vehicles can be driven.
date | When did the Prague tram arrive? | The tram from Prague came to the museum in [[1985||1979]].
recombination | Where do trams 42 and 7 come from? | [[Number 42 is from Lisbon and number 7 from Prague||Number 42 is from Prague and number 7 from Lisbon]].
arithmetic | How much do two adults save with the family ticket? | Compared with single tickets, the family ticket saves two adults [[3||6]] pounds.
negation | Do I have to pay extra for the tram ride? | The tram ride comes [[at no extra charge||at an extra charge of 2 pounds]].
multi_hop | I am ten years old. What do I pay to see the tram from Lisbon? | At the age of ten, you can look at tram 42 [[without paying||for six pounds]].

# dishwashers
P: Test results, dishwashers\n| Model | Price | Water per cycle | Noise | Grade |\n| Arlo 60 | 549 euros | 9.5 l | 44 dB | good |\n| Benn S | 399 euros | 11 l | 49 dB | fair |\n| Corda X | 729 euros | 8.2 l | 41 dB | very good |
P: All three machines removed dried egg. Only the Corda X dried plastic boxes properly. The Benn S needed the longest time in the eco programme, 4 hours and 10 minutes; the Arlo 60 took 3 hours and 25 minutes. The testers could not check how long the machines last.
table_cell | How loud is the Benn S? | The testers measured [[49||44]] dB for the Benn S.
comparison | Does the Corda X use less water than the Arlo 60? | Per cycle, the Corda X needs [[less||more]] water than the Arlo 60.
quantifier | Which machines removed dried egg? | Dried egg came off in [[each||only one]] of the machines.
arithmetic | How much more does the Corda X cost than the Arlo 60? | Between the Arlo 60 and the Corda X lies a difference of [[180||190]] euros.
conversion | How many minutes did the Benn S take in the eco programme? | The Benn S was busy for [[250||410]] minutes in its eco programme.
negation | Did the test measure durability? | The lifespan of the machines was [[beyond what||something that]] the testers could check.

# marathon
P: Runners of the Brackwater Marathon start at 9:00 at the castle; walkers start at 7:30 at the old mill. Last year Lena Vogt won in 2:41:08, nine minutes ahead of Ruth Amadi. Mary Stroud came third. The course has been changed: it now crosses the river twice instead of once and no longer passes the zoo.
P: Entry costs 45 pounds until 31 January and 60 pounds from 1 February. Entries close on 15 April or as soon as 3,500 places have been taken. Refunds are given for any reason, and no doctor's note is needed. The whole of the entry money goes to the lifeboat fund.
order | In what order did the three women finish? | Behind the winner came [[Amadi and then Stroud||Stroud and then Amadi]].
date | From what day is the entry more expensive? | The higher price applies from 1 [[February||January]].
condition | Can I get my money back? | The organisers refund the fee [[whatever your reason is||only if you have a doctor's note]].
quantifier | Where do the entry fees go? | [[All||Just a portion]] of the entry money ends up with the lifeboat fund.
name | Who won last year? | The winner of the previous race was [[Lena Vogt||Ruth Amadi]]. The river is now crossed twice.
number | How often does the new course cross the river? | On the new course, the river is crossed [[two times||one time]].

# dogcover
P: PawSafe pays vet bills up to 5,000 pounds a year. You bear the first 100 pounds of each claim yourself. Dental treatment is covered only if the tooth was damaged in an accident. Illnesses that began before the policy started are excluded. Cover for illness begins 14 days after the start of the policy, cover for accidents at once.
P: Premiums rise by 5 percent each year from the dog's eighth birthday. Working dogs and racing dogs cannot be insured. Policyholders with two or more dogs get a discount of 10 percent on every policy. You can cancel with one month's notice.
arithmetic | A covered operation costs 850 pounds. What does PawSafe pay? | For that operation, the insurer pays [[750||760]] pounds.
condition | Is dental treatment covered? | PawSafe pays for the dentist [[only after an accident||for any dental problem]].
direction_word | What happens to the premium when the dog gets old? | Once the dog turns eight, the premium goes [[up||down]] by five percent a year.
order | Which starts sooner, cover for accidents or for illness? | Cover for [[accidents comes before cover for illness||illness comes before cover for accidents]], by two weeks.
list_member | Which dogs are refused? | No policy is sold for dogs that work or [[race||are older than eight]].
scope | Who gets the ten percent discount? | The ten percent reduction is for [[owners of several dogs||every policyholder]].

# volcano
P: Mount Sarel last erupted in 1963, when the village of Onda was buried and 14 people died. The eruption of 1902 was weaker and caused no deaths. The hut at Lake Finn stands on its eastern slope, at 1,450 metres. Instruments have recorded more small earthquakes since March. Volcanologist Pia Lund says that an eruption within the next year is unlikely but cannot be ruled out.
P: The eastern slope is closed to hikers above 1,800 metres. All huts below stay open. Guided tours start on the western side at eight every morning, in July and August at six as well.
comparison | Which eruption was stronger? | The eruption of [[1963 was stronger than that of 1902||1902 was stronger than that of 1963]].
hedge | Will the mountain erupt within a year? | According to Lund, an eruption in the coming year [[is improbable, though possible||can be ruled out]].
direction_word | Which part of the eastern slope is off limits? | On the eastern side, hikers may not go [[higher||lower]] than 1,800 metres.
negation | Did the eruption of 1902 kill people? | In 1902 [[nobody||fourteen people]] lost their lives.
multi_hop | Is the hut at Lake Finn in the closed area? | At 1,450 metres, the hut lies [[beneath||within]] the closed zone and can be visited.
conversion | How high does the closure begin, in kilometres? | The closure starts at a height of [[1.8||18]] kilometres.

# council
P: The town council of Pellham voted by 17 to 12 to turn the old cattle market into a park. The Greens and the Liberals voted in favour, the Conservatives against; two independents abstained. Construction is to begin in spring 2026, if the state approves the grant of 1.4 million pounds.
P: Mayor Joan Eadie had proposed a car park instead. Resident Paul Wick wrote to this newspaper: "Is it true that the park will cost every household 300 pounds?" The treasurer, Dilip Rao, said no figure per household had been worked out.
number | How many members voted against the park? | In all, [[twelve||two]] members of the council opposed the plan.
role | Who wanted a car park? | A car park had been suggested by [[the mayor||the treasurer]].
condition | When does the construction begin? | Building is to start in spring 2026, [[on condition that the state grants the money||no matter what the state decides]].
question_or_quote | What will the park cost each household? | A cost of 300 pounds per household [[is something that a reader asked about||was worked out by the treasurer]].
number_format | How large is the grant? | The town hopes for [[1,400,000||14,000,000]] pounds from the state.
list_member | Which parties supported the park? | The park was carried by the votes of the Liberals and the [[Greens||Conservatives]].

# solar
P: The roof of the Ashby school carries 220 solar panels with an output of 88 kilowatts in total. In 2023 they produced 79,000 kilowatt-hours; the school itself used 60 percent of that and sold the rest. The panels on the gym face east, those on the main building south. Cleaning is needed once a year.
P: The inverter must be replaced after about twelve years; the panels can last 25 years or longer. Production fell in 2024 because a storm broke 31 panels in May. They were repaired in August by Helio Nord; Voltaris had installed the system in 2018.
name | Which company repaired the panels? | The damage was mended by [[Helio Nord||Voltaris]].
direction_word | How did production develop in 2024? | In 2024 the school produced [[less||more]] electricity than in the year before.
unit | How much did the panels produce in 2023? | During 2023 the roof delivered 79,000 [[kilowatt-hours||kilowatts]].
arithmetic | What share of the electricity was sold? | The school sold [[40||45]] percent of what the panels produced.
recombination | Which way do the panels face? | [[Those on the gym look east, those on the main building south||Those on the gym look south, those on the main building east]].
hedge | How long do the panels last? | The panels [[may||will certainly]] work for 25 years or more.

# hotel
P: Check-in at the Hotel Lindqvist is from 3 p.m., check-out until 11 a.m. Breakfast is served from 6:30 to 10:00, on weekends until 11:00. Children under six stay free in their parents' room; an extra bed for older children is 25 euros a night. The pool is open to guests only and closes at 9 p.m.
P: Cancellation is free up to 48 hours before arrival. After that we charge the first night. Pets are welcome in every room, even in the tower. Parking in the courtyard costs 12 euros; there is no charge on Kirkegata street after 6 p.m.
table_cell | Until when is there breakfast on Sunday? | On Sundays the buffet closes at [[eleven||ten]].
scope | Where may I bring my cat? | Pets can stay in [[all rooms of the hotel||all rooms but those in the tower]].
direction_word | When is parking on Kirkegata free? | You can leave your car on Kirkegata for nothing [[after||until]] six in the evening.
arithmetic | Our daughter is nine and needs an extra bed for three nights. What does the bed cost? | The bed for your daughter adds [[75||80]] euros to the bill for three nights.
conversion | Until when can I cancel without paying? | The last chance to cancel free of charge is [[two||four]] days before you arrive.
paraphrase | What if I cancel on the day of arrival? | [[Backing out so late means paying for one night||Cancellation is free on the day of arrival]].

# gym
P: FitHaus memberships: Basic 19 euros a month, Plus 29 euros, Total 39 euros. Basic allows training on weekdays before 4 p.m. Plus adds evenings and weekends. Only Total includes the sauna and the courses. The minimum term is twelve months for Basic and Plus and one month for Total.
P: Members may pause their contract for up to three months a year; they need neither a certificate nor a reason such as illness. Towels are not provided. Guests pay 8 euros a day. The studio in Harbour Street has no sauna; the one in Oak Road has two.
table_cell | What does Plus cost a month? | A Plus member pays [[29||39]] euros each month.
list_member | What does Total add? | With Total you may also use the sauna and [[the courses||free towels]].
condition | May I pause the contract? | The contract can be suspended [[even if you are in good health||only with a certificate of illness]].
comparison | Which has the shorter minimum term, Basic or Total? | The shorter commitment comes with [[Total||Basic]].
multi_hop | I have a Total membership. Where can I use a sauna? | Your membership includes the sauna. You will find it in [[Oak Road||Harbour Street]].
conversion | What is the minimum term for Basic in years? | With Basic, you are bound for at least [[one year||two years]].

# release
P: Version 4.2 of Quillpad brings offline search and a dark theme. The export to Word, dropped in 4.0, is back. Notes larger than 5 MB are no longer synchronised. Version 4.2 requires Android 11 or later; on older phones, 4.1 remains available but receives security fixes only until June 2025.
P: Known issues: on some tablets the toolbar overlaps the title. The sync always stops when the battery saver is on. Tables pasted from the web lose their colours. Fixed: the crash when opening encrypted notes, reported by 212 users.
negation | Are notes of 8 MB synchronised? | A note of 8 MB is [[left out of||included in]] the sync.
order | When was the export to Word removed? | The Word export disappeared [[before it came back in 4.2||in 4.2 after it had come back in 4.0]].
quantifier | On which tablets does the toolbar cover the title? | The toolbar problem affects [[certain||all]] tablets.
hedge | What happens to the sync with the battery saver on? | With the battery saver on, the sync stops [[every time||now and then]].
date | Until when does 4.1 get security fixes? | Security fixes for 4.1 end in [[June||January]] 2025.
list_member | What is new in 4.2? | New in this version are a dark theme and [[search without a connection||encrypted notes]].

# trial
P: In a trial with 812 adults, the vaccine Pneuvara prevented 71 percent of severe infections. Among people over 70 the figure was 58 percent. Half of the participants received a placebo. Mild fever was reported by 14 percent of the vaccinated and by 3 percent in the placebo group. No deaths occurred.
P: The study was led by Dr. Ines Calloway and paid for by the maker, Brantix. Independent statistician Yusuf Demir called the results promising but warned that the follow-up of six months was short. Whether a booster is necessary is still being studied.
comparison | Did the vaccine work equally well in the elderly? | In people above 70, the vaccine worked [[worse||better]] than overall.
arithmetic | How many people were given the placebo? | The placebo was given to [[406||812]] people.
role | Who paid for the study? | The money for the trial came from [[Brantix||Dr. Calloway]].
question_or_quote | Is a booster needed? | Whether a booster is necessary [[has yet to be answered||has been settled by the study]].
table_cell | How many of the vaccinated had a mild fever? | Among those who got the vaccine, [[14||3]] percent had a mild fever.
conversion | How long was the follow-up? | Participants were observed for [[half a year||six years]].

# match
P: Ostmere United beat Calder Town 3-1 on Saturday. Femi Adeyo opened the scoring in the 12th minute, Jonas Pell equalised for Calder, and Adeyo's corner was headed in by captain Luke Barr before half-time. Substitute Ian Frost added the third. Calder's keeper was sent off in the 80th minute.
P: Ostmere are now second in the table, two points behind Wexley and one ahead of Calder. "I think we will win the league," said coach Marta Simms after the game. Ostmere's next match is away to Wexley on 9 November.
role | Who scored after the corner? | The second goal for Ostmere was headed in by [[Barr after a corner from Adeyo||Adeyo after a corner from Barr]].
question_or_quote | Will Ostmere win the league? | [[Their coach believes||It is certain]] that Ostmere will win the league.
order | What came first, Pell's goal or Frost's? | Pell scored [[before||after]] Frost did.
comparison | Which club is higher in the table, Wexley or Ostmere? | At the moment [[Wexley is above Ostmere||Ostmere is above Wexley]].
arithmetic | How many points separate Wexley and Calder? | Wexley leads Calder by [[three||four]] points.
name | Which team lost its keeper? | The keeper who was sent off played for [[Calder||Ostmere]].
"""
