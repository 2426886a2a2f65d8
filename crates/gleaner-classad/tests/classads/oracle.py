"""Answers what HTCondor's own classad2 makes of expressions, for differential.rs.

Usage: oracle.py CASES START

CASES holds one case a line: kind, expression, MY ad and TARGET ad, separated by tabs, the ads possibly empty.
The answers to the cases from START on go to standard output, one a line, flushed one by one: where classad2 crashes,
the caller sees at which case and goes on behind it.

Loading htcondor2 registers HTCondor's own functions (stringListMember, split, ...) with the language. classad2 alone
does so no earlier than when an ad is first a value, and the answers would depend on the order of the questions.
"""

import struct
import sys

import htcondor2  # noqa: F401
import classad2


def normal(text):
    """Without the white space outside quotes, so that one line and several compare equal."""
    kept, quote, escaped = [], None, False
    for char in text:
        if quote:
            kept.append(char)
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote:
                quote = None
        elif not char.isspace():
            kept.append(char)
            if char in "\"'":
                quote = char
    return "".join(kept)


def answer(kind, text, my, target):
    try:
        my_ad = classad2.ClassAd(my) if my else None
        target_ad = classad2.ClassAd(target) if target else None
        if kind == "match":
            return "match %s %s" % (my_ad.matches(target_ad), my_ad.symmetricMatch(target_ad))
        expr = classad2.ExprTree(text)
    except Exception:
        return "unparsable"
    try:
        value = expr.eval(my_ad, target_ad)
        if isinstance(value, float) and not isinstance(value, bool):
            simple = str(expr.simplify(my_ad, target_ad))
            if not simple.startswith("relTime"):
                return "real %016x" % struct.unpack("<Q", struct.pack("<d", value))
            return "value " + normal(simple)
        return "value " + normal(str(expr.simplify(my_ad, target_ad)))
    except Exception as error:
        if "failed to evaluate" in str(error):
            return "failed"
        # Values that Python has no form for, such as strings that are not UTF-8.
        try:
            return "value " + normal(str(expr.simplify(my_ad, target_ad)))
        except Exception:
            return "failed"


with open(sys.argv[1], encoding="latin-1", newline="\n") as cases:
    for number, line in enumerate(cases):
        if number < int(sys.argv[2]):
            continue
        print(answer(*line.rstrip("\n").split("\t")), flush=True)
