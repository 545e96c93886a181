"""Domain files: what can be asked about, in YAML. Data only; `kg.load` reads them."""
