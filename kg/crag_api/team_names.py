"""What people call teams. The keys are parts of the names, or names, of CRAG's data; accents may be left out."""

from __future__ import annotations

from collections.abc import Iterator

# NBA: what follows the city in the full name -> other words for it
_NBA_NICKNAMES: dict[str, tuple[str, ...]] = {
    "76ers": ("Sixers", "Philly", "Seventy Sixers"),
    "Cavaliers": ("Cavs",),
    "Clippers": ("Clips",),
    "Grizzlies": ("Grizz",),
    "Knicks": ("Knickerbockers",),
    "Mavericks": ("Mavs",),
    "Pelicans": ("Pels",),
    "Raptors": ("Raps",),
    "SuperSonics": ("Sonics",),
    "Timberwolves": ("T-Wolves", "Twolves", "Wolves"),
    "Trail Blazers": ("Blazers", "TrailBlazers"),
    "Warriors": ("Dubs",),
}
_TWO_WORDS = ("Trail Blazers",)
_CITIES: dict[str, tuple[str, ...]] = {
    "Los Angeles": ("LA", "L.A."),
    "LA": ("Los Angeles", "L.A."),
    "New York": ("NY",),
    "Oklahoma City": ("OKC",),
    "Philadelphia": ("Philly",),
}
NOT_SAID = frozenset({"MIN", "WAS"})  # abbreviations of teams that are words of questions

SOCCER: dict[str, tuple[str, ...]] = {
    # England
    "Arsenal": ("Gunners", "Arsenal FC"),
    "Aston Villa": ("Villa",),
    "Bournemouth": ("AFC Bournemouth",),
    "Brighton": ("Brighton & Hove Albion", "Brighton and Hove Albion"),
    "Chelsea": ("Chelsea FC",),
    "Crystal Palace": ("Palace",),
    "Everton": ("Toffees", "Everton FC"),
    "Ipswich Town": ("Ipswich",),
    "Leeds United": ("Leeds",),
    "Leicester City": ("Leicester", "Foxes"),
    "Liverpool": ("Liverpool FC", "LFC"),
    "Luton Town": ("Luton",),
    "Manchester City": ("Man City", "MCFC"),
    "Manchester Utd": ("Manchester United", "Man United", "Man Utd", "Man U", "MUFC", "Red Devils"),
    "Newcastle Utd": ("Newcastle United", "Newcastle", "Magpies"),
    "Norwich City": ("Norwich",),
    "Nott'ham Forest": ("Nottingham Forest", "Nottm Forest", "Forest"),
    "Sheffield Utd": ("Sheffield United", "Sheffield", "Blades"),
    "Tottenham": ("Tottenham Hotspur", "Spurs", "Hotspur"),
    "West Brom": ("West Bromwich Albion", "West Bromwich", "WBA"),
    "West Ham": ("West Ham United", "Hammers"),
    "Wolves": ("Wolverhampton Wanderers", "Wolverhampton"),
    # Spain
    "Alavés": ("Deportivo Alavés",),
    "Athletic Club": ("Athletic Bilbao", "Bilbao"),
    "Atlético Madrid": ("Atlético de Madrid", "Atlético", "Atleti"),
    "Barcelona": ("FC Barcelona", "Barça", "Barca"),
    "Betis": ("Real Betis",),
    "Celta Vigo": ("Celta de Vigo", "Celta"),
    "Espanyol": ("RCD Espanyol",),
    "Girona": ("Girona FC",),
    "Las Palmas": ("UD Las Palmas",),
    "Mallorca": ("RCD Mallorca", "Real Mallorca"),
    "Osasuna": ("CA Osasuna",),
    "Rayo Vallecano": ("Rayo",),
    "Real Madrid": ("Real Madrid CF",),
    "Real Sociedad": ("La Real",),
    "Sevilla": ("Sevilla FC",),
    "Valencia": ("Valencia CF",),
    "Valladolid": ("Real Valladolid",),
    "Villarreal": ("Villarreal CF", "Yellow Submarine"),
    # Germany
    "Arminia": ("Arminia Bielefeld", "Bielefeld"),
    "Augsburg": ("FC Augsburg",),
    "Bayern Munich": ("Bayern", "Bayern München", "FC Bayern", "FC Bayern Munich"),
    "Bochum": ("VfL Bochum",),
    "Darmstadt 98": ("Darmstadt",),
    "Dortmund": ("Borussia Dortmund", "BVB"),
    "Düsseldorf": ("Fortuna Düsseldorf",),
    "Eint Frankfurt": ("Eintracht Frankfurt", "Frankfurt", "Eintracht"),
    "Freiburg": ("SC Freiburg",),
    "Greuther Fürth": ("Fürth", "SpVgg Greuther Fürth"),
    "Heidenheim": ("FC Heidenheim",),
    "Hertha BSC": ("Hertha Berlin", "Hertha"),
    "Hoffenheim": ("TSG Hoffenheim",),
    "Köln": ("FC Köln", "Cologne", "FC Cologne"),
    "Leverkusen": ("Bayer Leverkusen", "Bayer 04 Leverkusen"),
    "M'Gladbach": ("Borussia Mönchengladbach", "Mönchengladbach", "Gladbach"),
    "Mainz 05": ("Mainz", "FSV Mainz"),
    "Paderborn 07": ("Paderborn",),
    "RB Leipzig": ("Leipzig", "RasenBallsport Leipzig"),
    "Schalke 04": ("Schalke",),
    "Stuttgart": ("VfB Stuttgart",),
    "Union Berlin": ("FC Union Berlin",),
    "Werder Bremen": ("Bremen", "Werder"),
    "Wolfsburg": ("VfL Wolfsburg",),
    # Italy
    "Cagliari": ("Cagliari Calcio",),
    "Fiorentina": ("ACF Fiorentina", "Viola"),
    "Genoa": ("Genoa CFC",),
    "Hellas Verona": ("Verona",),
    "Inter": ("Inter Milan", "Internazionale", "Nerazzurri"),
    "Juventus": ("Juve",),
    "Lazio": ("SS Lazio",),
    "Milan": ("AC Milan", "Rossoneri"),
    "Napoli": ("SSC Napoli", "Naples"),
    "Roma": ("AS Roma",),
    "Torino": ("Torino FC",),
    # France
    "Clermont Foot": ("Clermont",),
    "Brest": ("Stade Brestois",),
    "Lens": ("RC Lens",),
    "Lille": ("LOSC Lille", "LOSC"),
    "Lyon": ("Olympique Lyonnais", "Olympique Lyon"),
    "Marseille": ("Olympique de Marseille", "Olympique Marseille"),
    "Monaco": ("AS Monaco",),
    "Montpellier": ("Montpellier HSC",),
    "Nantes": ("FC Nantes",),
    "Nice": ("OGC Nice",),
    "Paris S-G": ("Paris Saint-Germain", "PSG", "Paris SG"),
    "Reims": ("Stade de Reims",),
    "Rennes": ("Stade Rennais",),
    "Saint-Étienne": ("AS Saint-Étienne", "St Etienne"),
    "Strasbourg": ("RC Strasbourg",),
}


def nba_aliases(team: str) -> Iterator[tuple[str, float]]:
    """Yield (name, share of the weight of the full name) for what else a team of this full name is called.

    >>> list(nba_aliases("New York Knicks"))[:2]
    [('Knicks', 1.0), ('New York', 0.5)]
    """
    city, _, nickname = team.rpartition(" ")
    for name in _TWO_WORDS:
        if team.endswith(f" {name}"):
            city, nickname = team.removesuffix(f" {name}"), name
    yield nickname, 1.0
    if not city:
        return
    yield city, 0.5
    for said in _NBA_NICKNAMES.get(nickname, ()):
        yield said, 0.9
    for short in _CITIES.get(city, ()):
        yield f"{short} {nickname}", 0.95
        if len(short) > 2:
            yield short, 0.5
