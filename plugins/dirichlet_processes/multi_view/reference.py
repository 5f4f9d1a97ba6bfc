def prepare_reference(*a): pass
