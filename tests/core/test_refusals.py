"""What the system refuses is said in words, without numbers of errors and names of temporary files."""

import errno
import os

import pytest

from plaidwork.core.errors import SessionError
from plaidwork.core.refusals import told, unwritten, why
from plaidwork.core.session import exporting


def refusal(code: int) -> OSError:
    return OSError(code, os.strerror(code), "/there/x.part")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EACCES, "you have no right to"),
        (errno.EROFS, "it is on a disk for reading only"),
        (errno.ENOENT, "it does not exist"),
        (errno.EBUSY, "device or resource busy"),
    ],
)
def test_the_reason_ends_a_sentence(code, reason):
    assert why(refusal(code)) == reason
    under = unwritten(refusal(code))
    assert under == f"{reason[0].upper()}{reason[1:]}. Choose another place."
    for text in (under, told(refusal(code))):
        assert "Errno" not in text


def test_other_errors_say_what_they_say():
    assert why(ValueError("not now.")) == "not now"
    assert (
        unwritten(OSError("could not write it"))
        == told(OSError("could not write it"))
        == "could not write it"
    )


def test_an_export_to_a_full_disk_names_its_folder_and_no_other(tmp_path):
    def write(folder):
        raise refusal(errno.ENOSPC)

    with pytest.raises(SessionError) as failed:
        exporting._as_a_whole(tmp_path / "out", write)
    assert failed.value.message == f"Could not export to “{tmp_path / 'out'}”: the disk is full."
    assert list(tmp_path.iterdir()) == []
