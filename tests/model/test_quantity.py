"""Quantities: the grammar of the API server, exact amounts, the canonical text."""

from decimal import ROUND_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity as clients_own

from webhook.model.quantity import (
    LARGEST,
    NANO,
    UNITS,
    QuantityError,
    add,
    format_quantity,
    largest,
    parse_quantity,
    read_quantity,
    round_up,
    times,
)

numbers = st.from_regex(r"[+-]?([0-9]{1,9}(\.[0-9]{0,6})?|\.[0-9]{1,6})", fullmatch=True)
suffixes = st.sampled_from(sorted(UNITS))
exponents = st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-9, 9))
resources = st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi", ""])


def in_nano(exact: Decimal) -> int:
    return int((exact * NANO).to_integral_value(ROUND_UP))


@given(numbers, suffixes | exponents)
def test_it_reads_what_the_kubernetes_client_reads_and_rounds_away_from_zero(number, suffix):
    theirs = in_nano(clients_own(number + suffix))
    if abs(theirs) <= LARGEST:
        assert parse_quantity(number + suffix) == theirs
    else:
        with pytest.raises(QuantityError):
            parse_quantity(number + suffix)


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0", 0),
        ("250m", 250_000_000),
        ("1", NANO),
        ("1.", NANO),
        (".5", NANO // 2),
        ("+3", 3 * NANO),
        ("-3", -3 * NANO),
        ("1k", 1000 * NANO),
        ("1Ki", 1024 * NANO),
        ("1.5Gi", 1536 * 1024**2 * NANO),
        ("64Gi", 64 * 1024**3 * NANO),
        ("1e3", 1000 * NANO),
        ("1E3", 1000 * NANO),
        ("1E", 10**18 * NANO),
        ("1Ei", 2**60 * NANO),
        ("25e-3", NANO // 40),
        ("7e+2", 700 * NANO),
        ("1n", 1),
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.0000000001", NANO + 1),
        ("-1.0000000001", -NANO - 1),
        ("0.0000000000", 0),
        ("1e-100", 1),
    ],
)
def test_a_text_means_this_many_nano(text, nano):
    assert parse_quantity(text) == nano


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", ".", "+", "-", "m", "Ki", "e3", "+-1"),
        *("1K", "64GB", "1Kib", "1kI", "1mi", "1Mib", "64 Gi", "1,5"),
        *("NaN", "Infinity", "inf", "-inf", "0x10", "1_000", "1__0"),
        *("1e3Ki", "1e3k", "1e", "1e1.5", "1e0x1", "1.2.3"),
        *(" 1", "1 ", "1\n", "\t1", "1\0"),
        *("١", "１", "1²", "½"),
        *("1e1000", "1e500", "1e-1000", "1e-500", "9" * 65, "0." + "0" * 64 + "1"),
    ],
)
def test_a_text_that_is_no_quantity_is_refused(text):
    with pytest.raises(QuantityError):
        parse_quantity(text)


@given(st.text())
def test_any_text_is_a_quantity_or_a_quantity_error(text):
    try:
        parse_quantity(text)
    except QuantityError as error:
        assert len(str(error)) < 120


def test_a_megabyte_of_text_is_cut_in_the_message():
    with pytest.raises(QuantityError) as caught:
        parse_quantity("x" * 1_000_000)
    assert len(str(caught.value)) < 120


def test_the_largest_amount_is_what_the_api_server_can_hold():
    assert parse_quantity(str(2**63 - 1)) == LARGEST
    assert parse_quantity(f"-{2**63 - 1}") == -LARGEST
    for text in (str(2**63), f"-{2**63}", "8Ei", "9.3E", "1e19", "9223372036854775807.1"):
        with pytest.raises(QuantityError, match="more than the API server can hold"):
            parse_quantity(text)


@given(st.integers(-LARGEST, LARGEST), resources)
def test_what_is_formatted_reads_as_the_same_amount(amount, resource):
    assert parse_quantity(format_quantity(amount, resource)) == amount


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (0, "cpu", "0"),
        (NANO // 4, "cpu", "250m"),
        (2 * NANO, "cpu", "2"),
        (1500 * NANO // 1000, "cpu", "1500m"),
        (1, "cpu", "1n"),
        (-2 * NANO, "cpu", "-2"),
        (1000 * NANO, "nvidia.com/gpu", "1k"),
        (1024 * NANO, "nvidia.com/gpu", "1024"),
        (64 * 1024**3 * NANO, "memory", "64Gi"),
        (1536 * 1024**2 * NANO, "memory", "1536Mi"),
        (10**12 * NANO, "memory", "1T"),
        (1000 * 1024 * NANO, "memory", "1000Ki"),
        (1000 * NANO, "memory", "1k"),
        (2 * 1024**2 * NANO, "hugepages-2Mi", "2Mi"),
    ],
)
def test_the_canonical_text_takes_the_largest_unit_without_a_fraction(amount, resource, text):
    assert format_quantity(amount, resource) == text


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_a_whole_number_in_json_is_that_many(number):
    assert read_quantity(number) == number * NANO == read_quantity(str(number))


@given(st.floats(-1e15, 1e15).filter(lambda number: abs(number) > 1e-20 or not number))
def test_a_float_in_json_is_what_its_shortest_text_says(number):
    assert read_quantity(number) == in_nano(Decimal(repr(number)))


NO_QUANTITIES: list[object] = [
    None,
    True,
    [],
    {},
    b"1",
    float("nan"),
    float("inf"),
    1e30,
    2**63,
    -(10**6000),
]


@pytest.mark.parametrize("value", NO_QUANTITIES, ids=range(len(NO_QUANTITIES)))
def test_other_json_is_no_quantity(value):
    with pytest.raises(QuantityError):
        read_quantity(value)


@given(st.integers(0, LARGEST), resources)
def test_rounding_up_adds_less_than_one_unit(amount, resource):
    unit = NANO // 1000 if resource == "cpu" else NANO
    rounded = round_up(amount, resource)
    assert rounded % unit == 0
    assert 0 <= rounded - amount < unit


def test_cpu_is_rounded_to_thousandths_and_everything_else_to_pieces():
    assert round_up(parse_quantity("0.0001"), "cpu") == parse_quantity("1m")
    assert round_up(parse_quantity("100m"), "memory") == parse_quantity("1")
    assert round_up(parse_quantity("1.5"), "nvidia.com/gpu") == parse_quantity("2")


def test_sums_and_maxima_go_by_resource():
    assert add({"cpu": 1}, {"cpu": 2, "memory": 3}) == {"cpu": 3, "memory": 3}
    assert largest([{"cpu": 1, "memory": 5}, {"cpu": 2}]) == {"cpu": 2, "memory": 5}
    assert times({"cpu": 2}, 3) == {"cpu": 6}
    assert add() == largest([]) == {}


def test_a_thousand_thirds_sum_without_drift():
    third = parse_quantity("333333333n")
    assert add(*[{"cpu": third}] * 1000)["cpu"] == Fraction(333333333, 10**9) * 1000 * NANO
