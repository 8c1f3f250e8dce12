"""Hand-written English pairs, second half (format: see data_en.py)."""

DATA = r"""
# carhire
P: Drivers must be at least 21 and have held a licence for two years. Drivers under 25 pay a surcharge of 9 euros a day. The deposit of 300 euros is blocked on a credit card; debit cards are accepted only for the smallest class of car. Cars must come back with a full tank, otherwise we charge 40 euros plus the fuel.
P: Crossing borders: Austria and Slovenia may be entered with any car. For Croatia you need our written consent. Vans may go to Slovenia as well. A cross-border trip without consent voids the insurance.
scope | For which cars can I pay the deposit with a debit card? | A debit card will do for [[the smallest class||every class]] of car.
number | How long must I have had my licence? | You need a licence that is at least [[two||nine]] years old.
multi_hop | I am 23 and take a small car to Croatia for one day. What do I need and pay? | You have to obtain written consent for the trip. Because of your age, [[nine euros are||no surcharge is]] added to the bill.
paraphrase | What if I return the car with an empty tank? | [[You will be billed for the petrol and for a fee on top||Cars must come back with a full tank, otherwise we charge the fuel only]].
negation | Can I drive a van to Slovenia? | Taking a van into Slovenia is [[fine||forbidden]].
recombination | Where do I need consent? | Written consent is needed for [[Croatia, and Austria may be entered with any car||Austria, and Croatia may be entered with any car]].

# water
P: On Wednesday between 8 a.m. and 1 p.m. the water will be turned off in Quarry Lane and in the even-numbered houses of Station Road. A valve from 1956 has to be replaced. A tanker will stand at the chapel. After the work the water is certain to look brown for a while; it is harmless, but do not wash white laundry with it.
P: Residents of Hill Street keep their water but should expect low pressure. Questions: the waterworks can be reached on 0555 2210 until 6 p.m.; at night the emergency line is open.
scope | Which houses in Station Road have no water? | In Station Road, [[the houses with even numbers have||every house has]] to do without water.
hedge | Will the water be brown? | Brown water after the work is [[inevitable||possible, yet not certain]].
date | From what year is the valve? | The valve that is being exchanged dates from [[1956||1965]].
paraphrase | Is discoloured water dangerous? | [[It does you no harm, though it can spoil pale clothes||The water is harmless and you can wash white laundry with it]].
conversion | For how long is the water off? | The interruption is planned to last [[five||thirteen]] hours.
name | In which street is the pressure low? | Weak pressure is to be expected in [[Hill Street||Quarry Lane]].

# orchestra
P: The Tarn Valley Orchestra was founded in 1974 by the violinist Oskar Brandt and the teacher Helen Shaw. Shaw conducted it for eleven years; she was followed by Imre Vadas, under whom the orchestra toured Japan. Since 2012 it has been led by Noor Haddad, who had played second oboe under Vadas.
P: Two thirds of the members are amateurs. Rehearsals take place on Thursdays in the corn exchange, never during school holidays. Auditions are required for wind players but not for strings. A chamber group within the orchestra plays in hospitals.
role | Under whom did Haddad play the oboe? | Before leading the orchestra, [[Haddad played under Vadas||Vadas played under Haddad]].
order | Who conducted before Vadas? | Before Vadas took over, the conductor was [[Shaw||Haddad]].
quantifier | Are the players professionals? | [[The greater part||A third]] of the musicians play as a hobby.
negation | I play the cello. Do I have to audition? | String players are admitted [[without an audition||after an audition]].
number_format | What share of members are amateurs? | Roughly [[67||23]] percent of the members are not professionals.
recombination | Who founded the orchestra? | [[A violinist and a teacher set it up||An oboist and a conductor set it up]] in 1974.

# bees
P: A strong colony in June numbers about 40,000 bees; in January some 10,000 are left. Winter bees live for up to six months, summer bees for about six weeks. The queen lays up to 2,000 eggs a day in early summer. Drones are driven out of the hive in August.
P: "My grandfather swore that bees never sting before rain," says beekeeper Tom Ridley with a smile. "In fact they are more irritable then." Ridley harvests twice a year, at the end of May and in the middle of July.
question_or_quote | How do bees behave before rain? | As the beekeeper knows, bees [[are easier to provoke||never sting]] before rain.
comparison | Which bees live longer? | Bees born for the winter live [[longer||less long]] than those of the summer.
number_format | How many bees live in a strong colony in June? | In June, about [[forty||four]] thousand bees belong to a strong colony.
paraphrase | What happens to the males in late summer? | [[The workers throw them out||Drones are driven into the hive in August]].
arithmetic | By how many bees does the colony shrink between June and January? | From summer to midwinter, a colony loses about [[30,000||10,000]] bees.
date | When is the second harvest? | The second honey harvest falls in mid-[[July||August]].

# account
P: The Start account costs nothing if at least 700 pounds are paid in each month; otherwise the fee is 5 pounds a month. Withdrawals at our own machines are free; at other banks in the country they cost 1.50 pounds, abroad 2 percent of the amount but at least 4 pounds. Interest on an overdraft is 9.9 percent.
P: Customers can have an overdraft from the age of 16. A second card costs 10 pounds a year. Transfers ordered before 2 p.m. arrive the same day; those ordered later arrive on the next working day. We never ask for your PIN by telephone.
condition | Is the account free? | There is no monthly fee [[if enough money comes in||however little money comes in]] each month.
arithmetic | What does withdrawing 100 pounds abroad cost? | Taking out 100 pounds in another country costs [[four||two]] pounds.
direction_word | When does a transfer ordered at three in the afternoon arrive? | It arrives one working day [[later||earlier]] than one ordered at noon.
negation | Can a 16-year-old go into overdraft? | At the age of 16, customers [[may be granted||are not yet granted]] an overdraft.
number_format | What is the overdraft rate? | The bank charges [[just under ten||ninety-nine]] percent on an overdraft.
paraphrase | Someone called and asked for my PIN. Was that the bank? | [[It was not, since our staff do not request such codes on the phone||We ask for your PIN by telephone]].

# permit
P: Residents of zone C may apply for a parking permit. The first permit of a household costs 60 pounds a year, the second 110 pounds. A third is not issued. Visitors' vouchers come in books of ten and are valid for one day each. Electric cars park free of charge for the first three years after registration. Questions are answered by Lena Orr, complaints by Derek Platt.
P: Applications are made online; proof of address is required, but not the driving licence. The permit is issued within eight working days. Between Christmas and New Year the zones are not enforced. Blue badge holders need no permit in any zone.
negation | Do I need to show my driving licence? | When applying, you have to prove your address. Your driving licence is [[not asked for||asked for as well]].
comparison | Is the second permit dearer than the first? | A household pays [[more||less]] for its second permit than for its first.
quantifier | In which zones does a blue badge holder need a permit? | With a blue badge, you need a permit in [[none||some]] of the zones.
arithmetic | What do two permits cost a household in a year? | For both permits together, a household pays [[170||180]] pounds.
scope | Do electric cars park free of charge? | Parking an electric car costs nothing [[in the first three years after its registration||for as long as you own it]].
name | Whom do I ask about a permit? | If you have a question about permits, turn to [[Lena Orr||Derek Platt]].

# expedition
P: In March 1911 Captain Edwin Marr left Hobart on the ship Petrel with 27 men. The geologist Karl Voss and the cook Amos Bell were the first to set foot on the island, three days before Marr himself. In August two men froze to death on the glacier. The Petrel returned for the party in January 1912, five weeks late.
P: Voss's diary claims that Marr had been warned about the glacier by the whaler Jens Holm. Marr always denied it. The diary is now kept in Oslo, the ship's log in Hobart. A stamp of 1961 shows the Petrel, wrongly with three masts instead of two.
question_or_quote | Had Marr been warned about the glacier? | [[Voss wrote that||It is undisputed that]] Marr had been warned about the glacier.
order | Who reached the island first, Marr or Bell? | [[Bell stepped ashore before Marr||Marr stepped ashore before Bell]].
name | Where can one find the ship's log? | The log of the Petrel lies in [[Hobart||Oslo]].
role | Who is supposed to have warned whom? | In the diary, the warning goes [[from Holm to Marr||from Marr to Holm]].
number | How many masts did the Petrel have? | In reality, the Petrel had [[two||three]] masts.
date | When did the ship pick up the men? | The party was fetched in January [[1912||1911]].

# sync
P: DriftBox keeps deleted files for 30 days on the Personal plan and for 180 days on Team. Files over 20 GB can be uploaded only with the desktop program. Shared links expire after seven days unless the owner sets another date. A folder can be shared with up to 50 people; only its owner can delete it.
P: Selective sync is off by default. When two people edit a file at once, DriftBox keeps both versions and adds the word "conflict" to the name of the later one. Lost passwords can be recovered by support. The mobile app does not synchronise in the background on iOS.
table_cell | For how long can Team users restore a file? | On Team, deleted files are lost for good after [[180||30]] days.
condition | How can I upload a video of 25 GB? | The upload works [[if you use the desktop program||with the mobile app too]].
role | Who can delete a shared folder? | A shared folder can be removed by [[its owner||any of the 50 people]].
negation | Can support restore my password? | Support is [[able||unable]] to give you back a lost password.
paraphrase | What happens when colleagues change the same document simultaneously? | [[Neither copy is lost, and the newer one is renamed||DriftBox keeps the later version and deletes the other one]].
recombination | How long do links and deleted files last on Personal? | [[Links end after seven days, and deleted files are kept for 30||Links end after 30 days, and deleted files are kept for seven]].

# moss
P: Moss grows best in shade and in acid soil. It takes up water through its leaves, not through roots. In dry spells it turns brown but usually recovers within hours of the first rain. Spring and autumn are the best seasons for planting; in the first six weeks the patch must be kept moist.
P: Do not use lime, since it harms moss. Fallen leaves should be removed, at least in autumn. A lawn becomes a moss garden in two to three years. Some gardeners recommend brushing the patch with buttermilk; trials at Kew found no effect.
direction_word | Does lime help moss? | Lime makes moss grow [[worse||better]].
question_or_quote | Does buttermilk help moss to grow? | Buttermilk [[had no effect in trials, although some gardeners advise it||helps moss to grow, as trials at Kew found]].
hedge | Does brown moss recover? | After a drought, moss [[mostly||without exception]] turns green again with rain.
paraphrase | How does moss drink? | [[It absorbs moisture through its foliage||It takes up water through roots, not through its leaves]].
list_member | When should I plant moss? | The best times for planting are [[autumn||summer]] and spring.
order | When is watering most important? | The patch needs regular watering [[at the start||only after two years]], to keep it moist.

# ebike
P: The Corvid e-bike carries up to 130 kg including the rider. With the 500 Wh battery the range is 90 km in eco mode and 45 km in sport mode. The motor assists up to 25 km/h. Charging takes 4.5 hours; a charge to 80 percent takes two and a half hours. The bike weighs 23 kg.
P: Have the bike serviced after the first 300 km, then every 2,000 km or once a year. Do not clean it with a pressure washer. The battery should be stored at 10 to 20 degrees and neither full nor empty. The key for the battery also fits the lock.
unit | How heavy may rider and luggage be? | The load on the Corvid is limited to 130 [[kilograms||pounds]].
direction_word | Up to what speed does the motor help? | The motor helps as long as you ride [[slower||faster]] than 25 km/h.
comparison | In which mode do I get farther? | You get farther in [[eco||sport]] mode.
conversion | How far do I get in sport mode, in metres? | In sport mode, a battery lasts for [[45,000||4,500]] metres.
arithmetic | How long does it take to charge the last 20 percent? | The final fifth of the charge needs [[two||three]] hours.
condition | When is the next service after 300 km? | Another service is due [[after 2,000 km or a year||after 2,000 km, even if a year has passed]].

# lighthouse
P: The lighthouse of Cape Ivo is 41 metres high and was completed in 1867. Until 1932 it burned rapeseed oil, then petroleum, and since 1961 it has been electric. The last keeper, Rosa Mellin, left in 1988. Her daughter Clara now guides visitors up the 197 steps. The light can be seen for 22 nautical miles.
P: The lamp flashes twice every 15 seconds. The fog horn was switched off in 2004 after neighbours had complained. The outbuilding houses a small café, open from Easter to October; the tower itself can be visited all year, in winter on Sundays only.
order | Which fuel came first, petroleum or oil? | Petroleum was burned [[after||before]] rapeseed oil.
unit | How far can one see the light? | The light reaches 22 [[nautical miles||metres]].
name | Who shows people the tower today? | Visitors are guided by [[Clara||Rosa]] Mellin.
arithmetic | How long did petroleum light the lamp? | For [[29||39]] years, the lamp burned petroleum.
conversion | How many flashes are there in one minute? | Within one minute, the lamp flashes [[eight||fifteen]] times.
scope | When can I visit the tower in winter? | In winter, the tower is open [[on Sundays||every day]].

# theatre
P: "The Glass Orchard" by Dana Whitlow premieres on 12 October at the Lyric. It tells of two sisters who inherit a farm; the elder, Ruth, wants to sell it to the younger one's former husband. Whitlow wrote the play in four weeks. The director is Ben Asher, the set is by Kiko Tanaka.
P: All of the performances are signed. Latecomers are admitted at the interval only. Tickets cost between 12 and 48 pounds; people under 26 pay half price on weekdays. The theatre bar opens an hour before the play starts. Twelve performances are planned.
role | To whom does Ruth want to sell the farm? | In the play, Ruth wants the farm to go to [[her sister's ex-husband||her own ex-husband]].
quantifier | Are the performances interpreted into sign language? | A sign language interpreter is present [[every night||only on certain nights]].
direction_word | When does the bar open? | One can get a drink from one hour [[prior to||after]] the beginning of the play.
arithmetic | What is the lowest price for a student of 20 on a Tuesday? | On a Tuesday, the cheapest seat costs a 20-year-old [[6||12]] pounds.
condition | Who pays half price? | Those below 26 pay half [[from Monday to Friday||on any day of the week]].
recombination | Who made the set and who directs? | [[Tanaka designed the set and Asher directs||Asher designed the set and Tanaka directs]].

# warehouse
P: Safety rules for hall 3: helmets must be worn in the whole hall, hearing protection only at the shredder. Forklift trucks have right of way over pedestrians. Shelves may be loaded with up to 800 kg per level. Visitors must be accompanied at all times. Fire drills take place twice a year, without warning.
P: Report every accident to the shift supervisor at once, even if nobody was hurt. Emergency exits must never be blocked, not even for a moment. First-aid boxes hang at gates 1 and 4 and in the office. Only staff with a forklift certificate may drive the trucks.
scope | Where do I need a helmet? | A helmet is compulsory [[throughout hall 3||at the shredder only]].
role | Who gives way to whom? | [[Pedestrians give way to forklift trucks||Forklift trucks give way to pedestrians]].
condition | Must I report an accident in which nobody was injured? | An accident has to be reported [[whether or not||only if]] somebody was injured.
quantifier | May I block an emergency exit for a minute? | An emergency exit may be blocked [[at no time||at some times]].
unit | What load can one level take? | Each level of a shelf bears 800 [[kilos||tonnes]].
list_member | Where do I find first-aid boxes? | First-aid boxes are in the office and at gates [[1 and 4||3 and 4]].

# lawsuit
P: The district court of Salford ordered the shipping firm Merrow to pay the fishers' union 2.3 million pounds. In August 2021 Merrow's tanker Alba had lost 60 tonnes of diesel off Point Lanner. The union had demanded 4 million. Merrow's lawyer, Greta Hull, said that an appeal was filed on Friday.
P: The judge, Samuel Oke, found that the captain had ignored two warnings. He rejected the claim that the pilot, Ivan Petrescu, shared the blame. "Was the radar faulty?" the defence had asked; an expert had found no defect. The judgment is not yet final.
role | Who has to pay whom? | Under the judgment, money goes from [[Merrow to the union||the union to Merrow]].
question_or_quote | Did the Alba's radar work? | The radar was [[in order, according to an expert||faulty, according to an expert]].
hedge | Will Merrow appeal? | Merrow [[has lodged||is only considering]] an appeal.
number_format | How much did the court award? | The fishers were awarded [[2,300,000||23,000,000]] pounds.
name | Which person was cleared of blame? | The court saw no fault in [[Petrescu||the captain]].
comparison | Did the union get what it wanted? | The sum awarded was [[smaller||larger]] than the one that the union had demanded.

# river
P: Biologists counted fish in the river Aune at five places from 2010 to 2020. Trout became fewer at four of the five; only near the spring did their number rise. Eels disappeared from the lower course. Grayling did not change. The water was on average 1.6 degrees warmer in 2020 than in 2010.
P: The authors suspect that the heat drives the trout upstream, yet the dam at Morley, finished in 2014, might play a part as well. Oxygen was not measured. A new count is planned for 2027, with eight places instead of five.
quantifier | Did the trout decline? | The trout declined at [[most||all]] of the places.
direction_word | What happened to the trout near the spring? | Near the spring, the trout became [[more||less]] numerous.
hedge | Is the dam to blame? | The dam [[possibly contributes||is the proven cause]], as the authors see it.
negation | What about the oxygen in the water? | The oxygen in the water was [[left unmeasured||measured at five places]].
date | When will the fish be counted again? | Another count is to take place in [[2027||2020]].
list_member | Which fish kept their numbers? | The stock of [[grayling||eels]] remained the same.

# election
P: Result in Dunmoor: Ada Ferris (Labour) 11,240 votes, Hugh Colby (Conservative) 10,870, Siobhan Rae (Greens) 4,115, others 1,020. Turnout was 61 percent, five points more than in 2019. Ferris had lost to Colby in 2019 by 900 votes. Postal votes were counted last.
P: Colby asked for a recount, which confirmed the result. The Greens more than doubled their share. In the neighbouring district of Eastwick, Labour lost the seat to an independent, the doctor Lionel Marsh.
arithmetic | How large was Ferris's lead? | Ferris was [[370||470]] votes ahead of Colby.
comparison | Was turnout higher in 2019? | In 2019, turnout was [[lower||higher]] than this time.
role | Who beat whom in 2019? | Turnout was lower in 2019. That year [[Colby beat Ferris||Ferris beat Colby]].
table_cell | How many votes did the Green candidate get? | The Green candidate received [[4,115||1,020]] votes.
name | Who won Eastwick? | The seat of Eastwick went to [[Marsh||Colby]].
multi_hop | Did Labour win both districts? | Labour carried Dunmoor. In Eastwick, Labour was [[beaten||victorious]].

# trainee
P: Apprentices at Ferrocast earn 740 pounds a month in the first year, 850 in the second and 980 in the third. They spend two days a week at college and three in the workshop. Those with good marks can shorten the training from three years to two and a half. Safety boots and tools are provided.
P: Applications for September are accepted until 15 March. A school-leaving certificate is required; grades in art do not matter. Of last year's 24 apprentices, 21 were taken on. Shift work begins in the second year and is never done by apprentices under 18.
table_cell | What does an apprentice earn in the third year? | In the last year, the monthly pay is [[980||850]] pounds.
number | How many days a week are spent at college? | Each week has [[two||three]] days of college.
conversion | How long is the full training in months? | Without shortening, the training takes [[36||30]] months.
negation | What about boots and tools? | Apprentices get safety boots. Their tools they [[receive as well||have to buy themselves]].
quantifier | Were last year's apprentices taken on? | The firm kept [[nearly all||all]] of its apprentices from last year.
condition | Can I finish early? | You can finish in two and a half years [[if your marks are good||regardless of your marks]].

# tea
P: Green tea is heated right after picking, so that it does not oxidise; black tea is left to wither, then rolled and oxidised, and dried last. Oolong lies between the two. Brew green tea at 70 to 80 degrees for two minutes, black tea with boiling water for three to four.
P: Green tea of the Sencha type usually contains less caffeine than black tea, but Gyokuro can contain more. A second infusion is common for green tea and oolong. The Ambrook tea shop sells 48 kinds; all of its Darjeelings are organic, and some of its Assams.
order | What is done with black tea before rolling? | Black tea withers [[before||after]] it is rolled.
comparison | Which tea needs the hotter water? | [[Black||Green]] tea needs the hotter water.
quantifier | Are the shop's Assam teas organic? | Organic farming is behind [[a part||the whole]] of the Assam range.
scope | Do the shop's organic teas include every Darjeeling? | Every [[Darjeeling||tea]] in the shop is organic.
paraphrase | Which tea sits in the middle as to oxidation? | [[Oolong is halfway from one kind to the other||Black tea lies between green tea and oolong]].
hedge | Does Gyokuro contain more caffeine than black tea? | Gyokuro [[may have||always has]] more caffeine than black tea.

# garden_centre
P: Opening hours of Fernley's garden centre\n| | March to June | July to February |\n| Monday-Friday | 8:30-19:00 | 9:00-18:00 |\n| Saturday | 8:00-18:00 | 9:00-16:00 |\n| Sunday | 10:00-14:00 | closed |
P: Delivery within 15 miles is 12 pounds and free for orders above 150 pounds. Plants come with a guarantee of one year, roses with two; annuals have none. The guarantee does not apply to frost damage. Gift cards are valid for three years and cannot be exchanged for cash.
table_cell | When does the centre shut on a Saturday in October? | On an October Saturday, the doors close at [[4||6]] p.m.
condition | Is delivery free? | You pay nothing for delivery [[when you order for more than 150 pounds||when you live within 15 miles]].
comparison | Which guarantee is longer, that on roses or that on other plants? | Roses have a [[longer||shorter]] guarantee than other perennials.
multi_hop | Can I bring back a rose on a Sunday in August, 18 months after buying it? | The rose is still under guarantee at that age. On that day, the centre is [[shut||open]].
negation | Can I have the value of a gift card in cash? | A gift card is [[good for goods, not for||also good for]] cash.
unit | How far away may I live for the 12-pound delivery? | For 12 pounds they deliver no farther than 15 [[miles||kilometres]].

# archive
P: The town archive of Wessing was founded in MCMXXVI. It holds 3.2 kilometres of files, the oldest of them a charter of 1287-03-09. In 1945 a fire destroyed about a fifth of the stock. The building has 14 rooms; a further one thousand two hundred maps are kept in the castle.
P: Readers may order up to eight files a day. Digitisation began in 2015; by the end of 2023, 640,000 pages were online. Volunteers, who number two dozen, transcribe church registers of the 17th century.
number_format | In what year was the archive founded? | The archive has existed since [[1926||1946]].
number_format | From what date is the oldest charter? | The oldest charter is dated [[9 March||3 September]] 1287.
number_format | How many maps are in the castle? | The castle keeps [[1,200||12,000]] maps.
number_format | How many volunteers are there? | The registers are transcribed by [[24||12]] volunteers.
number_format | How many pages could be read online at the end of 2023? | At the end of 2023, the web had [[0.64 million||6.4 million]] pages from the archive.
conversion | How long would the files be in metres? | Put in a row, the files would stretch for [[3,200||320]] metres.

# stadium
P: The new ice stadium in Varnby seats 4.5k people and opened on 2021/11/06. It cost €38m, three million more than planned. The old hall had 2,900 seats. In its first season the stadium drew 103,500 visitors. The roof weighs 1.150 tonnes according to the Swedish fact sheet, which uses the dot to group thousands.
P: Sections A to D are for home fans, E for guests. Chapter IV of the house rules bans bottles, chapter VI regulates the lost-property office. Lost things are kept for half a year.
number_format | How many seats does the stadium have? | In the stadium, [[4,500||45,000]] spectators find a seat.
number_format | When was the stadium opened? | The opening was on [[6 November||11 June]] 2021.
number_format | In which chapter are bottles banned? | Bottles are dealt with in chapter [[four||six]].
arithmetic | What was the planned cost? | The budget originally stood at [[35||41]] million euros.
unit | How heavy is the roof? | The roof weighs some 1,150 [[tonnes||kilograms]].
comparison | Is the new stadium larger than the old hall? | The new stadium offers [[more||fewer]] seats than the old hall.

# railcard
P: The Coastcard costs 70 pounds and gives a third off all off-peak fares for a year. It is sold to people aged 60 or over. It is not valid before 9:30 on working days, nor on the night trains. A lost card is replaced once for 10 pounds.
P: The Junior Coastcard costs 30 pounds and is sold to those aged 16 to 25; it gives a quarter off and is valid at any hour. Neither card may be lent to others. Online orders get the card within a week, at station counters it is issued at once.
multi_hop | I am 62 and my nephew is 20. Who of us saves more on an off-peak fare? | Off-peak, the bigger discount is the one on the card of the [[62-year-old||20-year-old]].
multi_hop | How much dearer is the senior card than the junior one? | The card for older people costs [[40||70]] pounds more than the one for the young.
unit | How long is the Coastcard valid? | The discount runs for one [[year||week]].
direction_word | On a Monday, from when can I use the Coastcard? | On Mondays, you must board [[later||earlier]] than half past nine.
role | May I lend my card to my brother? | The card may be used by [[its holder only||the holder's brother too]].
paraphrase | How quickly do I get the card if I buy it in person? | [[It is handed over straight away||It is issued within a week at station counters]].

# compost
P: Kitchen waste such as peel, coffee grounds and eggshells belongs on the compost; cooked food and meat do not, as they attract rats. The heap needs air: turn it every six weeks. In a warm summer the compost is ready after six months, otherwise after nine to twelve.
P: A reader asks: "Should I add worms from the fishing shop?" Our gardener Nell Fox answers: "There is no need, they come by themselves." Another reader is convinced that citrus peel poisons the soil. Fox: "Small amounts do no harm at all."
question_or_quote | Is it necessary to buy worms for the compost? | In the gardener's opinion, buying worms is [[superfluous||a good idea]].
question_or_quote | Does citrus peel poison the soil? | According to Fox, a little citrus peel [[does not hurt||poisons]] the soil.
list_member | What may go on the heap? | You may compost coffee grounds and [[eggshells||cooked food]].
paraphrase | How do I let the heap breathe? | [[Shift the material around about eight times a year||The heap needs no air: turn it every six months]].
date | How soon is the compost ready after a warm summer? | If it is warm, the compost can be used after [[six||nine]] months.
recombination | Why should meat stay off the heap? | [[Meat draws rats||Coffee grounds draw rats]], which is why it is left out.

# glider
P: The glider pilot Sofia Brenner flew 1,008 km in a single day on 14 May 2019, starting in Aalen and landing in Aalen again. Her brother Max had flown 770 km in 2016. Sofia learned to fly from her aunt Helga, who had been taught by Max's trainer, Udo Kern.
P: Before that flight the women's record of the club was 845 km, set by Helga in 1998. The newspaper wrote: "Could Sofia reach 1,200 km next year?" Bad weather grounded her for most of 2020.
role | Who taught Sofia to fly? | Sofia had her flying lessons from [[Helga||Udo Kern]].
multi_hop | By how much did Sofia beat her aunt's record? | Sofia flew [[163||238]] km farther than her aunt had.
question_or_quote | Did Sofia fly 1,200 km in 2020? | A flight of 1,200 km was [[only a question in the newspaper||flown by Sofia in 2020]].
name | Who flew 770 km? | The flight of 770 km was made by [[Max||Helga]].
date | When did Helga set her record? | The aunt's record dates from [[1998||2016]].
recombination | What is known of Kern? | [[Kern had trained Helga and Max||Helga and Max had trained Kern]].

# clinic
P: Dr. Amrit Gill sees patients on Mondays and Thursdays, Dr. Lucy Stone on Tuesdays and Fridays. On Wednesdays the surgery is closed in the afternoon and Dr. Stone makes house calls in the morning. Prescriptions can be ordered by telephone until 11 a.m. and collected from 4 p.m. on the same day.
P: New patients are accepted wherever they live, not only from Ashford and Denby. Blood samples are taken from 7:30 to 9:00. Please come to a blood test without having eaten for twelve hours; water is allowed. Vaccinations for travel are given by the nurse, Pat Quill, not by the doctors.
table_cell | Who sees patients on Fridays? | On Fridays, patients are seen by Dr. [[Stone||Gill]].
role | Who gives travel vaccinations? | A jab before a trip is given by the [[nurse||doctors]].
paraphrase | May I drink something before the blood test? | [[Plain water is fine, though meals are off limits||You may have eaten before a blood test if it is within twelve hours]].
direction_word | Can I fetch a prescription at three? | You can pick it up [[from four o'clock on||up to four o'clock]].
scope | Who can become a new patient? | The surgery takes new patients [[no matter where their home is||only if they live in Ashford or Denby]].
recombination | What do the doctors do on Wednesdays? | On Wednesday mornings, [[Dr. Stone visits people at home||Dr. Gill makes house calls]].

# bakery
P: In 1948 the brothers Piet and Jan Mulder opened a bakery in Kampen. Piet baked; Jan kept the books. When Piet died in 1971, his widow Greet took over the oven and Jan retired soon afterwards. Greet sold the shop in 1990 to her apprentice, Yara Osman, who has since opened two branches.
P: The bakery is known for its saffron bread, which only Greet's recipe contains with cardamom. It sells about 300 of the loaves on a Saturday and half as many on weekdays. A loaf costs 3.80 euros.
order | Who left the business first, Jan or Greet? | [[Jan stopped before Greet||Greet stopped before Jan]].
name | Who did the accounts? | The books were in the hands of [[Jan||Piet]].
arithmetic | How many saffron loaves are sold on a Tuesday? | On a Tuesday, around [[150||300]] of the saffron loaves are sold.
number | How many shops has Yara Osman added? | Osman has added [[two||three]] branches.
multi_hop | What is the name of the apprentice who bought the bakery known for saffron bread? | The shop with the saffron bread was bought by [[Yara Osman||Greet Mulder]].
date | When did the business pass to Osman? | The shop changed hands in [[1990||1971]].

# desert
P: The Karal desert receives 90 millimetres of rain a year, most of it in winter. By day the sand reaches 65 degrees; at night the air can fall below freezing. The darkling beetle drinks fog that settles on its back. About 400 families of herders live at the northern edge.
P: Bones prove that traders brought camels in the ninth century. In the south a lake filled the basin until about 5,000 years ago. Oil was found in 1973, but drilling stopped in 1991 because it did not pay.
unit | How much rain falls in the Karal? | In one year, 90 [[millimetres||centimetres]] of rain fall.
hedge | When did camels arrive? | That camels arrived in the ninth century is [[well established||only a guess]].
conversion | How much is the yearly rain in centimetres? | The annual rainfall equals [[9||90]] centimetres.
paraphrase | How does the beetle get water? | [[Mist condenses on its body, and it swallows the drops||The beetle drinks rain that settles on its back]].
negation | Is oil still being drilled? | Drilling for oil has [[been given up||gone on since 1973]].
scope | Where do herders live? | The herders live [[on the northern margin||in all parts of the desert]].
"""
