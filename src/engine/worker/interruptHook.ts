// The function that a host calls to interrupt an isolate.

/** Name of the registered symbol for the hook, a property of the global object. */
export const INTERRUPT = 'longpole.interrupt';

export function setInterruptHook(hook: () => void): void {
  Object.defineProperty(globalThis, Symbol.for(INTERRUPT), { value: hook, configurable: true });
}
