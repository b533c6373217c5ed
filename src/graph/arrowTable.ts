// Tables of Apache Arrow as arguments and results of tasks in Python. They cross as the bytes of Arrow's stream format,
// so that Longpole needs no Arrow library.
import { invalidArgument } from '../base/errors.js';

/** A table in Arrow's stream format. It is plain data, so that it can be a result of a task. */
export interface ArrowTable {
  /** The bytes, which `tableFromIPC` of the package `apache-arrow` reads. */
  readonly $arrow: Uint8Array;
}

/**
 * Marks bytes as a table for a task in Python, which receives a `pyarrow.Table`. Tasks in TypeScript receive the object
 * as it is.
 *
 *     client.submit(python('shop.report:total'), arrowTable(tableToIPC(table, 'stream')));
 *
 * @param stream bytes in Arrow's stream format, as `tableToIPC(table, 'stream')` of `apache-arrow` returns them
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `stream` is not a Uint8Array
 */
export function arrowTable(stream: Uint8Array): ArrowTable {
  if (!(stream instanceof Uint8Array))
    throw invalidArgument(
      "arrowTable() takes a Uint8Array, such as the one that tableToIPC(table, 'stream') returns.",
    );
  return { $arrow: stream };
}

/** Returns the bytes of a table, or undefined if the object is none. */
export function arrowBytes(value: Readonly<Record<string, unknown>>): Uint8Array | undefined {
  const { $arrow: bytes } = value;
  return bytes instanceof Uint8Array && Object.keys(value).length === 1 ? bytes : undefined;
}
