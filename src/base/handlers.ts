// Messages and rows are objects with a tag `type`. A receiver has a function for each of them.

/** A function for each type of message. The compiler reports a missing one. */
export type Handlers<M extends { readonly type: string }> = {
  readonly [T in M['type']]: (message: Extract<M, { readonly type: T }>) => void;
};

export function handle<M, T extends keyof M>(
  handlers: { readonly [K in keyof M]: (message: M[K]) => void },
  type: T,
  message: M[T],
): void {
  handlers[type](message);
}
