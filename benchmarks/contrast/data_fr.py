"""Hand-written French pairs (format: see data_en.py)."""

DATA = r"""
# machine_a_laver
P: Le lave-linge Ondine 7 accepte 7 kg de coton, 4 kg de synthétique et 2 kg de laine. Le cycle rapide dure 29 minutes et ne convient pas aux textiles très sales. Nettoyez le filtre tous les deux mois. Ne mettez jamais de javel dans le bac à lessive.
P: Le moteur est garanti dix ans, la carte électronique trois ans, les joints un an. Un essorage trop fort peut abîmer la laine. En cas de panne, présentez la facture et l'emballage. Le technicien vient sous 72 heures dans les communes du département.
table_cell | Combien de synthétique peut-on laver ? | Pour le synthétique, la limite est de [[4||7]] kg.
conversion | Sous combien de jours le technicien vient-il ? | Un réparateur passe chez vous au bout de [[trois||deux]] jours au plus.
hedge | L'essorage abîme-t-il la laine ? | Un essorage violent [[risque d'endommager||endommage toujours]] la laine.
list_member | Que ne faut-il pas verser dans le bac ? | Il ne faut pas y verser [[de javel||de lessive]].
negation | Faut-il garder le carton ? | Il faut montrer la facture. Le carton [[est aussi||n'est pas]] exigé.
comparison | Qu'est-ce qui est garanti le plus longtemps ? | La carte électronique est garantie [[moins||plus]] longtemps que le moteur.

# piscine
P: Horaires de la piscine des Ormes\nLundi : 12 h - 14 h\nMardi et jeudi : 7 h - 20 h\nMercredi : 9 h - 19 h\nVendredi : 12 h - 21 h 30\nSamedi et dimanche : 9 h - 17 h
P: L'évacuation des bassins a lieu vingt minutes avant la fermeture. L'entrée coûte 4,20 euros, la carte de dix entrées 35 euros. Les enfants de moins de huit ans doivent être accompagnés d'un adulte. Le bonnet est obligatoire, les shorts sont interdits. Le sauna est réservé aux abonnés.
table_cell | Jusqu'à quelle heure la piscine est-elle ouverte le mercredi ? | Le mercredi, elle ferme à [[19 h||20 h]].
multi_hop | À quelle heure faut-il sortir de l'eau le jeudi ? | Le jeudi, les nageurs quittent l'eau à [[19 h 40||20 h]].
arithmetic | Combien économise-t-on avec la carte sur dix entrées ? | Par rapport à dix tickets, la carte fait gagner [[7||35]] euros.
scope | Qui peut aller au sauna ? | Le sauna accueille [[les personnes abonnées||toutes les personnes]].
condition | Mon fils de sept ans peut-il venir ? | À sept ans, on entre [[si une grande personne est présente||sans être accompagné d'un adulte]].
paraphrase | Peut-on nager tête nue ? | [[Non, chacun doit se couvrir les cheveux||Oui, le bonnet est interdit et les shorts sont obligatoires]].

# conges
P: Les salariés de Pavillon SA ont 27 jours de congés payés ; s'y ajoutent deux jours après huit ans d'ancienneté. Le congé principal, de douze jours au moins, se prend entre mai et octobre. C'est le chef d'équipe qui valide les demandes ; la direction est seulement informée.
P: Les jours non pris sont perdus le 31 mai, sauf en cas d'arrêt maladie. Un mariage donne droit à quatre jours, un déménagement à un seul. Les saisonniers n'ont pas de jours pour déménagement. La plupart des services ferment entre Noël et le Nouvel An.
role | Qui accepte les demandes de congés ? | L'accord est donné par [[le chef d'équipe||la direction]].
arithmetic | J'ai dix ans d'ancienneté. Combien de jours ai-je ? | Avec cette ancienneté, vous disposez de [[29||35]] jours.
date | Quand perd-on les jours qui restent ? | Le solde disparaît fin [[mai||octobre]].
quantifier | Les services ferment-ils à Noël ? | Entre les fêtes, [[la majorité||l'ensemble]] des services est à l'arrêt.
number | Combien de jours a-t-on pour se marier ? | Celui qui se marie obtient [[quatre||huit]] jours.
scope | Qui n'a pas de jour pour déménager ? | Le jour de déménagement est refusé [[aux saisonniers||à tous les salariés]].

# bac
P: Le bac de Port-Lazare à l'île d'Aubrac part d'avril à septembre à 7 h 45, 10 h 20, 14 h et 17 h 30. La traversée dure 25 minutes. Les chiens voyagent gratuitement sur le pont mais pas dans le salon. Les vélos paient 3 euros.
P: L'hiver, le bac ne circule que le mercredi, le vendredi et le dimanche. Au-delà de force 7, le service est suspendu ; la capitainerie l'annonce avant 6 h 30. Toutes les traversées sont assurées par un catamaran. Une voiture coûte 24 euros, et son conducteur paie en plus.
arithmetic | À quelle heure arrive le bac de 10 h 20 ? | Le bac de 10 h 20 accoste à [[10 h 45||10 h 55]].
list_member | Quels jours peut-on traverser en février ? | En février, on traverse le mercredi, le [[vendredi||samedi]] et le dimanche.
direction_word | Quand sait-on si le bac est annulé ? | La capitainerie le fait savoir [[avant||après]] six heures et demie.
quantifier | La traversée se fait-elle en catamaran ? | Un catamaran assure [[l'ensemble||seulement une partie]] des traversées.
negation | Le conducteur paie-t-il en plus de la voiture ? | Une voiture coûte 24 euros. Son conducteur [[a encore un billet||n'a pas de billet]] à payer.
number | Combien de départs y a-t-il en juillet depuis Port-Lazare ? | En juillet, il y a [[quatre||sept]] départs par jour.

# sirop
P: Sirop Calmiral : adultes, 15 ml trois fois par jour ; enfants de 6 à 12 ans, 5 ml trois fois par jour. Ne pas donner avant six ans. Ne pas dépasser cinq jours de traitement. Après ouverture, le flacon se garde six mois à moins de 30 degrés, hors du réfrigérateur.
P: Effets indésirables. Fréquents : somnolence. Peu fréquents : nausées, constipation. Rares : éruption cutanée. Le sirop pourrait diminuer l'effet de certains antibiotiques. Les personnes diabétiques doivent tenir compte du sucre qu'il contient. Il ne contient ni alcool ni lactose.
table_cell | La constipation est-elle courante ? | La constipation est un effet [[peu fréquent||fréquent]].
arithmetic | Quelle quantité un adulte prend-il par jour ? | Sur une journée, un adulte prend [[45||50]] ml de sirop.
hedge | Le sirop agit-il sur les antibiotiques ? | L'effet de certains antibiotiques [[serait peut-être||est dans tous les cas]] amoindri.
unit | Quelle est la dose d'un enfant de neuf ans ? | À cet âge, on donne 5 [[millilitres||centilitres]] par prise.
paraphrase | Où conserver le flacon ? | [[Dans un placard, à l'abri de la forte chaleur, et non au frigo||Le flacon se garde six mois au réfrigérateur]].
list_member | De quoi le sirop est-il exempt ? | Il est exempt de lactose et [[d'alcool||de sucre]].

# halle
P: La mairie de Saint-Ebrard ferme la halle le 12 janvier pour refaire la charpente. L'entreprise Boisnard a été retenue pour 460 000 euros ; sa concurrente Charpentes Vialle demandait 38 000 euros de plus. La région paie la moitié. Le marché s'installe place des Tilleuls.
P: L'adjointe Mireille Aubin a refusé l'idée du commerçant Luc Ferrand, qui voulait chauffer la halle. « La halle va-t-elle s'effondrer ? » demandait jeudi un hebdomadaire. L'architecte assure qu'il n'y a aucun danger. Les travaux devraient durer sept mois.
name | Quelle entreprise fera les travaux ? | La charpente sera refaite par [[Boisnard||Vialle]].
arithmetic | Combien paie la région ? | La part de la région s'élève à [[230 000||460 000]] euros.
role | Qui voulait chauffer la halle ? | Le chauffage était [[une idée de Ferrand, et Aubin||une idée d'Aubin, et Ferrand]] n'en a pas voulu.
question_or_quote | La halle menace-t-elle de s'effondrer ? | Le danger [[est nié par l'architecte||est confirmé par l'architecte]].
hedge | Combien de temps dureront les travaux ? | Les travaux prendront [[sans doute||obligatoirement]] sept mois.
number_format | Combien coûtent les travaux ? | Le chantier revient à [[0,46||4,6]] million d'euros.

# faiencerie
P: Fondée à Nevrac en 1876 par Léonie Castan et le chimiste Paul Reboul, la faïencerie fit d'abord des carreaux, puis des services de table à partir de 1890. Reboul partit en 1902 pour le Canada. Après l'inondation de 1930, l'usine déménagea à Tourlans, où travaillèrent jusqu'à 280 personnes.
P: En 1974, le groupe danois Havn acheta la marque et céda l'atelier de carreaux à l'ancien contremaître Yves Morin. L'usine ferma en 1989. Environ un quart des moules est au musée de Tourlans ; les autres ont été détruits.
order | Que fabriquait-on d'abord ? | La maison passa [[des carreaux à la vaisselle||de la vaisselle aux carreaux]].
date | Quand Reboul est-il parti ? | Le départ de Reboul date de [[1902||1890]].
role | Qui a cédé l'atelier à qui ? | L'atelier de carreaux est passé [[de Havn à Morin||de Morin à Havn]].
multi_hop | Pendant combien d'années l'usine a-t-elle été à Tourlans, si elle y est arrivée en 1930 ? | L'usine est restée à Tourlans [[59||44]] ans.
recombination | Que s'est-il passé en 1930 ? | [[Une inondation a frappé Nevrac, et l'usine est allée à Tourlans||Une inondation a frappé Tourlans, et l'usine est allée à Nevrac]].
quantifier | Les moules ont-ils été conservés ? | On conserve [[une minorité||la majorité]] des moules.

# loutres
P: Des chercheurs de Limoges ont suivi 34 loutres munies d'émetteurs. La plupart des femelles sont restées sur moins de dix kilomètres de rivière ; quelques mâles seulement en ont fait autant. Le record est de 61 km. Les loutres chassaient surtout entre le crépuscule et minuit.
P: Les auteurs supposent que les barrages gênent les jeunes, sans l'avoir vérifié. Six loutres ont été tuées par des voitures, deux par des chiens. L'étude a été financée par l'agence de l'eau et non par les pêcheurs. En 2021, on en comptait deux fois plus qu'en 2011.
quantifier | Les femelles sont-elles restées sur une courte distance ? | Moins de dix kilomètres ont suffi à [[plus de la moitié||la totalité]] des femelles.
hedge | Les barrages gênent-ils les jeunes ? | La gêne causée par les barrages est [[une hypothèse||un fait vérifié]].
number | Combien de loutres ont été tuées par des chiens ? | Des chiens ont tué [[deux||six]] loutres.
comparison | Comment la population a-t-elle évolué ? | En 2011, les loutres étaient [[moins||plus]] nombreuses que dix ans après.
role | Qui a payé l'étude ? | L'argent venait [[de l'agence de l'eau||des pêcheurs]].
paraphrase | Quand chassaient-elles ? | [[Elles cherchaient leurs proies dans la première partie de la nuit||Les loutres chassaient surtout entre minuit et le crépuscule]].

# clafoutis
P: Pour le clafoutis : 600 g de cerises, 120 g de farine, 100 g de sucre, quatre œufs, 300 ml de lait et une pincée de sel. Battez d'abord les œufs et le sucre, ajoutez la farine, puis le lait. Laissez reposer la pâte une heure. Cuisson : 40 minutes à 180 degrés.
P: On ne dénoyaute pas les cerises : les noyaux donnent du goût. Le beurre n'est pas indispensable, sauf pour le moule. On peut remplacer les cerises par des prunes. Servez tiède ; le clafoutis se garde deux jours au frais et ne se congèle pas.
order | Quand ajoute-t-on le lait ? | Le lait se verse [[après||avant]] la farine.
unit | Combien de lait faut-il ? | Comptez 300 [[millilitres||centilitres]] de lait.
negation | Faut-il enlever les noyaux ? | Il faut 600 g de cerises. Leurs noyaux [[restent dedans||sont à enlever]].
list_member | Que met-on dans la pâte ? | Dans la pâte, il y a des œufs, du sucre, de la farine et [[du lait||du beurre]].
condition | À quoi sert le beurre ? | Le beurre sert [[seulement à graisser le plat||à la fois pour la pâte et pour le moule]].
arithmetic | Combien de temps passe-t-on à attendre, repos et cuisson ensemble ? | Repos et cuisson demandent ensemble [[100||40]] minutes.

# location
P: Pour louer chez Mobivan, il faut avoir 22 ans et trois ans de permis. Les moins de 25 ans paient 8 euros de plus par jour. La caution est de 500 euros pour une voiture et de 900 pour un fourgon. Le second conducteur est gratuit. Au-delà de 200 km par jour, chaque kilomètre coûte 0,20 euro.
P: Les voitures peuvent rouler en Suisse et en Belgique ; les fourgons ne doivent pas quitter la France. L'annulation est gratuite jusqu'à deux jours avant le départ. Sans plein au retour, on facture l'essence et 30 euros de service. Les animaux voyagent en cage.
number | Depuis combien de temps faut-il avoir le permis ? | Le permis doit avoir au moins [[trois||huit]] ans.
table_cell | Quelle est la caution d'un fourgon ? | Pour un fourgon, on bloque [[900||500]] euros.
arithmetic | J'ai fait 260 km en un jour. Combien dois-je en plus ? | Les kilomètres en trop vous coûtent [[12||24]] euros.
negation | Peut-on aller en Belgique avec un fourgon ? | Les voitures peuvent y aller. Les fourgons [[n'y ont pas droit||le peuvent aussi]].
conversion | Jusqu'à quand l'annulation est-elle gratuite ? | L'annulation devient payante à moins de [[48||72]] heures du départ.
multi_hop | J'ai loué une voiture et mis 500 euros de caution. Puis-je aller en Suisse ? | Avec ce que vous avez loué, le voyage en Suisse est [[possible||interdit]].

# theatre
P: « Le Sel des pierres », de Joëlle Marchetti, se joue au Théâtre du Quai à partir du 6 décembre. La mise en scène est d'Arnaud Belin, la musique de Sonia Kadri. La pièce raconte comment une institutrice dénonce son frère, voleur de cloches. Durée : une heure trente-cinq.
P: Les places coûtent 22 euros, 11 le mardi. Le directeur du théâtre estime que la pièce « restera dans l'histoire ». Quelques représentations sont surtitrées. La troupe, née à Brest en 2009, s'est installée à Nantes en 2015. Les retardataires attendent la fin du premier acte.
role | Qui dénonce qui ? | Dans la pièce, [[la sœur dénonce le frère||le frère dénonce la sœur]].
conversion | Combien de minutes dure la pièce ? | La représentation dure [[95||135]] minutes.
question_or_quote | La pièce restera-t-elle dans l'histoire ? | Que la pièce reste dans l'histoire, [[le directeur le croit||c'est une certitude]].
recombination | Qui met en scène et qui compose ? | [[Belin met en scène et Kadri signe la musique||Kadri met en scène et Belin signe la musique]].
order | Où la troupe était-elle avant Nantes ? | La troupe a quitté [[Brest pour Nantes||Nantes pour Brest]].
direction_word | Peut-on entrer en retard ? | Celui qui est en retard entre [[après||avant]] la fin du premier acte.

# nuage
P: Cumulo garde les fichiers effacés 20 jours avec l'offre Perso et 100 jours avec l'offre Équipe. Au-dessus de 8 Go, l'envoi est possible avec le logiciel de bureau ou le navigateur. Les liens de partage expirent au bout de 96 heures, sauf réglage contraire du propriétaire.
P: Un dossier peut être partagé entre 30 personnes ; seul celui qui l'a créé peut le supprimer. L'assistance ne peut pas retrouver un mot de passe. L'enquête a confirmé que la panne de mai est due à une mise à jour. Les serveurs sont en Islande et en Norvège.
table_cell | Combien de temps garde-t-on les fichiers effacés avec l'offre Équipe ? | Avec cette offre, ils sont perdus au bout de [[100||20]] jours.
conversion | Combien de jours un lien est-il valable ? | Si rien n'est réglé, un lien marche [[quatre||huit]] jours.
role | Qui peut supprimer un dossier partagé ? | La suppression revient [[au créateur||à chacune des 30 personnes]].
condition | Comment envoyer 9 Go ? | L'envoi marche [[aussi depuis le navigateur||seulement avec le logiciel de bureau]].
hedge | D'où vient la panne de mai ? | Que la mise à jour soit en cause, c'est [[démontré||encore à vérifier]].
list_member | Dans quels pays sont les serveurs ? | Les serveurs se trouvent en Norvège et en [[Islande||Irlande]].

# avalanche
P: En 1981, une avalanche détruisit neuf chalets à Combe-Noire sans faire de victime. Celle de 1937, moins large, avait tué cinq personnes. Un mur protège le village depuis 1986. Pour le nivologue Rémi Tissot, une avalanche pareille cet hiver est peu probable.
P: Le versant est est interdit au-dessus de 1 900 mètres. Le refuge des Aigles se trouve sur ce versant à 2 050 mètres, celui du Lac à 1 600 mètres. Un promeneur demande : « Les cris déclenchent-ils les avalanches ? » Tissot répond que c'est une légende.
comparison | Quelle avalanche était la plus large ? | L'avalanche de 1981 était [[plus||moins]] large que celle de 1937.
question_or_quote | Les cris déclenchent-ils des avalanches ? | D'après Tissot, les cris [[n'y sont pour rien||déclenchent des avalanches]].
multi_hop | Peut-on monter au refuge des Aigles ? | Le refuge des Aigles est situé [[dans||hors de]] la zone interdite.
direction_word | Quelle partie du versant est interdite ? | On ne doit pas aller plus [[haut||bas]] que 1 900 mètres sur ce versant.
date | Depuis quand y a-t-il un mur ? | Le mur existe depuis [[1986||1981]].
negation | Y a-t-il eu des morts en 1981 ? | Neuf chalets furent détruits en 1981. Cette année-là, [[personne n'a||cinq personnes ont]] péri.

# regate
P: Régate des Glénures, classement :\nRang | Bateau | Port | Temps\n1 | Mistral | Lannou | 4 h 12\n2 | Sterne | Brévan | 4 h 19\n3 | Korrigan | Lannou | 4 h 40\n4 | Houle | Pordic | 5 h 02
P: La Sterne menait jusqu'à la bouée nord, puis le Mistral l'a doublée. La barreuse du Mistral, Aude Lorec, a remercié son entraîneur Hervé Cosquer, ancien équipier de la Sterne. Au classement général, la Sterne garde trois points d'avance sur le Mistral. « Nous gagnerons la coupe », a dit Lorec.
table_cell | Quel est le port du Korrigan ? | Le Korrigan a pour port [[Lannou||Pordic]].
arithmetic | Quel écart y avait-il entre le premier et le deuxième ? | L'écart entre le Mistral et la Sterne fut de [[sept||neuf]] minutes.
order | Qui menait avant la bouée nord ? | Avant la bouée nord, [[la Sterne devançait le Mistral||le Mistral devançait la Sterne]].
question_or_quote | Le Mistral a-t-il gagné la coupe ? | Aude Lorec [[compte gagner||a gagné]] la coupe avec son équipe.
name | Qui entraîne l'équipage du Mistral ? | L'équipage du Mistral s'entraîne avec [[Cosquer||Lorec]].
conversion | Combien de minutes a mis la Houle ? | La Houle est arrivée au bout de [[302||502]] minutes.

# archives
P: Les archives de Montferrand-le-Vieux datent de MDCCXCIV. Elles comptent 1,4 million de pièces ; la plus ancienne porte la date 1223-05-08. Les rayons mesurent 2,6 km. Fin 2021, trois cent vingt mille pages étaient en ligne. Une douzaine de bénévoles classe les plans.
P: La salle ouvre du lundi au jeudi, de 9 h à 16 h 30. On peut demander cinq cartons par jour. La copie coûte 0,20 euro. L'article XII du règlement traite des photos, l'article XIV des retards.
number_format | De quelle année datent les archives ? | Les archives existent depuis [[1794||1774]].
number_format | De quand date la pièce la plus ancienne ? | La pièce la plus ancienne est du [[8 mai||5 août]] 1223.
number_format | Combien de pages étaient en ligne fin 2021 ? | On trouvait alors [[320 000||32 000]] pages en ligne.
number_format | Quel article traite des photos ? | Les photos relèvent de l'article [[12||14]].
unit | Quelle est la longueur des rayons ? | Les rayons s'étendent sur 2,6 [[kilomètres||mètres]].
number | Combien de cartons puis-je demander ? | Chaque jour, on vous apporte jusqu'à [[cinq||douze]] cartons.

# auberge
P: L'auberge du Pont fut ouverte en 1962 par Marcel et Odette Rieu. Odette cuisinait, Marcel servait. Quand Marcel tomba malade en 1984, leur fille Sylvie prit le service. En 1999, Sylvie vendit à son cuisinier, Karim Belkacem, qui a ajouté six chambres en 2011.
P: La spécialité est la tourte aux cèpes, servie seulement le dimanche. Certaines recettes sont encore d'Odette. L'auberge ferme le lundi, et tout le mois de janvier. La chambre coûte 68 euros, 80 avec le petit-déjeuner. La terrasse appartient à la commune.
role | À qui l'auberge a-t-elle été vendue ? | L'auberge a été cédée par [[Sylvie à Karim||Karim à Sylvie]].
name | Qui servait au début ? | Au début, le service était assuré par [[Marcel||Sylvie]].
date | Quand les chambres ont-elles été ajoutées ? | Les chambres sont là depuis [[2011||1999]].
recombination | Quand peut-on manger la tourte ? | [[La tourte se mange le dimanche, et le lundi tout est fermé||La tourte se mange le lundi, et le dimanche tout est fermé]].
scope | Qu'est-ce qui appartient à la commune ? | La commune possède [[la terrasse||toute l'auberge]].
multi_hop | Quel lien y a-t-il entre Sylvie et celle dont viennent certaines recettes ? | Celle dont viennent ces recettes est [[la mère||la fille]] de Sylvie.

# assurance
P: L'assurance vélo Rayon rembourse le vol jusqu'à 3 000 euros, à condition que le vélo ait été attaché à un point fixe. Les chutes sont couvertes jusqu'à 500 euros, l'usure jamais. Le vol se déclare à la police sous deux jours et à Rayon sous cinq jours.
P: La cotisation est de 96 euros par an et baisse d'un quart après trois ans sans sinistre. La garantie vaut dans toute l'Europe, y compris pour les vélos de location pris en France. Les coursiers ne sont pas acceptés. On résilie avec un mois de préavis.
condition | Le vol est-il remboursé ? | Rayon rembourse le vol [[si le vélo était bien attaché||que le vélo ait été attaché ou non]].
arithmetic | Que paie-t-on après trois ans sans sinistre ? | La cotisation tombe alors à [[72||96]] euros.
scope | Où un vélo de location est-il couvert ? | Un vélo loué est couvert [[sur tout le continent||seulement en France]].
negation | L'usure est-elle remboursée ? | Les chutes sont couvertes jusqu'à 500 euros. L'usure [[ne l'est pas||l'est également]].
comparison | Quel délai de déclaration est le plus court ? | Le délai de la police est plus [[court||long]] que celui de Rayon.
paraphrase | Je livre des repas à vélo. Puis-je m'assurer ? | [[Ceux qui roulent pour ce métier n'ont pas accès au contrat||Les coursiers sont acceptés avec un mois de préavis]].

# potager
P: Les fèves se sèment en février, à six centimètres de profondeur. Elles lèvent en deux semaines et résistent aux petites gelées. On arrose peu avant la floraison. Pincer les têtes écarte à coup sûr les pucerons. La récolte commence par le bas de la plante.
P: « Faut-il semer à la lune montante ? » demande une lectrice. Notre jardinier, Gilles Faure, a comparé les deux pendant huit ans et n'a vu aucune différence. Un lecteur doute que le marc de café chasse les limaces ; Faure l'a essayé et répond que c'est prouvé.
question_or_quote | La lune compte-t-elle pour les semis ? | Pour Faure, la lune montante [[ne change rien||fait une différence]].
question_or_quote | Le marc de café chasse-t-il les limaces ? | L'effet du marc de café, [[Faure l'a constaté||Faure en doute]].
unit | À quelle profondeur sème-t-on ? | Les graines se placent à six [[centimètres||millimètres]] sous la surface.
hedge | Le pincement écarte-t-il les pucerons ? | En pinçant les têtes, on évite les pucerons [[chaque fois||souvent, mais pas toujours]].
direction_word | Par où commence la récolte ? | On cueille en allant vers le [[haut||bas]].
paraphrase | Que se passe-t-il quand il gèle un peu ? | [[Un froid léger ne les abîme pas||Les fèves ne résistent pas aux petites gelées]].

# musee
P: Entrée du musée de la Dentelle : adultes 7 euros, étudiants 4 euros, moins de 12 ans gratuit. Le billet duo coûte 12 euros. Le premier jeudi du mois, personne ne paie. L'atelier coûte 5 euros de plus et s'adresse aux plus de dix ans.
P: La robe bleue fut donnée par la famille Delmas, la nappe royale achetée à Bruges, aux Maes, en 1958. Tous les métiers de la salle 2 fonctionnent. La salle 4 est fermée jusqu'en mars. Les photos sont permises avec ou sans flash.
recombination | Comment la robe et la nappe sont-elles arrivées au musée ? | [[La robe est un don et la nappe un achat||La nappe est un don et la robe un achat]].
quantifier | Les métiers de la salle 2 marchent-ils ? | Dans la salle 2, [[aucun métier n'est||une partie des métiers est]] hors d'usage.
multi_hop | Mon fils a neuf ans. Paie-t-il l'entrée et peut-il faire l'atelier ? | L'entrée est gratuite pour lui. Quant à l'atelier, il est [[trop jeune||assez grand]].
arithmetic | Combien deux adultes gagnent-ils avec le billet duo ? | Le billet duo leur fait gagner [[2||5]] euros.
condition | Peut-on prendre des photos avec le flash ? | On peut photographier [[même si le flash est allumé||seulement si le flash est éteint]].
name | Quelle famille a fait un don ? | Un don est venu de la famille [[Delmas||Maes]].

# etang
P: De 2007 à 2017, des biologistes ont étudié l'étang de Brissac. La transparence est passée de 0,8 à 1,9 mètre. Sur les cinq espèces de libellules, trois ont augmenté, une a diminué et une est restée stable. L'écrevisse a disparu en 2013. L'eau s'est réchauffée de 0,9 degré.
P: La meilleure transparence est due à la nouvelle station d'épuration. La baisse des brochets serait liée aux cormorans, mais cela reste à démontrer. Les pesticides n'ont pas été mesurés. L'étang couvre 64 hectares, celui de Lormont le double. Le prochain comptage aura lieu en 2027.
direction_word | Comment la transparence a-t-elle évolué ? | L'eau est devenue [[plus||moins]] claire.
quantifier | Comment vont les libellules ? | L'augmentation concerne [[la majeure partie||l'ensemble]] des espèces de libellules.
number | De combien l'eau s'est-elle réchauffée ? | L'eau a gagné [[0,9||1,9]] degré.
unit | Quelle est la surface de l'étang de Brissac ? | Celui de Brissac a une surface de 64 [[hectares||kilomètres carrés]].
comparison | Quel étang est le plus grand ? | L'étang de Lormont est plus [[grand||petit]] que celui de Brissac.
hedge | Les cormorans sont-ils la cause de la baisse des brochets ? | Le rôle des cormorans est [[soupçonné||démontré]].

# apprentissage
P: La menuiserie Thoraval paie ses apprentis 760 euros la première année, 880 la deuxième et 1 020 la troisième. Les cours ont lieu le mardi et le vendredi. Avec de bonnes notes, on peut gagner six mois sur les trois ans. Les chaussures sont fournies, les outils non.
P: Les candidatures sont reçues jusqu'au 15 avril par Mme Thoraval. Le permis est demandé, de même qu'un stage d'une semaine. Sur onze apprentis, dix sont restés. On apprend les fenêtres en deuxième année et les escaliers en troisième.
table_cell | Combien gagne-t-on la troisième année ? | La troisième année rapporte [[1 020||880]] euros par mois.
list_member | Quels jours a-t-on cours ? | On va en cours le vendredi et le [[mardi||mercredi]].
negation | Le permis est-il nécessaire ? | Il faut faire un stage d'une semaine. On [[a aussi besoin||n'a pas besoin]] du permis.
order | Qu'apprend-on d'abord ? | Les escaliers s'apprennent [[après||avant]] les fenêtres.
date | Jusqu'à quand peut-on postuler ? | La date limite tombe à la mi-[[avril||juin]].
conversion | De combien peut-on raccourcir la formation ? | Les bons élèves terminent [[une demi-année||un an]] plus tôt.

# moulin
P: Le moulin de Kerbras cessa de moudre en 1959. Il avait appartenu à l'abbaye, puis au boulanger Alban Le Dû. En 2005, l'association Eau Vive, présidée par Claire Jouan, l'acheta. La roue de 5 mètres fut refaite par le charpentier Denis Quéré en bois de chêne.
P: Depuis 2014, il fournit 42 000 kWh par an, soit 20 pour cent de ce que consomme le bourg. On le visite le samedi, d'avril à octobre. Le maire voulait en faire un hôtel ; la présidente de l'association s'y opposa. Les meules, elles, ont été vendues à un musée belge.
order | Qui l'a possédé d'abord ? | Alban Le Dû l'a possédé [[après||avant]] l'abbaye.
name | Qui a refait la roue ? | La roue a été refaite par [[Quéré||Jouan]].
multi_hop | Qui s'est opposé au projet d'hôtel ? | Au projet du maire s'est opposée [[Claire Jouan||l'abbaye]].
conversion | Quelle part de la consommation du bourg fournit-il ? | Il fournit [[un cinquième||la moitié]] du courant consommé par le bourg.
date | Depuis quand fournit-il du courant ? | Il fournit du courant depuis [[2014||2005]].
scope | Qu'a-t-on vendu au musée belge ? | Le musée belge a acquis [[les meules||tout le moulin]].

# copropriete
P: Règlement des Glycines : silence de 22 h à 7 h. Les barbecues sont permis dans la cour comme sur les balcons. Les habitants nettoient l'escalier à tour de rôle, le gardien nettoie la cave. Les vélos vont au local, les poussettes peuvent rester dans l'entrée.
P: Une machine coûte 2,20 euros et le séchage 1,30 euro. Les chiens demandent l'accord du syndic, sauf ceux des personnes aveugles. En cas de fuite, on appelle M. Pons ; les clés se déposent chez Mme Weil. Le parking visiteurs est limité à trois jours.
recombination | Qui nettoie quoi ? | [[Le gardien s'occupe de la cave et les habitants de l'escalier||Le gardien s'occupe de l'escalier et les habitants de la cave]].
name | Qui appelle-t-on en cas de fuite ? | Une fuite se signale à [[M. Pons||Mme Weil]].
scope | Où peut-on faire un barbecue ? | On peut griller [[aussi sur son balcon||seulement dans la cour]].
condition | Ai-je besoin de l'accord du syndic pour mon chien ? | L'accord est nécessaire, [[à moins que vous ne soyez aveugle||même si vous êtes aveugle]].
number | Combien de jours un visiteur peut-il se garer ? | Un visiteur peut se garer [[trois||sept]] jours.
recombination | Où range-t-on vélos et poussettes ? | [[Les vélos vont au local et les poussettes dans l'entrée||Les poussettes vont au local et les vélos dans l'entrée]].
"""
