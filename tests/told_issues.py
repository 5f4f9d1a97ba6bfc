"""What a file tells before it is read."""

from plaidwork.core.data.importers import find_reader


def preview(path, **options):
    """The preview by the reader of the file."""
    return find_reader(path).preview(path, options)


def issue(shown, words):
    """The only issue of a preview whose message has these words."""
    found = [entry for entry in shown.issues if words in entry.message]
    assert len(found) == 1, [entry.message for entry in shown.issues]
    return found[0]
