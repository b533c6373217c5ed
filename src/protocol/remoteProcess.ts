// A worker process that another program has started elsewhere, as this program reaches it: bytes both ways, and leases.

/** Environment of the process: the folder with the bundles of the program. */
export const BUNDLE_FOLDER_VARIABLE = 'LONGPOLE_FOLDER';

export interface RemoteProcess {
  /** Bytes for its standard input. */
  send(bytes: Uint8Array): void;
  kill(): void;
  /** Asks the cluster for a thread that the process may work on; `leased` follows, and `leaseOver` when its time is over. */
  lease(): void;
  release(): void;
  /** Whether the process keeps this program alive. */
  ref(): void;
  unref(): void;
}

export interface RemoteProcessEvents {
  data(bytes: Uint8Array): void;
  leased(): void;
  leaseOver(): void;
  /** Called once. */
  ended(cause: Error): void;
}
