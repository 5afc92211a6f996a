"""Ctrl-C ends a single operator that would run for minutes, and what the program does with SIGINT stays its own."""
import os
import signal
import threading
import unittest

import wick

HOURS = 2 ** 42  # elements to go through, of one that is there


class Interrupts(unittest.TestCase):
    def interrupted(self, call):
        """The call, with SIGINT sent meanwhile."""
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            call()
        finally:
            timer.join()

    def test_operators(self):
        x = wick.zeros(1).expand(HOURS)
        program = wick.jit.CompilationUnit("def f(x):\n    while True:\n        x = x + 1\n    return x\n")
        for call in (x.sum, x.max, lambda: program.f(wick.zeros(2))):
            with self.assertRaises(KeyboardInterrupt):
                self.interrupted(call)
        self.assertEqual((wick.ones(5000) + 1).sum().item(), 10000)  # the next is not ended

    def test_handlers_of_the_program(self):
        class Mine(Exception):
            pass

        def handler(number, frame):
            raise Mine
        before = signal.signal(signal.SIGINT, handler)
        try:
            with self.assertRaises(Mine):
                self.interrupted(wick.zeros(1).expand(HOURS).sum)
        finally:
            signal.signal(signal.SIGINT, before)

    def test_ignored(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            os.kill(os.getpid(), signal.SIGINT)
            self.assertEqual(wick.ones(10 ** 6).sum().item(), 10 ** 6)
        finally:
            signal.signal(signal.SIGINT, before)

    def test_other_threads_are_not_ended(self):
        """SIGINT is the main thread's."""
        results = []
        thread = threading.Thread(target=lambda: results.append(wick.zeros(1).expand(2 ** 27).sum().item()))
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            self.interrupted(wick.zeros(1).expand(HOURS).sum)
        thread.join()
        self.assertEqual(results, [0])


if __name__ == "__main__":
    unittest.main()
