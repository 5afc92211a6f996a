"""The memory of tensors as sequences of elements."""
import copy
import unittest

from beside import torch


class Storages(unittest.TestCase):
    def setUp(self):
        self.whole = torch.arange(6.0)
        self.part = self.whole.view(2, 3)[1]

    def test_shows_the_memory_of_a_view(self):
        storage = self.part.storage()
        self.assertEqual((len(storage), storage.size(), storage.nbytes(), storage.element_size()), (6, 6, 24, 4))
        self.assertEqual(storage.tolist(), [0, 1, 2, 3, 4, 5])
        self.assertEqual(list(storage), storage.tolist())
        self.assertEqual((storage[1], storage[-1]), (1.0, 5.0))
        self.assertEqual((storage.dtype, storage.device), (torch.float32, torch.device("cpu")))
        self.assertEqual(storage.data_ptr(), self.whole.data_ptr())
        self.assertEqual(storage.data_ptr(), self.whole.storage().data_ptr())
        self.assertNotEqual(storage.data_ptr(), torch.zeros(6).storage().data_ptr())
        self.assertEqual(self.part.storage_offset(), 3)

    def test_writes_what_the_tensor_shows(self):
        storage = self.part.storage()
        storage[3] = 7
        self.assertEqual(self.part.tolist(), [7, 4, 5])
        self.assertIs(storage.fill_(2), storage)
        self.assertEqual(self.whole.tolist(), [2] * 6)
        storage.copy_(torch.FloatStorage([6, 5, 4, 3, 2, 1]))
        self.assertEqual(self.part.tolist(), [3, 2, 1])

    def test_bytes(self):
        storage = self.part.storage().untyped()
        self.assertEqual((len(storage), storage.nbytes(), storage.element_size()), (24, 24, 1))
        self.assertEqual(storage.tolist()[:8], [0, 0, 0, 0, 0, 0, 128, 63])
        self.assertEqual(storage.data_ptr(), self.whole.data_ptr())
        self.assertEqual(storage[4:8].tolist(), [0, 0, 128, 63])
        self.assertEqual(torch.UntypedStorage([1, 2, 3]).tolist(), [1, 2, 3])
        self.assertEqual(torch.UntypedStorage(3).nbytes(), 3)

    def test_printing(self):
        self.assertEqual(str(torch.FloatStorage([1, 2])), " 1.0\n 2.0\n[torch.storage.TypedStorage(dtype="
                         "torch.float32, device=cpu) of size 2]")
        self.assertEqual(str(torch.UntypedStorage([1])), " 1\n[torch.storage.UntypedStorage(device=cpu) of size 1]")

    def test_classes(self):
        storage = self.part.storage()
        self.assertEqual((storage.type(), storage.pickle_storage_type()), ("torch.FloatStorage", "FloatStorage"))
        self.assertIs(self.part.storage_type(), torch.FloatStorage)
        self.assertIs(torch.Storage, torch.FloatStorage)
        self.assertIsInstance(storage, torch.FloatStorage)
        self.assertIsInstance(storage, torch.TypedStorage)
        self.assertNotIsInstance(storage, torch.LongStorage)
        self.assertIs(torch.LongStorage.dtype, torch.int64)
        self.assertIs(type(torch.IntStorage(2)), torch.storage.TypedStorage)
        self.assertEqual(torch.LongStorage().tolist(), [])
        self.assertEqual(torch.TypedStorage([1, 2], dtype=torch.int8).type(), "torch.CharStorage")
        self.assertEqual(torch.tensor([1 + 2j]).storage().tolist(), [1 + 2j])
        self.assertEqual(torch.BoolStorage([True]).tolist(), [True])

    def test_copies(self):
        storage = self.part.storage()
        for other in (storage.clone(), copy.copy(storage), copy.deepcopy(storage), storage.double(), storage.int()):
            self.assertEqual(other.tolist(), storage.tolist())
            self.assertNotEqual(other.data_ptr(), storage.data_ptr())
        self.assertEqual(storage.double().dtype, torch.float64)
        self.assertEqual(storage.cpu().data_ptr(), storage.data_ptr())

    def test_tensors_over_a_storage(self):
        storage = self.part.storage()
        for source in (storage, storage.untyped()):
            tensor = torch.zeros(0).set_(source)
            self.assertEqual(tensor.tolist(), storage.tolist())
            self.assertEqual(tensor.data_ptr(), storage.data_ptr())
        self.assertEqual(torch.zeros(0).set_(storage, 1, (2, 2), (1, 2)).tolist(), [[1, 3], [2, 4]])
        self.assertEqual(torch.zeros(0).set_(storage, 1, (2, 2)).tolist(), [[1, 2], [3, 4]])
        self.assertEqual(torch.zeros(0).set_(self.whole).tolist(), self.whole.tolist())
        self.assertEqual(torch.zeros(2).set_().shape, (0,))

    def test_refusals(self):
        storage = self.part.storage()
        for error, text, call in (
                (IndexError, "index 10 out of range for storage of size 6", lambda: storage[10]),
                (RuntimeError, "slices are only supported in UntypedStorage", lambda: storage[1:3]),
                (RuntimeError, "can't index a <class 'torch|wick.storage.TypedStorage'> with <class 'str'>",
                 lambda: storage["a"]),
                (TypeError, "new\\(\\): invalid data type 'str'", lambda: torch.FloatStorage("a")),
                (RuntimeError, "invalid combination of arguments", lambda: torch.FloatStorage(1, 2)),
                (TypeError, "can't assign a str", lambda: storage.__setitem__(0, "x")),
                (RuntimeError, "size does not match", lambda: storage.copy_(torch.FloatStorage(2))),
                (RuntimeError, "Expected a Storage of type float or an UntypedStorage, but got type Int",
                 lambda: self.part.set_(torch.IntStorage(4))),
                (NotImplementedError, "Cannot access storage of SparseTensorImpl",
                 lambda: torch.eye(2).to_sparse().storage())):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()


if __name__ == "__main__":
    unittest.main()
