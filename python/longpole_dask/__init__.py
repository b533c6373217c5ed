"""The bridge between a Dask cluster and Longpole: run as `python -m longpole_dask ADDRESS`.

It attaches to a running scheduler as a client, registers a plugin on the scheduler and one on the workers, and writes
what happens to its output as frames of msgpack. When its input ends it takes both plugins off the cluster again.
"""

#: Of the rows that are written; the reader refuses others.
PROTOCOL = 1
