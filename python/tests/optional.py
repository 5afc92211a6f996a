"""Skips tests of what a build without an optional library does not have, naming it."""

import functools
import unittest

import wick


def _has(call, missing):
    try:
        call()
    except (NotImplementedError, RuntimeError) as error:
        return missing not in str(error)
    return True


has_lapack = _has(lambda: wick.linalg_qr(wick.eye(2)), "has no LAPACK")
needs_lapack = unittest.skipUnless(has_lapack, "this build has no LAPACK")


def needs_cjson(test):
    """Skipped where reading JSON fails for want of cJSON, which shows on the way."""
    @functools.wraps(test)
    def run(self):
        try:
            test(self)
        except NotImplementedError as error:
            if "built without cJSON" not in str(error):
                raise
            self.skipTest("this build has no cJSON")
    return run
