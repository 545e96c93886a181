def grammar(domain): return ""
