"""The command line of the program."""

from __future__ import annotations

import argparse
import gc
from dataclasses import asdict, fields
from pathlib import Path
from time import perf_counter

from benchmarks import machine, memory, promises, registry, results, speed_page, store, tables
from benchmarks.case import Instance
from benchmarks.peers.peer import Peer
from benchmarks.schedule import Known, Rules, measure_instance

_HERE = Path(__file__).parent
_RESULTS = _HERE / "results"


def main(arguments: list[str] | None = None) -> int:
    """Do what the words say; the exit status is 0."""
    words = _parser().parse_args(arguments)
    return {"run": _run, "memory": _memory, "table": _table, "list": _list, "prepare": _prepare}[words.verb](words)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "verb",
        nargs="?",
        default="run",
        choices=["run", "memory", "table", "list", "prepare"],
        help="run the cases (default); measure only Gramian's memory; rewrite the table of docs/speed.md from a "
        "results file; list cases and peers; make the rows and references that a run needs",
    )
    parser.add_argument("--cases", help="parts of names, separated by commas")
    parser.add_argument("--peers", help="parts of names, separated by commas; Gramian and the floors are always in")
    parser.add_argument("--dtype", choices=["float64", "float32"], help="one precision only")
    parser.add_argument("--spectrum", choices=["decay", "noise"], help="one kind of data only")
    parser.add_argument("--quick", action="store_true", help="small shapes of every case, to try the program")
    parser.add_argument("--out", type=Path, help="the JSON file; the Markdown goes beside it")
    _add_rules(parser)
    return parser


def _add_rules(parser: argparse.ArgumentParser) -> None:
    sentences = {
        "repeats": "processes a setting, at least three for a median",
        "limit": "seconds a fit may take or be forecast to take",
        "patience": "times Gramian's time at which tightening a peer ends",
        "once_beyond": "times Gramian's time at which a setting is measured once",
        "hopeless": "times Gramian's time at which a peer is no longer tuned",
    }
    for rule in fields(Rules):
        name = f"--{rule.name.replace('_', '-')}"
        parser.add_argument(name, type=type(rule.default), default=rule.default, help=sentences[rule.name])


def _run(words: argparse.Namespace) -> int:
    """Measure, and write JSON and Markdown after every instance, so that a stopped run is not lost."""
    peers = _available(_peers(words))
    rules = Rules(**{rule.name: getattr(words, rule.name) for rule in fields(Rules)})
    found: results.Results = {
        "machine": machine.describe(peer.distribution for peer in peers),
        "rules": asdict(rules),
        "quick": words.quick,
        "rows": [],
    }
    out, began, known = _out(words, "pca"), perf_counter(), Known()
    for instance in _instances(words):
        print(f"{instance.key} ({perf_counter() - began:.0f} s)", flush=True)
        rate = found["machine"]["product_rate"][instance.dtype]
        entries = measure_instance(instance, peers, rules=rules, rate=rate, tell=_say, known=known)
        found["rows"] += [results.as_row(entry) for entry in entries]
        found["wall_seconds"] = perf_counter() - began
        _write(found, out)
    print(promises.report(found), f"\n{out} written in {perf_counter() - began:.0f} s.", sep="")
    return _table(words) if _is_whole(words) and words.out is None else 0


def _memory(words: argparse.Namespace) -> int:
    """Measure the memory of Gramian's defaults, and write JSON and Markdown."""
    peers = _available(registry.chosen_peers("Gramian"))
    found = {"machine": machine.describe(peer.distribution for peer in peers)}
    found["rows"] = memory.measure_memory(_instances(words), tell=_say)
    out = _out(words, "memory")
    results.write(found, out)
    out.with_suffix(".md").write_text(f"# Memory beyond the input\n\n{memory.table(found['rows'])}\n", encoding="utf-8")
    return 0


def _table(words: argparse.Namespace) -> int:
    """Write the Markdown of a results file again, and the table of docs/speed.md."""
    out = _out(words, "pca")
    found = results.read(out)
    _write(found, out)
    speed_page.rewrite(tables.summary(found))
    print(f"{speed_page.PAGE.name}: the table between the markers is that of {out.name}.")
    return 0


def _list(words: argparse.Namespace) -> int:
    """Print what there is."""
    for case in registry.chosen_cases(words.cases):
        print(f"case  {case.name:28} {case.title}")
    for peer in registry.all_peers():
        print(f"peer  {peer.name:28} {'only when named' if peer.only_when_named else ''}".rstrip())
    return 0


def _prepare(words: argparse.Namespace) -> int:
    """Make rows and references now, so that a run is spent on measuring."""
    for instance in _instances(words):
        store.load_reference(instance, store.load_rows(instance))
        print(f"{instance.key}: ready in {store.folder()}", flush=True)
    return 0


def _instances(words: argparse.Namespace) -> list[Instance]:
    """The instances that the flags choose."""
    every = [instance for case in registry.chosen_cases(words.cases) for instance in case.instances(quick=words.quick)]
    return [
        instance
        for instance in every
        if words.dtype in {None, instance.dtype} and words.spectrum in {None, instance.spectrum}
    ]


def _peers(words: argparse.Namespace) -> list[Peer]:
    """The peers that the flags choose, with Gramian and the floors always among them."""
    named = {peer.name for peer in registry.chosen_peers(words.peers)}
    return [peer for peer in registry.all_peers() if peer.is_floor or peer.name == "Gramian" or peer.name in named]


def _available(peers: list[Peer]) -> list[Peer]:
    """Those whose package can be imported; the others are named."""
    ready = []
    for peer in peers:
        try:
            peer.preload()
        except ImportError as error:
            print(f"{peer.name} is left out: {error}")
        else:
            ready.append(peer)
    # A collection in a forked process would otherwise touch, and so copy, every object that was imported here.
    gc.freeze()
    return ready


def _out(words: argparse.Namespace, name: str) -> Path:
    """Where results go: only a whole run overwrites the record, the others stay in the scratch folder."""
    return words.out or (_RESULTS / f"{name}.json" if _is_whole(words) else store.folder() / f"part-{name}.json")


def _is_whole(words: argparse.Namespace) -> bool:
    """Whether nothing was left out by a flag."""
    return not (words.quick or words.cases or words.peers or words.dtype or words.spectrum)


def _write(found: results.Results, out: Path) -> None:
    """The JSON file and the Markdown beside it."""
    results.write(found, out)
    pages = [tables.details(found), promises.report(found)]
    out.with_suffix(".md").write_text("\n".join(pages), encoding="utf-8")


def _say(line: str) -> None:
    print(line, flush=True)
