"""x"""
def position_text(states,k): return "x"
def action_text(states,k,a): return str(a)
def chance_text(states,k,a): return str(a)
