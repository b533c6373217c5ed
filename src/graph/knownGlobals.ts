// The names that every isolate defines, so that a shipped function may use them. A fixed list: what else happens to be
// on the caller's global object is not there in a worker.

const LANGUAGE = `
  globalThis undefined NaN Infinity
  eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape
  Object Function Boolean Symbol Number BigInt Math Date String RegExp JSON Reflect Proxy Intl
  Array Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator
  ArrayBuffer SharedArrayBuffer DataView Atomics
  Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
  BigInt64Array BigUint64Array Float16Array Float32Array Float64Array
  Promise AsyncDisposableStack DisposableStack Temporal
  Error AggregateError EvalError RangeError ReferenceError SuppressedError SyntaxError TypeError URIError
  WebAssembly
`;

/** Globals of a Node worker, in any version that this package supports. */
const NODE = `
  global process Buffer console performance navigator crypto
  setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate queueMicrotask structuredClone
  fetch Request Response Headers FormData WebSocket EventSource CloseEvent MessageEvent
  URL URLSearchParams URLPattern TextEncoder TextDecoder TextEncoderStream TextDecoderStream atob btoa Blob File
  AbortController AbortSignal Event EventTarget CustomEvent DOMException
  MessageChannel MessagePort BroadcastChannel
  ReadableStream ReadableStreamDefaultReader ReadableStreamBYOBReader ReadableStreamBYOBRequest
  ReadableByteStreamController ReadableStreamDefaultController
  WritableStream WritableStreamDefaultWriter WritableStreamDefaultController
  TransformStream TransformStreamDefaultController
  ByteLengthQueuingStrategy CountQueuingStrategy CompressionStream DecompressionStream
  Crypto CryptoKey SubtleCrypto Navigator
  Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList
  PerformanceResourceTiming
`;

/** What bundlers call inside functions that they have compiled; the isolate defines it. esbuild and tsx: `__name`. */
const HELPERS = '__name';

/** Every name that a shipped function may use without defining it. */
export const KNOWN_GLOBALS: ReadonlySet<string> = new Set(
  `${LANGUAGE} ${NODE} ${HELPERS}`.split(/\s+/).filter((name) => name !== ''),
);
