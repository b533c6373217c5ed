"""The bridge between a Dask cluster and Longpole, started with `python -m longpole_dask ADDRESS`.

The bridge attaches to a running scheduler as a client and registers a plugin on the scheduler and another one on the
workers. It writes events as frames of msgpack to its output. When its input ends, it removes both plugins.
"""

#: Version of the rows. The reader rejects other versions.
PROTOCOL = 1
