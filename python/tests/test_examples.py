"""The programs of examples/python, run as their users run them; what they save is loaded and looked at here."""
import array
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import wave

import wick
from wick import nn

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
RATE = 16000


class Gate(nn.Module):
    """A voice detector of silero_vad's signature: a chunk with power is speech. Deaf until its states are reset."""

    def __init__(self):
        super().__init__()
        self.chunks = -1

    def forward(self, x: wick.Tensor, rate: int) -> wick.Tensor:
        if self.chunks < 0 or rate != 16000 or x.size(0) != 1 or x.size(1) != 512:
            return wick.zeros(1, 1)
        self.chunks += 1
        return (x.square().mean(1, True) > 0.01).float() * 0.8

    @wick.jit.export
    def reset_states(self):
        self.chunks = 0


class Counter(nn.Module):
    """Gives another answer each time."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, images: wick.Tensor) -> str:
        self.calls += 1
        return str(self.calls)


def write_wave(path, tones, seconds, rate=RATE, channels=1):
    """A recording of silence with tones of 440 Hz in (begin, end), given in seconds."""
    samples = array.array("h")
    for i in range(int(seconds * rate)):
        loud = any(begin <= i / rate < end for begin, end in tones)
        samples.extend([int(16000 * math.sin(2 * math.pi * 440 * i / rate)) if loud else 0] * channels)
    if sys.byteorder == "big":
        samples.byteswap()
    with wave.open(path, "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes(samples.tobytes())


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return str(pathlib.Path(self.folder) / name)

    def run_example(self, name, *arguments, status=0):
        done = subprocess.run([sys.executable, str(EXAMPLES / "python" / name), *arguments], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stdout + done.stderr

    def test_each_is_short_and_tells_its_command_line(self):
        found = sorted((EXAMPLES / "python").glob("*.py"))
        self.assertEqual([path.name for path in found],
                         ["run.py", "script.py", "serve.py", "trace.py", "train.py", "voice.py"])
        for path in found:
            text = path.read_text()
            self.assertLess(len(text.splitlines()), 60, path.name)
            self.assertIn("    python3 " + path.name, text)

    def test_run_reads_digits(self):
        lines = self.run_example("run.py").splitlines()
        self.assertEqual(len(lines), 16)
        reader = wick.jit.load(EXAMPLES / "digits" / "reader.pt").eval()
        self.assertEqual(lines, reader(wick.load(EXAMPLES / "digits" / "digits.npy")).splitlines())

    def test_run_takes_files_numbers_and_sizes(self):
        @wick.jit.script
        def mix(x, y, times: int, scale: float):
            return (x * 0 + y) * times * scale

        mix.save(self.path("mix.pt"))
        wick.save(wick.arange(3.), self.path("y.pt"))
        text = self.run_example("run.py", self.path("mix.pt"), "2x3", self.path("y.pt"), "3", "0.5")
        self.assertEqual(text, "%s [2, 3]\n%s\n" % (wick.float32, wick.arange(3.).expand(2, 3) * 1.5))

    def test_train_reads_97_of_100_digits(self):
        last = self.run_example("train.py", self.path("digits.pt")).splitlines()[-1]
        told = float(re.search(r"([\d.]+)% of the test images", last).group(1))
        data = wick.load(EXAMPLES / "digits" / "digits.npz")
        images, labels = data["images"][4::5].float().div(16).unsqueeze(1), data["labels"][4::5]
        right = (wick.jit.load(self.path("digits.pt")).eval()(images).argmax(1) == labels).float().mean().item()
        self.assertGreaterEqual(right, 0.97)
        self.assertAlmostEqual(100 * right, told, places=1)

    def test_train_says_when_it_did_not_learn(self):
        self.run_example("train.py", self.path("digits.pt"), "0", status=1)

    def test_script_saves_what_runs_alone(self):
        text = self.run_example("script.py", self.path("search.pt"))
        self.assertIn("def forward(", text)
        self.assertEqual(text.splitlines()[-1], "calls: 4")
        search = wick.jit.load(self.path("search.pt"))
        self.assertIn("fox -> " + repr(search("fox", length=5)), text)
        self.assertEqual(search.count(), 1)
        with self.assertRaisesRegex(Exception, "no such word: dog"):
            search("dog")

    def test_trace_holds_for_other_sizes(self):
        text = self.run_example("trace.py", self.path("mixer.pt"))
        self.assertIn("aten::batch_norm", text)
        self.assertIn("the same for an input of [5, 3, 20, 12]", text)
        frozen = wick.jit.load(self.path("mixer.pt"))
        self.assertEqual(list(frozen.parameters()), [])
        self.assertEqual(frozen(wick.randn(2, 3, 5, 7)).shape, (2, 3))

    def test_serve_gives_every_thread_the_right_answers(self):
        text = self.run_example("serve.py", str(EXAMPLES / "digits" / "reader.pt"), "32", "10")
        self.assertIn("32 threads, 320 calls, 320 right", text)
        times = [float(time) for time in re.findall(r"below ([\d.]+)", text)]
        self.assertEqual(len(times), 4)
        self.assertEqual(times, sorted(times))

    def test_serve_notices_wrong_answers(self):
        wick.jit.script(Counter()).save(self.path("counter.pt"))
        self.assertIn("2 calls, 0 right", self.run_example("serve.py", self.path("counter.pt"), "1", "2", status=1))

    def test_voice_prints_segments(self):
        wick.jit.script(Gate()).save(self.path("gate.pt"))
        tones = (1, 1.5), (1.6, 2), (3, 3.5)  # the first pause is too short to end a segment
        for channels in 1, 2:
            write_wave(self.path("speech.wav"), tones, 3.5, channels=channels)
            text = self.run_example("voice.py", self.path("gate.pt"), self.path("speech.wav"))
            self.assertEqual(re.findall(r"([\d.]+) s to +([\d.]+) s", text), [("0.99", "2.02"), ("2.98", "3.52")])
        self.assertEqual(self.run_example("voice.py", self.path("gate.pt"), self.path("speech.wav"), "0.9"), "")

    def test_voice_says_what_it_needs(self):
        self.assertIn("python3 voice.py MODEL.pt SPEECH.wav", self.run_example("voice.py", status=1))
        wick.jit.script(Gate()).save(self.path("gate.pt"))
        write_wave(self.path("speech.wav"), [], 0.1, rate=8000)
        self.assertIn("16 bits at 8000 Hz; not 16 bits at 16000 Hz",
                      self.run_example("voice.py", self.path("gate.pt"), self.path("speech.wav"), status=1))


if __name__ == "__main__":
    unittest.main()
