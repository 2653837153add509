"""From graph to effect: does a variable cause another, by how much, and can that be read from the data?"""
