"""Tables to decide roles on: a small reader of real ones, and makers of generated ones with the right roles."""

import datetime as dt
import uuid
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa

from gramian.sources.formats.csv import open_csv


def read_csv(path):
    """Return the columns of a text table as files are read."""
    return open_csv(path, path.name).examined()


N = 60
WORDS = ("oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "nut", "tea")


def names(n, seed=0):
    """Return n different names of two words."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    return [f"{WORDS[i % 10].title()} {WORDS[(i // 10) % 10]} {chr(97 + i // 100 % 26)}" for i in order]


def sentences(n, seed=0):
    """Return n different sentences."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 9)) + f" {i}." for i in range(n)]


@cache
def tables():
    """Return, by the name of a table, its columns: name, cells and right role."""
    r = np.random.default_rng(7)
    return {
        "hospital": [
            ("hospitalID", r.integers(1, 9, N), "id"),
            ("patient_id", r.permutation(10_000)[:N], "id"),
            ("age", r.integers(18, 90, N), "quantity"),
        ],
        "ratings": [
            ("userId", r.integers(1, 20, N), "id"),
            ("movieId", r.integers(1, 40, N), "id"),
            ("rating", r.integers(1, 11, N) / 2, "quantity"),
            ("timestamp", r.integers(964_000_000, 1_500_000_000, N), "date"),
        ],
        "numbers of people": [
            ("MRN", np.random.default_rng(1).integers(10**9, 10**10, N), "id"),
            ("card", np.random.default_rng(2).integers(4 * 10**15, 5 * 10**15, N), "id"),
            ("tax number", np.random.default_rng(3).integers(10**9, 10**10, N), "id"),
        ],
        "pandas index": [("Unnamed: 0", np.arange(N), "id"), ("a", r.normal(size=N), "quantity")],
        "R index": [("", r.permutation(N) + 1, "id"), ("a", r.normal(size=N), "quantity")],
        "index by name": [("index", np.arange(N), "id"), ("b", r.poisson(3, N), "quantity")],
        "index from one": [("idx", r.permutation(N) + 1, "id"), ("b", r.poisson(30, N), "quantity")],
        "numbered juices": [("juice", r.permutation(N) + 1, "id"), ("sweet", r.normal(size=N), "quantity")],
        "unnamed quantity": [("Unnamed: 3", r.poisson(40, N), "quantity")],
        "accounts": [
            ("Account", r.integers(10**9, 10**10, N), "id"),
            ("Balance", r.lognormal(8, 1, N).round(2), "quantity"),
            ("account length", r.integers(1, 200, N), "quantity"),
        ],
        "phones": [
            ("phone", r.integers(2_000_000_000, 9_999_999_999, N), "id"),
            (
                "Phone Number",
                [f"{a}-{b:04d}" for a, b in zip(r.integers(200, 999, N), r.permutation(N), strict=True)],
                "id",
            ),
            (
                "fax",
                [f"(0{a}) {b}" for a, b in zip(r.integers(20, 99, N), r.integers(10**5, 10**6, N), strict=True)],
                "id",
            ),
        ],
        "phones in words": [
            ("reach at", [f"+41 44 {200 + i} {10 + i % 80} {99 - i % 80}" for i in r.permutation(N)], "id")
        ],
        "orders": [
            ("Order Number", 70_000 + r.permutation(N), "id"),
            ("order_no", 1 + r.integers(0, 20, N), "id"),
            ("number of rooms", r.integers(1, 6, N), "quantity"),
            ("num_children", r.integers(0, 5, N), "quantity"),
        ],
        "large integers": [
            ("tweet", 2**60 + r.integers(0, 2**20, N), "id"),
            ("likes", r.poisson(5, N), "quantity"),
        ],
        "uuids": [("key", [str(uuid.UUID(bytes=r.bytes(16))) for _ in range(N)], "id")],
        "hexadecimal": [("commit", [r.bytes(10).hex() for _ in range(N)], "id")],
        "codes of one pattern": [("sample", [f"INV-{i:05d}" for i in r.permutation(N)], "id")],
        "float ids": [("customer_id", np.where(np.arange(N) == 7, np.nan, r.permutation(N) + 100.0), "id")],
        "glued ids": [
            ("customerid", r.permutation(N) + 500, "id"),
            ("acid", r.integers(1, 9, N), "quantity"),
        ],
        "key of music": [
            ("key", r.integers(0, 12, N), "quantity"),
            ("primary_key", r.permutation(N) * 3, "id"),
        ],
        "zip codes": [
            ("Zip", r.choice([10001, 90210, 60601, 30301], N), "category"),
            ("price", r.lognormal(3, 1, N), "quantity"),
        ],
        "zip codes that differ": [("zip_code", 10_000 + 7 * r.permutation(N), "id")],
        "leading zeros": [("office", r.choice(["01234", "02139", "90210"], N).tolist(), "category")],
        "leading zeros that differ": [("badge", [f"{i:06d}" for i in r.permutation(N) * 11], "id")],
        "codes": [
            ("FIPS", r.choice([1001, 1003, 6037], N), "category"),
            ("SIC", r.choice([111, 2834, 7372], N), "category"),
            ("area code", r.choice([212, 415, 510], N), "category"),
            ("postcode", r.choice([8001, 8002, 8400], N), "category"),
            ("district", r.integers(1, 9, N), "category"),
        ],
        "months with zeros": [("month", [f"{i:02d}" for i in r.integers(1, 13, N)], "quantity")],
        "years": [("year", 1960 + np.arange(N), "date"), ("gdp", r.normal(size=N), "quantity")],
        "years that repeat": [("year", r.integers(2000, 2010, N), "quantity")],
        "birth years": [("birth_year", 1900 + 2 * r.permutation(N) + (np.arange(N) == 4), "quantity")],
        "time axis": [("time", np.arange(N) / 250, "date"), ("lead", r.normal(size=N), "quantity")],
        "days": [("day", np.arange(N) + 1, "date"), ("sales", r.poisson(9, N), "quantity")],
        "survival": [
            ("time", r.integers(5, 900, N), "quantity"),
            ("status", r.integers(1, 3, N), "category"),
        ],
        "cars": [
            ("model", names(N), "name"),
            ("cyl", r.choice([4, 6, 8], N), "quantity"),
            ("gear", r.choice([3.0, 4.0, 5.0], N), "quantity"),
            ("am", r.choice([0.0, 1.0], N), "quantity"),
        ],
        "countries": [("country", names(N, 1), "name"), ("gdp", r.lognormal(2, 2, N), "quantity")],
        "names with some twice": [("name", [*names(N - 10, 2), *names(N - 10, 2)[:10]], "name")],
        "between groups and names": [("thing", r.choice(names(N, 3), N).tolist(), "text")],
        "comments": [("remark", sentences(N), "text"), ("opinion", sentences(N, 1), "text")],
        "rare comments": [
            (
                "field",
                [("not enough blood for it" if i % 9 == 0 else None) if i % 2 else None for i in range(N)],
                "constant",
            ),
            (
                "said",
                ["not enough blood" if i == 3 else "adult not sampled at all" if i < 6 else None for i in range(N)],
                "text",
            ),
        ],
        "groups of text": [
            ("species", r.choice(["setosa", "virginica"], N).tolist(), "category"),
            ("weekday", r.choice(["Mon", "Tue", "Wed"], N).tolist(), "category"),
            ("month", r.choice(["January", "May", "July"], N).tolist(), "category"),
            ("smoker", r.choice(["yes", "no"], N).tolist(), "category"),
        ],
        "codes of groups": [
            ("Species", r.integers(0, 3, N), "category"),
            ("class", r.integers(1, 4, N), "category"),
            ("label", r.integers(0, 2, N), "category"),
            ("target", r.integers(0, 10, N), "category"),
            ("cluster", r.integers(0, 5, N), "category"),
            ("group", np.repeat([1, 2, 3], N // 3), "category"),
            ("species_id", r.integers(0, 4, N), "category"),
        ],
        "targets": [
            ("target", r.integers(25, 346, N), "quantity"),
            ("class size", r.integers(9, 30, N), "quantity"),
        ],
        "dictionary": [
            ("tree", pa.array(r.choice(["oak", "elm"], N)).dictionary_encode(), "category"),
            ("floor", pa.array(r.integers(0, 4, N)).dictionary_encode(), "category"),
        ],
        "booleans": [("alive", r.integers(0, 2, N).astype(bool), "quantity")],
        "ordinals": [
            ("quality", r.integers(3, 9, N), "quantity"),
            ("q1", r.integers(1, 6, N), "quantity"),
            ("Month", r.integers(5, 10, N), "quantity"),
            ("Day", r.integers(1, 32, N), "quantity"),
            ("Rank", r.permutation(N) + 1, "quantity"),
        ],
        "ISO dates": [
            ("born", [f"20{i % 20:02d}-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)], "date"),
            ("seen", [f"2001-06-{i % 28 + 1:02d}T12:{i:02d}:00Z" for i in range(N)], "date"),
            ("at", [f"2001-06-{i % 28 + 1:02d} 12:{i:02d}" for i in range(N)], "date"),
            ("ym", [f"2001-{i % 12 + 1:02d}" for i in range(N)], "date"),
        ],
        "dates in one number": [
            ("visit", np.array([20010000 + 100 * (i % 12 + 1) + i % 28 + 1 for i in range(N)]), "date"),
            ("yearmonth", np.array([200100 + i % 12 + 1 for i in range(N)]), "date"),
        ],
        "German dates": [("Datum", [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2001" for i in range(N)], "date")],
        "American dates": [("when", [f"{i % 12 + 1}/{i % 28 + 1}/2001" for i in range(N)], "date")],
        "dates in doubt": [("when", [f"{i % 12 + 1}/{i % 11 + 1}/2001" for i in range(N)], "date")],
        "dates in words": [
            ("a", [f"{i % 28 + 1} {('Jan', 'Feb', 'Mar')[i % 3]} 2001" for i in range(N)], "date"),
            ("b", [f"{('January', 'May')[i % 2]} {i % 28 + 1}, 2001" for i in range(N)], "date"),
            ("c", [f"{2000 + i // 4}Q{i % 4 + 1}" for i in range(N)], "date"),
            ("d", [f"{i % 24:02d}:{i % 60:02d}" for i in range(N)], "date"),
        ],
        "Arrow dates": [
            ("d", pa.array([dt.date(2001, 6, i % 28 + 1) for i in range(N)]), "date"),
            ("t", pa.array([dt.datetime(2001, 6, 1, i % 24, tzinfo=dt.UTC) for i in range(N)]), "date"),
        ],
        "milliseconds": [("created_at", 10**12 + r.integers(0, 10**10, N), "date")],
        "sales of the size of seconds": [("sales", r.integers(10**9, 2 * 10**9, N), "quantity")],
        "nothing varies": [
            ("one", np.ones(N), "constant"),
            ("same", ["a"] * N, "constant"),
            ("none", pa.nulls(N), "empty"),
            ("blank", [None] * (N - 1) + ["  "], "empty"),
            ("nan", np.full(N, np.nan), "empty"),
            ("true", [True] * N, "constant"),
        ],
        "nested": [("parts", pa.array([[1, 2]] * N), "text")],
        "dollars": [("paid", [f"-${v:,.2f}" if v < 900 else f"${v:,.2f}" for v in r.lognormal(7, 1, N)], "quantity")],
        "accounting": [
            ("net", [f"(${v:,.2f})" if v < 900 else f"${v:,.2f}" for v in r.lognormal(7, 1, N)], "quantity")
        ],
        "euros": [
            ("Preis", [f"{v:,.2f} €".translate(str.maketrans(",.", ".,")) for v in r.lognormal(7, 1, N)], "quantity")
        ],
        "French": [
            ("prix", [f"{v:,.1f}".replace(",", "\u202f").replace(".", ",") for v in r.lognormal(8, 1, N)], "quantity")
        ],
        "Swiss": [("Betrag", [f"{v:,.2f}".replace(",", "'") for v in r.lognormal(8, 1, N)], "quantity")],
        "pounds and yen": [
            ("gbp", [f"£{v:.2f}" for v in r.lognormal(2, 1, N)], "quantity"),
            ("jpy", [f"{v:.0f} ¥" for v in r.lognormal(5, 1, N)], "quantity"),
        ],
        "percent": [
            ("share", [f"{v:.0f} %" for v in r.uniform(0, 100, N)], "quantity"),
            ("rate", [f"{v:.1f}%" for v in r.uniform(0, 100, N)], "quantity"),
        ],
        "units": [
            ("mass", [f"{v:.1f} kg" for v in r.normal(70, 9, N)], "quantity"),
            ("length", [f"{v:.1f}cm" for v in r.normal(170, 9, N)], "quantity"),
            ("speed", [f"{v:.0f} km/h" for v in r.normal(90, 9, N)], "quantity"),
            ("Height (cm)", r.normal(170, 9, N), "quantity"),
        ],
        "thousands in doubt": [("people", [f"{v:,}" for v in r.integers(1000, 900_000, N)], "quantity")],
        "a few bad cells": [
            ("mg", ["bad" if i == 5 else f"{v:.2f}" for i, v in enumerate(r.normal(size=N))], "quantity"),
            ("ml", ["<1" if i % 20 == 0 else f"{v:.1f}" for i, v in enumerate(r.normal(5, 1, N))], "quantity"),
            ("g", ["-" if i % 3 == 0 else f"{v:.1f}" for i, v in enumerate(r.normal(5, 1, N))], "quantity"),
        ],
        "many bad cells": [
            ("stage", ["low" if i % 3 else str(i % 4) for i in range(N)], "category"),
            ("seats", ["10+" if i % 4 == 0 else str(i % 5) for i in range(N)], "category"),
        ],
        "two numbers in a cell": [
            ("pressure", [f"{100 + i}/{60 + i % 30}" for i in r.permutation(N)], "text"),
            ("where", [f"{v:.3f}, {w:.3f}" for v, w in r.normal(size=(N, 2))], "text"),
        ],
        "addresses": [
            ("ip", [f"192.168.{i}.{3 * i % 255}" for i in r.permutation(N)], "id"),
            ("mail", [f"u{i}@example.org" for i in r.permutation(N)], "id"),
        ],
        "German months": [
            ("Tag", [f"{i % 28 + 1}. {('Januar', 'März', 'Mai', 'Dezember')[i % 4]} 2001" for i in range(N)], "date")
        ],
        "mixed units": [
            ("dose", [f"{v:.2f} {'kg' if i % 2 else 'lb'}" for i, v in enumerate(r.normal(70, 9, N))], "text"),
            ("level", ["<0.05" if i % 4 == 0 else f"{v:.3f}" for i, v in enumerate(r.normal(5, 1, N))], "text"),
            ("lodged", [f"{i} {names(N)[i]} Street" for i in range(N)], "name"),
        ],
        "houses": [
            ("Order", 1 + r.permutation(N), "id"),
            ("PID", r.integers(10**9, 10**10, N), "id"),
            ("MS SubClass", r.choice([20, 60, 120], N), "category"),
            ("Yr Sold", r.integers(2006, 2011, N), "quantity"),
        ],
        "panel": [
            ("country", [names(N)[i // 6] for i in range(N)], "category"),
            ("year", np.arange(N) % 6 + 2000, "quantity"),
            ("origin", r.integers(1, 4, N), "category"),
        ],
        "passengers": [
            ("PassengerId", 1 + np.arange(N), "id"),
            ("Survived", r.integers(0, 2, N), "quantity"),
            ("Pclass", r.integers(1, 4, N), "category"),
            ("Ticket", [str(v) if v % 4 else f"PC {v}" for v in r.integers(10**4, 10**5, N)], "text"),
        ],
        "elements": [
            ("wave number", 3 * r.permutation(N) + 400, "quantity"),
            ("number", 10 * r.permutation(N) + 4000, "quantity"),
            ("arm", r.integers(20, 40, N), "quantity"),
            ("total_time", r.integers(10**9, 2 * 10**9, N), "quantity"),
            ("candidate", r.integers(20_000, 70_000, N), "quantity"),
            ("target", r.integers(0, 45, N), "quantity"),
            ("body mass index", r.integers(18, 40, N), "quantity"),
            ("lifetime", 10**9 + r.permutation(N), "quantity"),
        ],
        "sheets": [
            ("Order Date", r.integers(36_000, 42_000, N), "date"),
            ("finish", [f"{i % 3 + 2}:{i % 60:02d}:{7 * i % 60:02d}" for i in range(N)], "date"),
            ("term", r.choice(["36 months", "60 months"], N).tolist(), "quantity"),
            ("employed", r.choice(["< 1 year", "2 years", "10+ years", "5 years"], N).tolist(), "category"),
        ],
        "species that come twice": [("species", [*names(N - 3), *names(N - 3)[:3]], "name")],
        "entities": [
            ("subject", r.integers(1, 12, N), "id"),
            ("Store", r.integers(1, 9, N), "id"),
            ("case", r.integers(0, 2, N), "quantity"),
        ],
        "index that lost rows": [("Unnamed: 0", r.permutation(900)[:N], "id")],
        "sentinels": [
            ("temp", np.where(np.arange(N) % 11 == 0, -999, r.normal(15, 8, N).round(1)), "quantity"),
            ("depth", np.where(np.arange(N) == 3, -9999, r.integers(0, 400, N)), "quantity"),
            ("dn", np.where(np.arange(N) % 17 == 0, -32768, r.integers(0, 4000, N)), "quantity"),
            ("sst", np.where(np.arange(N) % 5 == 0, 1e20, r.normal(290, 5, N)), "quantity"),
            ("answer", np.where(np.arange(N) % 13 == 0, 99, r.integers(1, 6, N)), "quantity"),
        ],
        "dummies": [
            (f"color_{c}", column.astype(int), "category")
            for c, column in zip(("red", "green", "blue"), one_of_three(r), strict=True)
        ],
        "dummies without a stem": [
            (c, column, "category") for c, column in zip(("oak", "elm", "ash"), one_of_three(r), strict=True)
        ],
        "zeros and ones": [(f"f{j}", r.integers(0, 2, N), "quantity") for j in range(8)],
        "blanks around": [
            ("g", [" a", "b ", "a", "b"] * (N // 4), "category"),
            ("v", [f" {v:.3f} " for v in r.normal(size=N)], "quantity"),
        ],
        "decimals": [("price", pa.array([Decimal(int(v)) / 100 for v in r.integers(1, 9999, N)]), "quantity")],
        "infinite": [("ratio", np.where(np.arange(N) == 9, np.inf, r.normal(size=N)), "quantity")],
        "spam": [
            (name, r.exponential(size=N).round(2), "quantity") for name in ("order", "address", "label", "key", "id")
        ],
    }


def one_of_three(rng):
    """Return three boolean columns of which each row has one true."""
    drawn = rng.integers(0, 3, N)
    return [drawn == i for i in range(3)]


def generated(name):
    """Return the columns of a generated table as Arrow, and the right role of each; a column of noise is in each."""
    made = [*tables()[name], ("noise", np.random.default_rng(8).normal(size=N), "quantity")]
    columns = {
        column: pa.chunked_array([cells if isinstance(cells, pa.Array) else pa.array(cells)])
        for column, cells, _ in made
    }
    return columns, {column: role for column, _, role in made}
