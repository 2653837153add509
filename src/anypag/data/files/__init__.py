"""People's files: how text is written, what stands for a gap, Excel, Arrow and Parquet."""
