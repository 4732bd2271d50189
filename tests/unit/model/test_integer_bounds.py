# SPDX-License-Identifier: Apache-2.0
"""Check that integers of foreign documents are bounded before any calculation."""

from __future__ import annotations

import pytest

from wirespeed.document.version import read_document
from wirespeed.model.errors import BadInput
from wirespeed.model.input.bounded import MAX_INTEGER, BeyondBounds, load_json, load_toml


@pytest.mark.parametrize("sign", ["", "-"])
def test_load_integer_beyond_64_bits_is_refused(sign: str) -> None:
    with pytest.raises(BeyondBounds, match="more than 64 bits"):
        load_json(f'{{"a": [{sign}{MAX_INTEGER + 1}]}}')
    with pytest.raises(BeyondBounds, match="more than 64 bits"):
        load_toml(f"a = [{sign}{MAX_INTEGER + 1}]")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-be"])
def test_load_json_bytes_of_any_encoding_with_a_large_integer_are_refused(encoding: str) -> None:
    text = f'[0, {{"a": {MAX_INTEGER + 1}}}]'
    with pytest.raises(BeyondBounds, match="more than 64 bits"):
        load_json(text.encode(encoding))


def test_load_integer_of_64_bits_is_read() -> None:
    assert load_json(f"[-{MAX_INTEGER}, {MAX_INTEGER}]") == [-MAX_INTEGER, MAX_INTEGER]


def test_read_document_long_version_is_reported_shortened() -> None:
    with pytest.raises(BadInput) as refused:
        read_document(f'{{"schema_version": "{"9" * 70000}"}}', "plan file p", "1.0", "")
    assert len(refused.value.what) < 200
