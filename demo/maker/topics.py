"""What the English articles are about: for each topic its own nouns, materials, people, parts, verbs and adjectives.

`thing` and `part` are countable, `stuff` is not; `act` are regular verbs with an object, so that all their forms can
be derived; `role` are people.
"""

from maker import words

TOPICS = {
    "bees": """
        thing hive|swarm|smoker|honey jar|queen cage|brood frame|wax mould|bee house|skep|feeder|nectar pump|
            heather bank
        stuff honey|beeswax|propolis|pollen|clover nectar|sugar syrup|royal jelly|lavender|linden blossom|pine smoke
        role beekeeper|honey judge|inspector of hives|swarm catcher|wax chandler|mead maker|apiary student
        part entrance board|comb|super|landing strip|lid|queen excluder|foundation sheet|hive stand
        act inspect|requeen|smoke|harvest|insulate|relocate|examine|weigh|feed|shelter|paint|unstack
        adj docile|overwintered|drowsy|honey-heavy|windproof|sun-facing|unruly|golden|swarming|mite-free""",
    "clocks": """
        thing pendulum|mantel clock|turret clock|escapement|regulator|carriage clock|chime barrel|sundial|
            pocket watch|strike train|ship's timer|cuckoo clock
        stuff brass|watch oil|pivot grease|lantern steel|gilding|enamel|boxwood|tempered wire|jeweller's rouge|shellac
        role horologist|clock winder|bell warden|dial painter|apprentice|escapement maker|auction expert
        part mainspring|balance wheel|minute hand|hour hand|anchor|click spring|arbor|suspension strip
        act regulate|oil|rewind|dismantle|calibrate|repivot|polish|silence|balance|catalogue|bush|restore
        adj eight-day|unhurried|worn|silvered|weight-driven|slow-beating|obstinate|engraved|one-handed|punctual""",
    "bread": """
        thing loaf|sourdough starter|deck oven|proving basket|stone mill|dough trough|rye bun|flatbread|bread peel|
            bakery counter|flour sack|seed roll
        stuff rye flour|spelt|salt|malt|leaven|bran|semolina|caraway|barley meal|rendered butter
        role baker|miller|night apprentice|village oven keeper|flour merchant|dough mixer|bread taster
        part crust|crumb|score mark|bottom heel|glaze|oven door|steam vent|mixing arm
        act knead|shape|score|proof|sift|dust|ferment|scald|portion|bake|cool|slash
        adj dark|sour|open-crumbed|overnight|wood-fired|chewy|floury|dense|blistered|twice-risen""",
    "canals": """
        thing narrowboat|lock gate|towpath|aqueduct|lift bridge|canal basin|tunnel portal|winding hole|barge|
            swing bridge|mile plate|toll house
        stuff puddled clay|silt|slack water|diesel|duckweed|blue brick|coal dust|mooring rope|rain water|gravel ballast
        role lock keeper|boatman|dredger captain|canal surveyor|toll clerk|towpath ranger|barge painter
        part paddle gear|balance beam|sill|tiller|bollard|stop plank|cill stone|spillway
        act dredge|moor|drain|refill|navigate|repoint|patrol|measure|widen|reopen|steer|caulk
        adj silted|double-width|abandoned|waterlogged|contour-hugging|freshly lined|reed-fringed|slow-moving|
            nine-mile|restored""",
    "tea": """
        thing tea garden|withering loft|rolling table|tea chest|copper kettle|drying pan|clay pot|tasting bowl|
            hill terrace|shade net|leaf basket|sorting tray
        stuff green leaf|silver tips|jasmine|charcoal|spring water|smoked leaf|roasted twig|dust grade|citrus peel|mist
        role tea taster|estate manager|leaf plucker|blender|auction broker|kettle smith|tea room owner
        part bud|stem|lid knob|spout|strainer|outer leaf|label|root collar
        act pluck|wither|roll|blend|infuse|roast|grade|taste|shade|pack|label|prune
        adj first-flush|malty|fragrant|half-oxidised|high-grown|brisk|smoky|hand-rolled|pale|mellow""",
    "printing": """
        thing hand press|type case|composing stick|broadside|woodcut|proof sheet|ink ball|pamphlet|poster|chapbook|
            galley|lead slug
        stuff lamp-black|linseed varnish|rag paper|type metal|gum arabic|vermilion ink|binder's thread|blotting paper|
            damp felt|size
        role compositor|pressman|typefounder|proofreader|bookbinder|engraver|journeyman
        part ligature|tympan|frisket|bed|serif|margin|quoin|punch
        act typeset|proof|ink|distribute|bind|emboss|typecast|imprint|collate|trim|number|reissue
        adj hand-set|letterpress|wormholed|uncut|two-colour|smudged|italic|foxed|short-run|crisp""",
    "rescue": """
        thing avalanche probe|rescue sledge|winch cable|mountain hut|ice axe|radio beacon|rope team|cornice|
            helicopter pad|search dog|ridge path|stretcher
        stuff powder snow|rime|glacier ice|scree|fog|climbing rope|wool|chocolate|meltwater|windpacked snow
        role mountain guide|rescue leader|dog handler|hut warden|winch operator|avalanche forecaster|volunteer climber
        part carabiner|crampon strap|rope end|visor|belay loop|axe head|sledge runner|antenna
        act rescue|rope together|forecast|evacuate|shovel|belay|locate|train|abseil past|signal|mark|cross
        adj north-facing|wind-loaded|exposed|snow-blind|frost-nipped|roped|treacherous|high-alpine|stormbound|steep""",
    "orchards": """
        thing apple tree|cider press|pear espalier|grafting knife|windfall|fruit crate|ladder|plum hedge|orchard wall|
            cider barrel|nursery row|pruning saw
        stuff cider|pomace|wood ash|blossom|mistletoe|grafting wax|straw mulch|perry|sap|leaf mould
        role orchardist|cider maker|grafter|fruit warden|pomologist|picker|nursery owner
        part scion|rootstock|spur|bark|core|leading shoot|stone|fruit bud
        act graft|prune|press|espalier|pick|store|thin|replant|name|crossbreed|spray|ripen
        adj bittersweet|russeted|storm-felled|late-keeping|scab-resistant|gnarled|crimson|standard|self-fertile|
            sharp""",
    "radio": """
        thing transmitter|crystal set|call sign|antenna mast|loudspeaker|shortwave band|valve receiver|log book|
            ground station|echo chamber|test pattern|headset
        stuff copper wire|solder|static|mica|insulating tape|quartz|galena|transformer oil|silence|skip
        role radio amateur|broadcast engineer|announcer|monitor|signals officer|tube collector|programme planner
        part coil|tuning dial|capacitor|grid lead|feed line|fuse|knob|earth rod
        act transmit|tune|amplify|record|solder|decode|shield|rewire|monitor|jam|relay|modulate
        adj long-wave|faint|crackling|homebuilt|narrow-band|licensed|ionospheric|nocturnal|untuned|portable""",
    "glass": """
        thing furnace|blowpipe|goblet|stained window|annealing oven|glass marble|crucible|lamp shade|mirror plate|
            pane|cane bundle|engraving wheel
        stuff molten glass|soda ash|white sand|cobalt|potash|gold leaf|lead came|cullet|manganese|frit
        role gaffer|glass cutter|batch mixer|window restorer|lampworker|engraver's mate|furnace stoker
        part stem|foot|rim|pontil scar|bubble|bevel|lead line|neck
        act reheat|anneal|cut|engrave|melt|gather|polish|fuse|tint|shatter|etch|stretch
        adj translucent|seedy|mouth-blown|ruby|thick-walled|fluted|opaline|flawless|cloudy|heat-proof""",
    "bicycles": """
        thing roadster|hub gear|frame builder's jig|tandem|dynamo lamp|cargo bike|wheel stand|saddle|tricycle|bell|
            pannier|velodrome
        stuff chain oil|brazing rod|rubber cement|steel tubing|cork tape|chrome|leather dressing|rim tape|grit|paraffin
        role frame builder|courier|wheelwright|touring rider|race mechanic|cycling teacher|workshop volunteer
        part spoke|bottom bracket|fork crown|mudguard|derailleur|pedal|freewheel|head badge
        act true|braze|repaint|lubricate|pedal|overhaul|lend|patch|tension|race|tighten|align
        adj lugged|rattling|fixed-wheel|upright|puncture-proof|featherweight|second-hand|rain-soaked|five-speed|
            sturdy""",
    "stars": """
        thing refractor|observatory dome|comet|double star|star chart|photographic plate|sidereal clock|meteor shower|
            eyepiece|variable star|meridian circle|planetary disc
        stuff starlight|mercury|dew|airglow|darkness|silver nitrate|liquid nitrogen|twilight|cosmic dust|moonlight
        role astronomer|night assistant|comet hunter|plate archivist|lens grinder|star party host|doctoral student
        part finder scope|objective lens|dome slit|setting circle|mirror cell|focuser|drive gear|crosshair
        act observe|photograph|catalogue|collimate|chart|resolve|measure|expose|predict|track|compare|sketch
        adj faint|binary|periodic|fifth-magnitude|eclipsing|red-shifted|moonless|southern|nebulous|long-exposure""",
    "weaving": """
        thing floor loom|shuttle|tapestry|warp beam|spindle|dye vat|blanket|selvedge|carpet knot|spinning wheel|
            pattern draft|bobbin
        stuff indigo|madder|flax|worsted|alum|raw silk|lanolin|hemp|fleece|weld
        role weaver|dyer|carder|pattern drafter|wool stapler|tapestry conservator|spinner
        part heddle|reed|treadle|fringe|weft thread|warp end|breast beam|pick
        act embroider|card|dye|warp|unravel|mend|felt|rinse|mordant|thread|fringe|spin
        adj herringbone|undyed|twill|moth-eaten|close-woven|checked|hand-spun|double-faced|faded|coarse""",
    "pottery": """
        thing kiln|pitcher|slip trail|throwing wheel|glaze bucket|tea bowl|roof tile|saggar|storage jar|stove tile|
            clay pit|pug mill
        stuff stoneware|wood ash glaze|celadon|grog|kaolin|feldspar|slip|terracotta|bone ash|salt vapour
        role potter|kiln master|clay digger|glaze chemist|tile maker|ceramics curator|thrower
        part handle|foot ring|lip|shoulder|lid seat|stoke hole|cone|wad mark
        act centre|glaze|fire|wedge|trim|stack|sieve|burnish|decorate|repair|slip|stamp
        adj crackled|ash-glazed|unglazed|lopsided|salt-fired|porous|leather-hard|iron-spotted|once-fired|squat""",
    "railways": """
        thing branch line|signal box|tank engine|platform canopy|turntable|level crossing|goods wagon|dining car|
            viaduct|timetable|water tower|railcar
        stuff steam coal|ballast|creosote|signal paint|boiler water|ticket card|cinders|axle grease|track fog|
            sleeper timber
        role signalman|fireman|station master|track walker|timetable clerk|points cleaner|heritage driver
        part firebox|coupling|semaphore arm|bogie|buffer|fishplate|regulator handle|footplate
        act shunt|signal|couple|repaint|time|electrify|close|survey|convert|fire|timber|reopen
        adj narrow-gauge|single-track|mothballed|rack-worked|steam-hauled|unstaffed|express|rural|snow-blocked|
            double-headed""",
    "lighthouses": """
        thing lantern room|fog signal|lens pedestal|rock tower|keeper's cottage|lamp clockwork|relief boat|
            harbour light|buoy tender|daymark|spiral stair|weather station
        stuff whale oil|salt spray|limewash|compressed air|sea fog|lamp oil|granite|cork|tallow|storm glass
        role light keeper|relief boatman|lens engineer|harbour pilot|buoy master|coast watcher|keeper's daughter
        part prism|mantle|gallery rail|wick|lightning rod|vane|shutter|storm pane
        act light|whitewash|automate|wind|trim|repair|supply|relieve|polish|log|guard|darken
        adj wave-swept|flashing|unmanned|first-order|offshore|storm-battered|revolving|oil-fired|remote|banded""",
    "cheese": """
        thing cheese vat|curd harp|ripening cave|milk churn|cheese wheel|pressing mould|summer dairy|brine bath|
            goat herd|rind brush|tasting iron|milking stool
        stuff rennet|whey|morning milk|brine|blue mould|hay|cave air|curd|butterfat|ash coating
        role cheesemaker|affineur|herdsman|dairy inspector|market trader|goat keeper|rennet supplier
        part rind|eye|paste|press lid|cheesecloth|udder|teat cup|crust
        act curdle|press|brush|ripen|salt|milk|turn|skim|wash|pierce|strain|weigh
        adj raw-milk|washed-rind|crumbly|alpine|pungent|three-year|nutty|cave-aged|soft|goaty""",
    "maps": """
        thing theodolite|contour sheet|sea chart|town plan|trig point|atlas|globe|compass rose|survey chain|
            boundary stone|relief model|map cabinet
        stuff vellum|tracing linen|drafting ink|aerial film|hachure|blueprint paper|copperplate|marginalia|
            magnetic drift|watercolour wash
        role cartographer|surveyor|chart corrector|map librarian|field assistant|globe maker|boundary commissioner
        part legend|scale bar|grid square|neatline|bearing|fold|meridian|sounding
        act survey|ink|trace|correct|triangulate|fold|revise|annotate|project|colour|plot|scan
        adj hand-coloured|out-of-date|large-scale|disputed|uncharted|contoured|coastal|copper-engraved|parish|
            magnetic""",
    "violins": """
        thing violin|cello|viola|bow|scroll|luthier's bench|varnish recipe|string quartet|tuning fork|chin rest|
            concert hall|spruce billet
        stuff spruce|maple|hide glue|gut string|rosin|amber varnish|ebony|horsehair|pear wood|purfling
        role luthier|bow maker|concertmaster|second violinist|wood dealer|varnish chemist|string maker
        part bridge|bass bar|sound post|tailpiece|f-hole|rib|peg|fingerboard
        act carve|varnish|glue|restring|tune|rehearse|graft|appraise|rehair|bow|arch|adjust
        adj flamed|warm-toned|cracked|baroque|three-quarter|resonant|muted|honey-coloured|unplayed|brilliant""",
    "birds": """
        thing marsh harrier|reed bed|nest box|hide|ringing net|mudflat|tern colony|curlew|owl pellet|heronry|
            salt marsh|bird table
        stuff peat|eelgrass|sedge|birdsong|down|brackish water|seed|estuary mud|reed|insect life
        role warden|bird ringer|ornithologist|reed cutter|hide builder|egg historian|census volunteer
        part wing bar|tail feather|bill|leg ring|primary|nest cup|crest|claw
        act ring|count|flood|observe|protect|record|reintroduce|fence|film|disturb|map|mow
        adj migratory|ground-nesting|shy|brackish|wintering|long-billed|protected|crepuscular|juvenile|tidal""",
    "mushrooms": """
        thing chanterelle|spore print|fairy ring|bracket fungus|truffle dog|log pile|foraging basket|mycelium mat|
            puffball|drying rack|morel bed|field guide
        stuff beech litter|mycelium|moss|sawdust|damp bark|spore dust|oak leaf|rotting wood|morning dew|chestnut
        role forager|mycologist|truffle hunter|forest ranger|mushroom grower|market checker|spawn seller
        part gill|cap|stem base|veil|ring|pore layer|volva|spore
        act identify|forage|dry|cultivate|inoculate|pickle|slice|sniff|collect|avoid|preserve|cook
        adj edible|slimy|poisonous|honey-brown|woodland|bruising|earthy|bioluminescent|autumnal|peppery""",
    "theatre": """
        thing stage trap|fly tower|prompt book|puppet booth|costume trunk|footlight|revolve|backdrop|dress rehearsal|
            touring van|thunder sheet|playbill
        stuff greasepaint|canvas|limelight|sawdust|velvet|stage fog|plywood|applause|scene paint|gauze
        role stage manager|prompter|wardrobe mistress|understudy|scene painter|puppeteer|lighting designer
        part curtain|wing|trapdoor|mask|hem|counterweight|cue light|proscenium
        act rehearse|stage|prompt|light|costume|revive|tour|applaud|repaint|cast|hoist|improvise around
        adj sold-out|candlelit|creaking|open-air|tragicomic|threadbare|moth-bitten|raked|amateur|two-act""",
    "boats": """
        thing sailing dinghy|clinker hull|slipway|lugger|oyster smack|mast step|boat shed|steam box|regatta|
            anchor chain|pilot cutter|rowing skiff
        stuff oak|larch planking|oakum|Stockholm tar|copper rivet stock|bilge water|flax canvas|pine pitch|salt wind|
            manila rope
        role shipwright|sailmaker|harbour master|oyster fisher|rigger|coxswain|boatyard owner
        part keel|thwart|rudder|transom|cleat|gunwale|bowsprit|garboard
        act plank|launch|caulk|rig|row|sail|beach|varnish|steer|salvage|shorten|measure
        adj carvel-built|gaff-rigged|leaky|flat-bottomed|tarred|sea-kindly|shallow-draught|oaken|unballasted|swift""",
    "gardens": """
        thing walled garden|cold frame|compost heap|rose arch|glasshouse|seed bank|rockery|herb border|potting shed|
            water butt|topiary peacock|vegetable plot
        stuff leaf mould|bone meal|loam|seaweed|horse manure|rainwater|slug trail|grit sand|green manure|frost
        role head gardener|plant hunter|seed saver|rose breeder|allotment holder|hedge layer|botanical artist
        part root|tuber|seed head|trellis|cloche|leaf joint|graft union|petal
        act sow|mulch|transplant|prune|water|hoe|propagate|label|divide|harvest|edge|rake
        adj frost-tender|self-seeding|rambling|shade-loving|perennial|bee-friendly|scented|overgrown|south-facing|
            double-dug""",
    "caves": """
        thing limestone cave|sump|stalactite|rope ladder|carbide lamp|underground river|bat roost|survey station|
            rift passage|boulder choke|cave pearl|resurgence
        stuff flowstone|cave mud|guano|calcite|dripwater|gypsum|chert|still air|nylon webbing|dye tracer
        role caver|cave diver|bat biologist|hydrologist|expedition cook|cave surveyor|show-cave guide
        part bolt|helmet lamp|knee pad|descender|pitch head|air bell|squeeze|ledge
        act survey|descend|photograph|dig|rig|explore|name|trace|gate|film|light|squeeze past
        adj vertical|flooded|draughting|tight|well-decorated|unexplored|glacial|muddy|horizontal|bat-filled""",
    "chess": """
        thing chess club|opening book|endgame study|simultaneous display|chess clock|pawn chain|adjourned game|
            rook ending|travelling set|score sheet|blitz tournament|correspondence match
        stuff time trouble|boxwood|counterplay|theory|patience|tempo|analysis|prize money|coffee|nerve
        role grandmaster|club secretary|arbiter|problem composer|schoolboy champion|chess columnist|opening analyst
        part bishop|knight|back rank|passed pawn|king's wing|centre file|rook|queen
        act analyse|sacrifice|defend|resign|adjourn|calculate|blunder away|annotate|castle behind|exchange|solve|promote
        adj drawn|sharp|gambit|unsound|classical|closed|brilliant|blindfold|lost|positional""",
}

TOPICS = {name: words.parsed(text) for name, text in TOPICS.items()}
