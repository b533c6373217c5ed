// Access to a worker process that another program started, possibly on another machine: bytes in both directions, and
// leases of threads.

/** Environment variable of the process: the folder with the bundles of the program. */
export const BUNDLE_FOLDER_VARIABLE = 'LONGPOLE_FOLDER';

/**
 * Environment variable of a process on a Dask worker: the number of the process and the path of a socket, `7:/tmp/…`. The
 * worker runs functions of Python for connections to the socket, see python/longpole_dask/python_calls.py.
 */
export const PYTHON_SOCKET_VARIABLE = 'LONGPOLE_PYTHON_SOCKET';

export interface RemoteProcess {
  /** Number of files that were sent to all processes so far. Bytes arrive after the files that were sent before. */
  readonly files: number;
  /** Sends bytes to the standard input of the process. */
  send(bytes: Uint8Array): void;
  kill(): void;
  /** Requests a thread of the cluster for the process. `leased` follows, and `leaseOver` at the end of the lease. */
  lease(): void;
  release(): void;
  /** `ref` makes the process keep this program alive, and `unref` reverts that. */
  ref(): void;
  unref(): void;
}

export interface RemoteProcessEvents {
  data(bytes: Uint8Array): void;
  leased(): void;
  leaseOver(): void;
  /** The lease ends soon. The next one may be requested: it begins when this one ends, or earlier. */
  leaseEnds(): void;
  /** Called once. */
  ended(cause: Error): void;
}
