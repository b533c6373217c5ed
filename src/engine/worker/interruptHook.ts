// What a host that interrupts an isolate calls there.

/** Name of the registered symbol under which the hook hangs on the global object. */
export const INTERRUPT = 'longpole.interrupt';

export function setInterruptHook(hook: () => void): void {
  Object.defineProperty(globalThis, Symbol.for(INTERRUPT), { value: hook, configurable: true });
}
