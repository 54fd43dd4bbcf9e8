"""The reader's report: a folder of plain files, from a claim to the packet."""
