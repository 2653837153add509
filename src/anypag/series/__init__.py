"""Time series: causes that take time, with hidden processes (`anypag.learn_series`)."""
