"""Files and functions stay small enough to be read in one sitting."""

from statistics import median

from tests.contract.sources import LAYERS, Function, functions, sources

MAX_FILE_LINES = 400
MAX_MEDIAN_FILE_LINES = 120
MAX_FUNCTION_LINES = 60
MAX_MEDIAN_FUNCTION_LINES = 15
MAX_POSITIONAL = 5


def _length(function: Function) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def test_files_have_at_most_400_lines():
    """No file of code, tests and scripts included, has more than 400 lines; the median is far below."""
    files = sources(*LAYERS, "partyline", "tests", "scripts")
    long = [f"{source.path} has {source.lines} lines" for source in files if source.lines > MAX_FILE_LINES]
    assert not long, "\n".join(long)
    middle = median(source.lines for source in sources(*LAYERS))
    assert middle <= MAX_MEDIAN_FILE_LINES, f"the median file has {middle} lines"


def test_functions_have_at_most_60_lines():
    """No function has more than 60 lines, docstring included; the median is far below."""
    found = [
        (source.at(function), function)
        for source in sources(*LAYERS, "partyline", "scripts")
        for function in functions(source)
    ]
    long = [
        f"{where} {function.name} has {_length(function)} lines"
        for where, function in found
        if _length(function) > MAX_FUNCTION_LINES
    ]
    assert not long, "\n".join(long)
    middle = median(_length(function) for _, function in found)
    assert middle <= MAX_MEDIAN_FUNCTION_LINES, f"the median function has {middle} lines"


def test_at_most_five_parameters_are_positional():
    """More than five parameters are named at the call."""
    wide = [
        f"{source.at(function)} {function.name}"
        for source in sources(*LAYERS, "partyline", "scripts")
        for function in functions(source)
        if len([a for a in function.args.posonlyargs + function.args.args if a.arg not in ("self", "cls")])
        > MAX_POSITIONAL
    ]
    assert not wide, "\n".join(wide)
