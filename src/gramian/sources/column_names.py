"""What the name of a column says about what it holds: words for identifiers, codes, groups, times and orders."""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ID_WORDS = _words(
    "id ids pid uid sid uuid guid pk ssn mrn nhs npi isbn ean sku imei iban vin barcode rowid rownum accession oid"
)
"""Last words of names that tell things apart, whether or not their values repeat."""

GLUED_ID = re.compile(
    r"(account|case|client|customer|device|doc|employee|event|film|hospital|house|household|image|item|member|movie|"
    r"object|order|participant|passenger|patient|person|player|product|record|row|sample|school|session|shop|site|store|"
    r"student|subject|ticket|track|transaction|user|visit)(id|key|no|nr|num|number)"
)
"""Names of identifiers written in one word."""

NUMBERED = _words(
    "account batch booking card case claim client contract customer document employee file flight house invoice "
    "item license line loan member observation obs order page parcel part participant passport patient phone "
    "plate plot policy product record ref reference registration row sample serial student subject tax ticket "
    "transaction user"
)
"""Things that are numbered to tell them apart, where "number" or "no" follows."""

CONTACTS = _words("account acct card phone telephone tel mobile fax invoice ticket passport tracking")
"""Things that long numbers name without the word number."""

ENTITIES = _words(
    "subject patient participant respondent student customer employee client user household sample specimen store "
    "dept plot record obs observation case item product vehicle hospital school flight"
)
"""Things that whole numbers tell apart where one of these words is the whole name."""

CODE_WORDS = _words(
    "zip zipcode postcode postalcode postal plz pincode fips sic naics nace isic cusip ndc icd cpt areacode code "
    "district precinct ward tract"
)
"""Last words of names of codes, whose digits are no amounts."""

GROUP_WORDS = _words(
    "species class pclass subclass label labels target group category cat type kind cluster gender sex race "
    "ethnicity status treatment cohort batch fold region state country county zone genus variety cultivar "
    "breed strain segment diagnosis team party origin"
)
"""Last words of names of groups, which few whole numbers may stand for."""

ORDER_WORDS = _words(
    "rank ranking place position score level grade rating age size count points dose stage priority "
    "percentile quantity qty"
)
"""Last words of names whose whole numbers have an order and a meaning, even if every row has its own."""

TIME_WORDS = _words(
    "time t day days week weeks month months hour hours minute minutes second seconds step frame tick "
    "epoch elapsed quarter period"
)
"""Names of a time axis, where values differ and are evenly spaced."""

DURATION_WORDS = _words("total elapsed duration cpu wall run wait response real mean max min")
"""Words in names of lengths of time, which are no points in time."""

STAMP_WORDS = _words("timestamp time ts epoch unix unixtime datetime date created updated modified at when")
"""Words in names of points in time."""

PEOPLE_WORDS = _words("name title model country city athlete player person species state company firm brand author")
"""Last words of names of columns that name what a row is about."""

COMMENT_WORDS = _words(
    "comment comments remark remarks note notes description text review feedback message abstract summary"
)
"""Last words of names of free text."""

UNIT = re.compile(r"[(\[]\s*([^()\[\]]{1,15}?)\s*[)\]]\s*$")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name in lower case; a unit in parentheses at its end is no part of them.

    Examples
    --------
    >>> words_of("hospitalID"), words_of("Sample Number"), words_of("Height (cm)"), words_of("zip_code2")
    (('hospital', 'id'), ('sample', 'number'), ('height',), ('zip', 'code', '2'))
    """
    base = UNIT.sub("", name).replace("IDs", "Ids")
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", base)
    return tuple(word.lower() for word in re.findall(r"[^\W\d_]+|\d+|#", spaced))


def unit_in(name: str) -> str | None:
    """Return the unit that stands in parentheses at the end of a name.

    Examples
    --------
    >>> unit_in("Body Mass (g)"), unit_in("mass")
    ('g', None)
    """
    found = UNIT.search(name)
    return found[1] if found else None


def last_word(words: tuple[str, ...]) -> str:
    """Return the last word of a name that is no number; empty where there is none.

    Examples
    --------
    >>> last_word(("zip", "code", "2"))
    'code'
    """
    return next((word for word in reversed(words) if not word.isdigit()), "")


def is_unnamed(name: str) -> bool:
    """Tell whether a name is none: empty, or made up by a program that met no header.

    Examples
    --------
    >>> is_unnamed(""), is_unnamed("Unnamed: 0"), is_unnamed("column 3"), is_unnamed("__index_level_0__")
    (True, True, True, True)
    """
    return re.fullmatch(r"\s*|unnamed: ?\d+|column ?\d+|\.\.\.\d+|__index_level_\d+__", name, re.IGNORECASE) is not None


def says_id(name: str) -> bool:
    """Tell whether a name is that of an identifier, even if its values repeat.

    Examples
    --------
    >>> [says_id(name) for name in ("userId", "patient_id", "Order Number", "acid", "number of rooms")]
    [True, True, True, False, False]
    """
    words = words_of(name)
    last = last_word(words)
    if last in ID_WORDS or GLUED_ID.fullmatch("".join(words)) or GLUED_ID.fullmatch(last):
        return True
    return last in ("number", "no", "nr", "num", "#") and len(words) > 1 and words[-2] in NUMBERED


def may_say_id(name: str) -> bool:
    """Tell whether a name is that of an identifier if every row has its own value: index, key, no name.

    Examples
    --------
    >>> [may_say_id(name) for name in ("index", "Unnamed: 0", "song key", "body mass index")]
    [True, True, True, False]
    """
    words = words_of(name)
    if re.fullmatch(r"\s*|unnamed: ?0|\.\.\.1|__index_level_\d+__", name, re.IGNORECASE) or words in (
        ("index",),
        ("idx",),
        ("row", "index"),
        ("row",),
        ("rows",),
    ):
        return True
    return last_word(words) in ("key", "serial", "hash", "token")


def says_code(name: str) -> bool:
    """Tell whether a name is that of a code, such as a ZIP code.

    Examples
    --------
    >>> [says_code(name) for name in ("Zip", "area code", "FIPS", "zipper")]
    [True, True, True, False]
    """
    words = words_of(name)
    return last_word(words) in CODE_WORDS or "".join(words) in CODE_WORDS


def says_group(name: str) -> bool:
    """Tell whether a name is that of a group, such as a class or a treatment; "species_id" names one too.

    Examples
    --------
    >>> [says_group(name) for name in ("Species", "cluster", "species_id", "class size")]
    [True, True, True, False]
    """
    words = tuple(word for word in words_of(name) if not word.isdigit())
    last = last_word(words)
    return last in GROUP_WORDS or (last in ("id", "code", "no", "nr") and len(words) > 1 and words[-2] in GROUP_WORDS)
