"""Protocol Buffers' wire format, as far as ONNX models need it: what is written, never what is read.

A Message is a list of pieces of bytes that knows its length, so that a message inside another is not copied and the
bytes of weights are those of the tensors themselves.
"""
import struct

_VARINT, _LENGTH, _FIXED32 = 0, 2, 5


def varint(number):
    """An integer in base 128, the lowest digits first; negative ones as 64 bits."""
    number &= (1 << 64) - 1
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)


class Message:
    """Fields in the order in which they were added."""

    __slots__ = ("pieces", "size")

    def __init__(self):
        self.pieces, self.size = [], 0

    def _add(self, piece):
        self.pieces.append(piece)
        self.size += len(piece)

    def integer(self, field, number):
        """A field of an integer, a bool or an enumeration."""
        self._add(varint(field << 3 | _VARINT) + varint(int(number)))

    def real(self, field, number):
        """A field of a float."""
        self._add(varint(field << 3 | _FIXED32) + struct.pack("<f", number))

    def data(self, field, content):
        """A field of bytes (anything with a buffer of bytes)."""
        self._add(varint(field << 3 | _LENGTH) + varint(len(content)))
        self._add(content)

    def text(self, field, content):
        """A field of a string."""
        self.data(field, content.encode())

    def integers(self, field, numbers):
        """A packed field of integers."""
        if numbers:
            self.data(field, b"".join(varint(number) for number in numbers))

    def reals(self, field, numbers):
        """A packed field of floats."""
        if numbers:
            self.data(field, struct.pack("<%df" % len(numbers), *numbers))

    def message(self, field, inner):
        """A field of a message, which is complete."""
        self._add(varint(field << 3 | _LENGTH) + varint(inner.size))
        self.pieces.extend(inner.pieces)
        self.size += inner.size

    def write(self, file):
        """Its bytes into a file."""
        for piece in self.pieces:
            file.write(piece)
