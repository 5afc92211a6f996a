"""The page, the plot and the regressions of `make bench`, from numbers made up. Usage: bench_report.py BENCH_FOLDER"""
import copy, json, os, sys, tempfile
import xml.dom.minidom

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import report


def row(name, threads, wick, **peers):
    def summary(median):
        return {"median": median, "p99": 2 * median, "first": 10 * median, "memory": 20}
    return {"name": name, "threads": threads, "inputs": "1",
            "peers": dict({"wick": summary(wick)}, **{peer: summary(ms) for peer, ms in peers.items()})}


numbers = {"machine": {"name": "some", "limits": [{"threads": 1, "gflops": 100.0, "gbytes": 10.0}]}, "version": "wick 1",
           "rows": [row("fast", 1, 1.0, PyTorch=4.0, Other=0.5), row("slow", 1, 2.0, PyTorch=1.0), row("alone", 2, 3.0)]}
assert report.ratio(numbers["rows"][0], "PyTorch") == 4 and report.ratio(numbers["rows"][2], "PyTorch") is None
assert "(4.00)" in report.line(numbers["rows"][0])
with tempfile.TemporaryDirectory() as folder:
    last = os.path.join(folder, "performance.json")
    assert report.regressions(numbers, last) == []
    report.write(numbers, folder)
    page = open(os.path.join(folder, "performance.md")).read()
    assert "geometric mean 1.41, least 0.50, most 4.00, of 2 workloads" in page, page
    assert "| fast | 1 | 1 | 2 | 10 | 20 | 4 | 4.00 |" in page, page
    xml.dom.minidom.parse(os.path.join(folder, "performance.svg"))
    assert json.load(open(last)) == numbers
    later = copy.deepcopy(numbers)
    later["rows"][0]["peers"]["wick"]["median"] = 1.04
    later["rows"][1]["peers"]["wick"]["median"] = 2.2
    assert report.regressions(later, last) == ["slow, 1 threads: 2.2 ms, was 2 ms"]
    later["machine"]["name"] = "another"
    assert report.regressions(later, last) == []
print("fine")
