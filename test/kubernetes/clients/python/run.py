"""Runs the tests of this directory, and prints one line of JSON for each: its name, and what went wrong, if anything."""

import json
import sys
import unittest
from pathlib import Path


class Lines(unittest.TestResult):
    def say(self, test, trouble=None):
        print(json.dumps({"name": test.id(), "trouble": trouble}), flush=True)

    def addSuccess(self, test):
        self.say(test)

    def addFailure(self, test, error):
        self.say(test, self._exc_info_to_string(error, test))

    addError = addFailure

    def addSkip(self, test, reason):
        self.say(test, f"skipped: {reason}")


here = str(Path(__file__).parent)
sys.path.insert(0, here)
unittest.defaultTestLoader.discover(here, pattern="*_test.py").run(Lines())
