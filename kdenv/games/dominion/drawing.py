"""x"""
def ansi(states, k, seat=None):
    return "x"
def svg(states, k, seat=None):
    return "x"
