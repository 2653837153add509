"""Reading data files: text dialects, words for gaps, Excel, Arrow and Parquet."""
