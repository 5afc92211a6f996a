"""Skips tests of what a build without an optional library does not have, naming it."""

import functools


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
