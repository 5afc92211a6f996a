"""Serves one module to many threads at once, and tells what each call took.

    python3 serve.py [MODEL.pt [THREADS [CALLS_OF_EACH]]]

The model reads images of (1, 1, 8, 8); examples/digits/reader.pt is taken where none is given. A module's calls need
no lock as long as they don't change its attributes. Exits with 1 when a thread got another answer than one alone.
"""
import pathlib
import sys
import threading
import time

import wick

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"


def serve(module, images, wanted, calls, number, right, latencies):
    """What one thread does: asks for one image after the other, beginning with another than its neighbours."""
    with wick.no_grad():  # the grad mode belongs to the thread
        for call in range(calls):
            which = (number + call) % len(images)
            start = time.perf_counter()
            answer = module(images[which])
            latencies[number].append(time.perf_counter() - start)
            right[number] += answer == wanted[which]


def main(model=DIGITS / "reader.pt", threads=32, calls=100):
    threads, calls = int(threads), int(calls)
    module = wick.jit.load(model).eval()
    images = wick.load(DIGITS / "digits.npy").split(1)
    with wick.no_grad():
        wanted = [module(image) for image in images]
    wick.set_num_threads(1)  # the calls are many: one thread works on each

    right, latencies = [0] * threads, [[] for _ in range(threads)]
    workers = [threading.Thread(target=serve, args=(module, images, wanted, calls, number, right, latencies))
               for number in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - start

    taken = sorted(1000 * latency for each in latencies for latency in each)
    print(f"{threads} threads, {len(taken)} calls, {sum(right)} right, {len(taken) / seconds:.0f} a second")
    print("milliseconds:", ", ".join(f"{share}% below {taken[(len(taken) - 1) * share // 100]:.3f}"
                                     for share in (50, 90, 99, 100)))
    return 0 if sum(right) == threads * calls else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
