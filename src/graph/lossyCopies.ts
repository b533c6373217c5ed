// Objects that a structured clone silently turns into empty or meaningless objects, because their content is not in their
// properties. A task would receive a useless argument without an error.
import { LongpoleError } from '../base/errors.js';
import { isExternal } from './external.js';

/** Property of objects of Longpole that cannot be copied: what to do instead. */
export const COPY_ADVICE: unique symbol = Symbol.for('longpole.copyAdvice');

/** Global class → advice what to pass instead of an instance. */
const LOSSY: Readonly<Record<string, string>> = {
  URL: 'its `href`',
  URLSearchParams: 'its text, `String(params)`',
  Headers: 'its entries, `[...headers]`',
  FormData: 'its entries, `[...form]`',
  Request: 'its URL and options',
  Response: 'its text or bytes',
  AbortController: 'the option `signal` of the computation',
  AbortSignal: 'the option `signal` of the computation',
  EventTarget: 'plain data',
  TextDecoder: 'the name of the encoding',
  TextEncoder: 'nothing: make one in the task',
  Blob: 'its bytes, `await blob.arrayBuffer()`',
  File: 'its bytes, `await file.arrayBuffer()`, and its name',
  CryptoKey: 'its bytes, `await crypto.subtle.exportKey(…)`',
  DOMException: 'its name and message',
};
/** Description of a symbol with which Node marks its classes that only `structuredClone` between threads can copy. */
const CLONE_SYMBOL = 'messaging_clone_symbol';

/**
 * Checks an object that is neither plain nor a container.
 *
 * @param where beginning of the message. Default: empty, for a caller that adds another one
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if a copy of the object would lose its content
 */
export function checkCopyable(value: object, where = ''): void {
  if (ArrayBuffer.isView(value) || value instanceof Date) return;
  const error = (why: string) => new LongpoleError('ERR_LONGPOLE_NOT_CLONEABLE', `${where}${why}`);
  if (isExternal(value))
    throw error('A Future belongs to its client. Return its value, e.g. with client.gather().');
  if (COPY_ADVICE in value) throw error(String(value[COPY_ADVICE]));
  // It makes a message between processes unreadable. Threads refuse it, too, so that tasks run on both.
  if (Object.prototype.toString.call(value) === '[object WebAssembly.Module]')
    throw error(
      'A WebAssembly.Module cannot be copied between processes. Pass its bytes, and compile them in the task.',
    );
  const lossy = lossyClass(value);
  if (lossy === undefined) return;
  const [name, instead] = lossy;
  throw error(`${name} would arrive without its content. Pass ${instead}.`);
}

function lossyClass(value: object): readonly [name: string, instead: string] | undefined {
  // Streams, sockets, servers and child processes have handles that stay in this isolate.
  if (isEmitter(value))
    return [`a ${value.constructor.name} (an event emitter)`, 'a path, an address or the data itself'];
  if (Object.prototype.toString.call(value) === '[object KeyObject]')
    return [`a ${value.constructor.name}`, 'its bytes, `key.export()`'];
  for (
    let prototype: unknown = Object.getPrototypeOf(value);
    typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    const { constructor: made } = prototype;
    const instead = LOSSY[made?.name];
    if (instead !== undefined && Reflect.get(globalThis, made.name) === made)
      return [`a ${made.name}`, instead];
    if (Object.getOwnPropertySymbols(prototype).some(({ description }) => description === CLONE_SYMBOL))
      return [`a ${made?.name}`, 'plain data'];
  }
  return undefined;
}

function isEmitter(value: object): boolean {
  return (
    'on' in value && typeof value.on === 'function' && 'emit' in value && typeof value.emit === 'function'
  );
}
